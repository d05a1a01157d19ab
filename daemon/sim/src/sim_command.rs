//! The command `sim`, an extension of the contract: what a person at the screen would do to the apps, and the faults they can
//! be given.

use std::sync::Arc;

use axd_platform::{Extension, ExtensionAnswer, ExtensionReply, Failure, FailureKind, LaunchPlan, Used};
use axd_protocol::{DisplayInfo, Error, ErrorCode};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::fault::Fault;
use super::model::UserAction;
use super::process::Control;
use super::script::Script;
use super::session::{SimSession, invalid};

/// The name of the command.
const NAME: &str = "sim";
/// How the command is written.
const USAGE: &str = "write `ax sim APP VERB [WIDGET|FAULT] [TEXT]`; see docs/sim.md";

/// What to do to which app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimCommand {
    /// The app: a name, an identity or a pid.
    pub app: String,
    /// What to do.
    pub verb: SimVerb,
    /// The widget, by its id in the script, or the fault.
    pub target: Option<String>,
    /// The text, value, choice or count.
    pub text: Option<String>,
}

/// What a person can do to an app of the built-in desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimVerb {
    /// Press a button, menu item, tab, check box or row.
    Press,
    /// Put text or a number into a field or slider.
    Set,
    /// Type text at the end of what a field holds.
    Type,
    /// Choose an item of a list, combo box or table.
    Select,
    /// Give a widget the keyboard focus.
    Focus,
    /// Scroll a table or list to a row.
    Scroll,
    /// Bring the app's window to the front.
    Raise,
    /// Start the app, if it does not run.
    Launch,
    /// End the app.
    Quit,
    /// End the app and start it again.
    Restart,
    /// Give the app a fault.
    Fault,
    /// Take all faults away.
    Heal,
    /// Tell which keys and mouse buttons are held down, whoever holds them.
    Held,
    /// Give the displays this many pixels per point, whatever app is named.
    Scale,
}

impl SimVerb {
    const ALL: [SimVerb; 14] = [
        SimVerb::Press,
        SimVerb::Set,
        SimVerb::Type,
        SimVerb::Select,
        SimVerb::Focus,
        SimVerb::Scroll,
        SimVerb::Raise,
        SimVerb::Launch,
        SimVerb::Quit,
        SimVerb::Restart,
        SimVerb::Fault,
        SimVerb::Heal,
        SimVerb::Held,
        SimVerb::Scale,
    ];

    /// The verb as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            SimVerb::Press => "press",
            SimVerb::Set => "set",
            SimVerb::Type => "type",
            SimVerb::Select => "select",
            SimVerb::Focus => "focus",
            SimVerb::Scroll => "scroll",
            SimVerb::Raise => "raise",
            SimVerb::Launch => "launch",
            SimVerb::Quit => "quit",
            SimVerb::Restart => "restart",
            SimVerb::Fault => "fault",
            SimVerb::Heal => "heal",
            SimVerb::Held => "held",
            SimVerb::Scale => "scale",
        }
    }

    /// Whether a person would need mouse or keyboard for it.
    fn is_of_a_person(self) -> bool {
        use SimVerb::{Focus, Press, Raise, Scroll, Select, Set, Type};
        matches!(self, Press | Set | Type | Select | Focus | Scroll | Raise)
    }

    fn parse(word: &str) -> Result<SimVerb, Error> {
        let found = SimVerb::ALL.into_iter().find(|verb| verb.name() == word);
        found.ok_or_else(|| {
            let names = SimVerb::ALL.map(SimVerb::name).join(", ");
            Error::new(ErrorCode::InvalidArgs, format!("{NAME}: verb '{word}' not found"))
                .suggest(format!("the verbs are: {names}"))
        })
    }
}

/// The arguments as programs write them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedArgs {
    app: String,
    verb: String,
    target: Option<String>,
    text: Option<String>,
}

impl SimCommand {
    /// Parses the arguments: an object with named fields, or a list of the words of a command line.
    fn parse(args: Option<&RawValue>) -> Result<SimCommand, Error> {
        let text = args.map_or("{}", RawValue::get);
        let wrong = |fault: serde_json::Error| usage(fault.to_string());
        if text.trim_start().starts_with('[') {
            return SimCommand::from_words(serde_json::from_str(text).map_err(wrong)?);
        }
        let NamedArgs { app, verb, target, text } = serde_json::from_str(text).map_err(wrong)?;
        Ok(SimCommand { app, verb: SimVerb::parse(&verb)?, target, text })
    }

