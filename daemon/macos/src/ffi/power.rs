//! Where the machine's power comes from.

use super::cf::{CFStringRef, CFTypeRef};

/// `kIOPMBatteryPowerKey`.
pub const BATTERY_POWER: &str = "Battery Power";

#[link(name = "IOKit", kind = "framework")]
unsafe extern "C" {
    pub fn IOPSCopyPowerSourcesInfo() -> CFTypeRef;
    pub fn IOPSGetProvidingPowerSourceType(snapshot: CFTypeRef) -> CFStringRef;
}
