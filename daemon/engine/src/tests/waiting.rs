//! How often a wait looks for what it waits for.

use axd_protocol::ErrorCode;

use super::fake_desktop::{MAIL, NOTES};
use super::{Rig, code_of, drained};
use crate::commands::wait::LOOKS;

#[tokio::test(start_paused = true)]
async fn a_wait_looks_again_when_its_own_app_has_changed_and_not_when_another_has() {
    let rig = Rig::new();
    rig.notes().await;
    rig.attached(MAIL).await;
    let wait = rig.begin(&rig.client(), r#"wait {"for":["button:Nope"],"app":"Notes","timeout":1000}"#);
    drained().await;
    let looks = LOOKS.get();
    for _ in 0..20 {
        rig.desktop.change_label(MAIL);
        drained().await;
    }
    assert_eq!(LOOKS.get(), looks, "nothing that it waits for can have changed");
    rig.desktop.change_label(NOTES);
    drained().await;
    assert_eq!(LOOKS.get(), looks + 1);
    assert_eq!(code_of(&wait.answer().await), Some(ErrorCode::Timeout));
}