    pub(super) fn from_words(words: Vec<String>) -> Result<SimCommand, Error> {
        let mut words = words.into_iter();
        let (Some(app), Some(verb)) = (words.next(), words.next()) else {
            return Err(usage("an app and a verb are required".to_owned()));
        };
        let command =
            SimCommand { app, verb: SimVerb::parse(&verb)?, target: words.next(), text: words.next() };
        match words.next() {
            Some(extra) => Err(usage(format!("unexpected word '{extra}'; quote a text that has spaces"))),
            None => Ok(command),
        }
    }
}

fn usage(what: String) -> Error {
    Error::new(ErrorCode::InvalidArgs, format!("{NAME}: {what}")).suggest(USAGE)
}

/// The command `sim` on this desktop.
pub(super) struct SimExtension(pub Arc<SimSession>);

impl Extension for SimExtension {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self, args: Option<&RawValue>) -> Result<(), Error> {
        SimCommand::parse(args).map(drop)
    }

    fn call(&self, args: Option<&RawValue>, deadline: Instant) -> ExtensionReply {
        let (answer, reply) = oneshot::channel();
        match SimCommand::parse(args) {
            Ok(command) => {
                let session = Arc::clone(&self.0);
                tokio::spawn(async move {
                    let outcome = session.answer_by(deadline, command).await;
                    // The client may have stopped waiting.
                    let _ = answer.send(outcome);
                });
            }
            Err(error) => drop(answer.send(Err(error))),
        }
        reply
    }
}

impl SimSession {
    /// Runs the command, and says by the deadline what came of it. An app that hangs does it when it wakes.
    async fn answer_by(
        self: Arc<SimSession>,
        deadline: Instant,
        command: SimCommand,
    ) -> Result<ExtensionAnswer, Error> {
        let app = command.app.clone();
        // In a task of its own, because what was begun is finished also if nobody waits for it any more.
        let running = tokio::spawn(self.run_command(command));
        match timeout_at(deadline, running).await {
            Ok(Ok(Ok(done))) => {
                let data = to_raw_value(&json!({ "done": done }));
                let data = data.map_err(|fault| Error::new(ErrorCode::Internal, fault.to_string()))?;
                Ok(ExtensionAnswer { data, text: format!("{done}\n") })
            }
            Ok(Ok(Err(Failure { kind: FailureKind::Invalid, native, .. }))) => {
                Err(Error::new(ErrorCode::InvalidArgs, native))
            }
            Ok(Ok(Err(failure))) => Err(Error::new(ErrorCode::ActionFailed, failure.native)),
            Ok(Err(fault)) => Err(Error::new(ErrorCode::Internal, fault.to_string())),
            Err(_) => Err(Error::new(ErrorCode::AppUnresponsive, format!("{app} timed out"))
                .suggest(format!("remove its faults with `ax sim {app} heal`"))),
        }
    }

    /// Does to an app what a person would; answers what came of it.
    pub(super) async fn run_command(self: Arc<SimSession>, command: SimCommand) -> Result<String, Failure> {
        let (script, pid) = self.find(&command.app)?;
        let name = &script.name;
        match command.verb {
            SimVerb::Held => Ok(self.input_state.lock().describe_held()),
            SimVerb::Scale => {
                let scale = command.target.as_deref().and_then(|text| text.parse().ok());
                let scale = scale.filter(|scale| (1.0..=4.0).contains(scale)).ok_or_else(|| {
                    invalid(format!("scale takes pixels per point from 1 to 4: `ax sim {name} scale 2`"))
                })?;
                let displays = self.displays().into_iter();
                self.set_displays(displays.map(|display| DisplayInfo { scale, ..display }).collect()).await;
                Ok(format!("{scale} pixels per point"))
            }
            SimVerb::Launch => match pid {
                Some(pid) => Ok(format!("{name} is already running as {pid}")),
                None => {
                    Ok(format!("{name} started as {}", self.launch_in_front(&script, LaunchPlan::default())))
                }
            },
            SimVerb::Restart => {
                if let Some(pid) = pid {
                    self.send_control(pid, name, Control::Quit).await?;
                }
                Ok(format!("{name} restarted as {}", self.launch_in_front(&script, LaunchPlan::default())))
            }
            verb => {
                let idle = || invalid(format!("{name} is not running; start it with `ax sim {name} launch`"));
                let pid = pid.ok_or_else(idle)?;
                let control = Self::control_of(&script, verb, command)?;
                if verb.is_of_a_person() {
                    self.person.note(Used { pid: Some(pid), window: None }, std::time::Instant::now());
                }
                let done = self.send_control(pid, name, control).await?;
                Ok(format!("{name}: {done}"))
            }
        }
    }

