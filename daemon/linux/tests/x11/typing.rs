//! What is typed arrives, in every toolkit.

use std::time::Instant;

use axd_platform::InputStep;

use crate::desk::{Desk, inside, is_installed, skipped};

const TEXT: &str = "Grüße, 世界 €🙂 ~{}[]\\ Ünïcödé\nsecond\tline ABC @|^";

async fn types(toolkit: &str) {
    let mut desk = Desk::new().await;
    let window = desk.echo(toolkit).await;
    desk.click(window).await;
    for round in 0..5 {
        let text: String = TEXT.repeat(1 + round);
        let started = Instant::now();
        desk.input(vec![InputStep::Text(text.clone())]).await.unwrap();
        eprintln!("{toolkit}: {} characters in {:?}", text.chars().count(), started.elapsed());
    }
    let whole = TEXT.repeat(15);
    desk.until("all of the text is there", |desk| {
        desk.echoed(window).chars().count() >= whole.chars().count()
    })
    .await;
    assert_eq!(desk.echoed(window), whole, "{toolkit}");
}

#[tokio::test(flavor = "multi_thread")]
async fn gtk3_takes_any_text() {
    if inside("typing::gtk3_takes_any_text", &[]) {
        types("gtk3").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn gtk4_takes_any_text() {
    if inside("typing::gtk4_takes_any_text", &[]) {
        types("gtk4").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn qt6_takes_any_text() {
    if inside("typing::qt6_takes_any_text", &[]) {
        types("qt6").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chromium_takes_any_text() {
    if !is_installed("chromium") {
        skipped("typing::chromium_takes_any_text", "chromium");
    } else if inside("typing::chromium_takes_any_text", &[]) {
        types("chromium").await;
    }
}
