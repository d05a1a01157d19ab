//! Links the library that scripts/macos/core-foundation has fetched. It runs by the loader that came with it (scripts/check-macos).

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-env-changed=AXD_CORE_FOUNDATION");
    let folder = std::env::var_os("AXD_CORE_FOUNDATION").map(PathBuf::from);
    let folder = folder.expect("AXD_CORE_FOUNDATION is the folder of libFoundation.so");
    println!("cargo:rustc-link-search={}", folder.display());
    println!("cargo:rustc-link-lib=dylib=Foundation");
    // It needs a newer C library than this system may have.
    println!("cargo:rustc-link-arg=-Wl,--allow-shlib-undefined");
}
