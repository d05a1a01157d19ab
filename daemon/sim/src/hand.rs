//! The hand outside: what `ax sim` does to apps, as a person at the screen would, and the faults it gives them.

use std::sync::Arc;

use axd_protocol::command::{Sim, SimVerb};
use tokio::sync::oneshot;

use super::desk::{Desk, invalid};
use super::fault::Fault;
use super::model::Deed;
use super::process::Control;
use super::script::Script;
use axd_platform::{Failure, FailureKind, LaunchPlan};

impl Desk {
    /// Does what the hand outside does; answers what came of it.
    pub(super) async fn carry_out(self: Arc<Desk>, act: Sim) -> Result<String, Failure> {
        let (script, pid) = self.find(&act.app)?;
        let name = &script.name;
        match act.verb {
            SimVerb::Held => Ok(self.hands.lock().held()),
            SimVerb::Launch => match pid {
                Some(pid) => Ok(format!("{name} is already running as {pid}")),
                None => Ok(format!("{name} started as {}", self.launch_now(&script, LaunchPlan::default()))),
            },
            SimVerb::Restart => {
                if let Some(pid) = pid {
                    self.tell_app(pid, name, Control::Quit).await?;
                }
                Ok(format!("{name} restarted as {}", self.launch_now(&script, LaunchPlan::default())))
            }
            verb => {
                let idle = || invalid(format!("{name} is not running; start it with `ax sim {name} launch`"));
                let pid = pid.ok_or_else(idle)?;
                let control = Self::control(&script, verb, act)?;
                let done = self.tell_app(pid, name, control).await?;
                Ok(format!("{name}: {done}"))
            }
        }
    }

    /// What the verb comes to for the app.
    fn control(script: &Script, verb: SimVerb, act: Sim) -> Result<MakeControl, Failure> {
        let name = &script.name;
        let Sim { target, text, .. } = act;
        let word = format!("{verb:?}").to_lowercase();
        let widget = || {
            let lacking = || invalid(format!("{word} takes a widget: `ax sim {name} {word} WIDGET`"));
            target.clone().ok_or_else(lacking)
        };
        let words = || {
            let lacking = || invalid(format!("{word} takes a text: `ax sim {name} {word} WIDGET TEXT`"));
            text.clone().ok_or_else(lacking)
        };
        let deed = match verb {
            SimVerb::Press => Deed::Press(widget()?),
            SimVerb::Set => Deed::Set(widget()?, words()?),
            SimVerb::Type => Deed::Type(widget()?, words()?),
            SimVerb::Select => Deed::Select(widget()?, text),
            SimVerb::Focus => Deed::Focus(widget()?),
            SimVerb::Scroll => {
                let row = words()?;
                let wrong = |_| invalid(format!("scroll takes a row number from 1, not '{row}'"));
                Deed::Scroll(widget()?, row.trim().parse().map_err(wrong)?)
            }
            SimVerb::Raise => Deed::Raise(target),
            SimVerb::Fault => {
                let fault = Fault::parse(target.as_deref(), text.as_deref()).map_err(invalid)?;
                return Ok(Box::new(move |answer| Control::Fault(fault, answer)));
            }
            SimVerb::Heal => return Ok(Box::new(Control::Heal)),
            SimVerb::Quit | SimVerb::Launch | SimVerb::Restart | SimVerb::Held => {
                return Ok(Box::new(Control::Quit));
            }
        };
        Ok(Box::new(move |answer| Control::Act(deed, answer)))
    }

    pub(super) async fn tell_app(
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