    /// What the verb comes to for the app.
    fn control_of(script: &Script, verb: SimVerb, command: SimCommand) -> Result<MakeControl, Failure> {
        let name = &script.name;
        let SimCommand { target, text, .. } = command;
        let word = verb.name();
        let widget = || {
            let lacking = || invalid(format!("{word} takes a widget: `ax sim {name} {word} WIDGET`"));
            target.clone().ok_or_else(lacking)
        };
        let words = || {
            let lacking = || invalid(format!("{word} takes a text: `ax sim {name} {word} WIDGET TEXT`"));
            text.clone().ok_or_else(lacking)
        };
        let action = match verb {
            SimVerb::Press => UserAction::Press(widget()?),
            SimVerb::Set => UserAction::Set(widget()?, words()?),
            SimVerb::Type => UserAction::Type(widget()?, words()?),
            SimVerb::Select => UserAction::Select(widget()?, text),
            SimVerb::Focus => UserAction::Focus(widget()?),
            SimVerb::Scroll => {
                let row = words()?;
                let wrong = |_| invalid(format!("scroll takes a row number from 1, not '{row}'"));
                UserAction::Scroll(widget()?, row.trim().parse().map_err(wrong)?)
            }
            SimVerb::Raise => UserAction::Raise(target),
            SimVerb::Fault => {
                let fault = Fault::parse(target.as_deref(), text.as_deref()).map_err(invalid)?;
                return Ok(Box::new(move |answer| Control::Fault(fault, answer)));
            }
            SimVerb::Heal => return Ok(Box::new(Control::Heal)),
            SimVerb::Quit | SimVerb::Launch | SimVerb::Restart | SimVerb::Held | SimVerb::Scale => {
                return Ok(Box::new(Control::Quit));
            }
        };
        Ok(Box::new(move |answer| Control::Act(action, answer)))
    }

    pub(super) async fn send_control(
        &self,
        pid: u32,
        name: &str,
        control: impl FnOnce(oneshot::Sender<Result<String, Failure>>) -> Control,
    ) -> Result<String, Failure> {
        let (answer, reply) = oneshot::channel();
        let gone = || Failure::new(FailureKind::Gone, format!("{name} has ended"));
        let process = self.process(pid).ok_or_else(gone)?;
        process.controls.send(control(answer)).map_err(|_| gone())?;
        reply.await.map_err(|_| gone())?
    }
}

type MakeControl = Box<dyn FnOnce(oneshot::Sender<Result<String, Failure>>) -> Control + Send>;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &str) -> Result<SimCommand, Error> {
        SimCommand::parse(Some(&RawValue::from_string(args.to_owned()).unwrap()))
    }

    #[test]
    fn words_and_named_fields_say_the_same() {
        let named = parse(r#"{"app":"Notes","verb":"type","target":"body","text":"-5"}"#).unwrap();
        assert_eq!(parse(r#"["Notes","type","body","-5"]"#).unwrap(), named);
        assert_eq!(named.verb, SimVerb::Type);
        assert_eq!(parse(r#"["Notes","heal"]"#).unwrap().target, None);
    }

    #[test]
    fn wrong_args_are_named_with_what_is_right() {
        for (args, said, suggested) in [
            ("[]", "an app and a verb are required", "ax sim APP VERB"),
            (r#"["Notes"]"#, "an app and a verb are required", "ax sim APP VERB"),
            (r#"["Notes","shout"]"#, "verb 'shout' not found", "press, set, type"),
            (r#"["Notes","type","body","a","b"]"#, "unexpected word 'b'", "ax sim APP VERB"),
            (r#"["Notes",5]"#, "expected a string", "ax sim APP VERB"),
            (r#"{"app":"Notes","verb":"shout"}"#, "verb 'shout' not found", "press, set, type"),
            (r#"{"app":"Notes"}"#, "missing field `verb`", "ax sim APP VERB"),
            (r#"{"app":"Notes","verb":"press","widget":"x"}"#, "unknown field `widget`", "ax sim APP VERB"),
            ("7", "invalid type", "ax sim APP VERB"),
        ] {
            let error = parse(args).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidArgs);
            assert!(error.message.contains(said), "{args}: {}", error.message);
            assert!(error.suggestion.contains(suggested), "{args}: {}", error.suggestion);
        }
    }
}
