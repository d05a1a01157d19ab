//! A person who takes long to approve something.

use std::time::Duration;

use super::Rig;

/// Longer than an action, or the search for a window, may take by default.
const LONG: Duration = Duration::from_secs(45);

#[tokio::test(start_paused = true)]
async fn the_time_that_a_person_takes_is_not_the_requests() {
    let policy = r#"
[ask]
timeout_s = 60
[[rule]]
verdict = "ask"
commands = ["click", "focus-window", "snapshot"]
"#;
    for words in [
        r#"snapshot {"app":"Notes"}"#,
        r#"click {"target":"button:Save","app":"Notes"}"#,
        r#"focus-window {"app":"Notes"}"#,
    ] {
        let rig = Rig::with_policy(policy);
        rig.notes().await;
        let (person, client) = (rig.client(), rig.client());
        rig.run(&person, "approvals").await;
        let asking = rig.begin(&client, words);
        let shown = rig.run(&person, r#"approvals {"wait_ms":1000}"#).await;
        assert_eq!(shown["data"]["approvals"][0]["app"], "Notes", "{words}: {shown}");
        tokio::time::sleep(LONG).await;
        rig.run(&person, r#"decide {"approval":1,"verdict":"allow"}"#).await;
        asking.succeeds().await;
    }
}
