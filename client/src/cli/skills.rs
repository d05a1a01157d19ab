//! `ax skills`: a guide for AI models, which agents with a shell can read and clients can keep as a skill.

use axd_client::protocol::command::{Skills, SkillsAction, SkillsAnswer};
use axd_client::protocol::render::Render;

use super::Exit;
use super::output::{self, Mode};

/// The guide.
const GUIDE: &str = include_str!("guide.md");

/// Prints the guide: as it is, unless JSON was asked for, because an agent's shell is no terminal.
pub fn run(what: &Skills, asked: Option<Mode>) -> Exit {
    match (what.action, asked) {
        (SkillsAction::Get, Some(Mode::Json)) => {
            output::answer("skills", &Guide(SkillsAnswer { guide: GUIDE.to_owned() }), Mode::Json, Exit::Done)
        }
        (SkillsAction::Get, _) => output::print_text(GUIDE),
    }
}

#[derive(serde::Serialize)]
#[serde(transparent)]
struct Guide(SkillsAnswer);

impl Render for Guide {
    fn render(&self, out: &mut String) {
        out.push_str(&self.0.guide);
    }
}
