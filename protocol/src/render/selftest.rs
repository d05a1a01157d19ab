//! The text form of `ax selftest`.

use super::Render;
use crate::command::{Heard, NotificationCheck, RoundTripCost, SelftestAnswer, TextCheck};

impl Render for SelftestAnswer {
    fn render(&self, out: &mut String) {
        out.push_str("CALL                          MEDIAN      WORST\n");
        for RoundTripCost { call, median_us, worst_us, .. } in &self.round_trips {
            out.push_str(&format!("{call:28}{median_us:6} us  {worst_us:6} us\n"));
        }
        out.push_str("\nNOTIFICATION                  APP      WINDOW   ELEMENT  AFTER\n");
        for NotificationCheck { notification, change, app, window, element } in &self.notifications {
            let [app, window, element] = [app, window, element].map(|heard| word(*heard));
            out.push_str(&format!("{notification:30}{app:9}{window:9}{element:9}{change}\n"));
        }
        out.push_str("\nTEXT                          ARRIVES\n");
        for TextCheck { text, received, intact } in &self.texts {
            let mark = if *intact { "intact" } else { "changed" };
            out.push_str(&format!("{text:30}{mark}, as {received:?}\n"));
        }
        let done = if self.press.performed { "performed" } else { "not performed" };
        let error = self.press.error.as_deref().unwrap_or("no error");
        out.push_str(&format!("\na press of a button: {done}, {error}\n"));
    }
}

fn word(heard: Heard) -> &'static str {
    match heard {
        Heard::Yes => "heard",
        Heard::No => "silent",
        Heard::Refused => "refused",
    }
}
