//! The commands that act on elements, and `press`.

use axd_protocol::command::{ActAnswer, ElementState};
use axd_protocol::{Error, ErrorCode, Result};
use serde_json::{Value, json};

use super::envelope::extra_of_action;
use super::{Args, Axd, Said, Session, of_target};

impl<A: Axd> Session<'_, A> {
    /// Acts on an element. The command has axd's name.
    pub(super) async fn act(&self, command: &str, args: &Args) -> Result<Said> {
        let target = args.text("ref").unwrap_or_default();
        let mut wanted = self.target(target).await?;
        for (name, as_name) in [("text", "text"), ("value", "value"), ("direction", "direction")] {
            if let Some(text) = args.text(name) {
                wanted[as_name] = text.into();
            }
        }
        if command == "scroll" {
            wanted["direction"] = args.text("direction").unwrap_or("down").into();
            if let Some(amount) = args.number("amount") {
                wanted["amount"] = amount.into();
            }
        }
        if args.flag("headed") {
            wanted["route"] = "input".into();
        }
        if let Some(timeout) = args.number("timeout_ms") {
            wanted["timeout_ms"] = timeout.into();
        }
        let acted = self.perform(command, wanted, args).await.map_err(|error| of_target(target, error))?;
        let mut data = json!({ "action": command, "ref": target });
        if let Some(after) = &acted.after {
            data["post_state"] = post_state(after);
        }
        Ok(said(data, &acted, args))
    }

    pub(super) async fn press(&self, args: &Args) -> Result<Said> {
        let combo = args.text("combo").unwrap_or_default();
        if combo.trim().is_empty() {
            return Err(
                Error::new(ErrorCode::InvalidArgs, "empty key combo").suggest("name keys, such as cmd+c")
            );
        }
        let acted = self.perform("press", json!({ "combo": combo }), args).await?;
        Ok(said(json!({ "action": "press", "combo": combo }), &acted, args))
    }

    async fn perform(&self, command: &str, mut wanted: Value, args: &Args) -> Result<ActAnswer> {
        wanted["no_effects"] = true.into();
        wanted["dry_run"] = args.flag("dry_run").into();
        self.ask(command, wanted).await
    }
}

fn said(mut data: Value, acted: &ActAnswer, args: &Args) -> Said {
    if args.flag("dry_run") {
        data["dry_run"] = true.into();
    }
    Said { extra: extra_of_action(acted), ..Said::from(data) }
}

/// What an element is like after an action.
fn post_state(after: &ElementState) -> Value {
    let states = [
        ("focused", after.focused),
        ("selected", after.selected),
        ("expanded", after.expanded),
        ("checked", after.checked),
        ("disabled", !after.enabled),
    ];
    let states: Vec<&str> = states.iter().filter(|(_, holds)| *holds).map(|(name, _)| *name).collect();
    json!({ "role": after.node.role, "states": states })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_after_an_action_has_what_is_so() {
        let after: ElementState = serde_json::from_value(json!({
            "id": "chk_000000", "role": "checkbox", "enabled": false, "focused": true, "checked": true, "selected": false,
            "expanded": false,
        }))
        .unwrap();
        assert_eq!(
            post_state(&after),
            json!({ "role": "checkbox", "states": ["focused", "checked", "disabled"] })
        );
    }
}
