//! Running apps, open windows and displays: `list-apps`, `list-windows`, `list-displays`. Answered from the last known state of
//! the desktop.

use axd_protocol::command::{ListAppsAnswer, ListDisplaysAnswer, ListWindows, ListWindowsAnswer, ListedApp};
use axd_protocol::selector::fold;
use axd_protocol::{Error, ErrorCode, Result};

use crate::Engine;
use crate::answer::Answer;
use axd_service::Call;

impl Engine {
    pub(crate) fn list_apps(&self, call: &Call, answer: &mut Answer<'_>) -> Result<()> {
        let (apps, windows, frontmost) = {
            let desktop = self.desktop.read();
            let windows: Vec<u32> = desktop.windows.iter().map(|window| window.pid).collect();
            (desktop.apps.clone(), windows, desktop.frontmost)
        };
        let reader = self.reader(call);
        let listed =
            apps.iter().filter(|seen| self.may_see_pid(&reader, seen.pid, None)).map(|seen| ListedApp {
                app: self.info_of(seen),
                frontmost: frontmost == Some(seen.pid),
                windows: windows.iter().filter(|pid| **pid == seen.pid).count() as u32,
            });
        answer.value(Some(self.clock.now()), None, &ListAppsAnswer { apps: listed.collect() });
        Ok(())
    }

    pub(crate) fn list_windows(
        &self,
        call: &Call,
        args: &ListWindows,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let (windows, pid) = {
            let desktop = self.desktop.read();
            let pid = args.app.as_deref().map(|spec| desktop.named(spec).map(|app| app.pid)).transpose()?;
            (desktop.windows.clone(), pid)
        };
        let wanted = args.filter.as_deref().map(|text| fold(text).into_owned());
        let reader = self.reader(call);
        let chosen = windows
            .iter()
            .filter(|window| self.may_see_pid(&reader, window.pid, Some(&window.title)))
            .filter(|window| pid.is_none_or(|pid| window.pid == pid))
            .filter(|window| wanted.as_deref().is_none_or(|wanted| fold(&window.title).contains(wanted)));
        let windows = chosen.map(|window| self.window_info(window)).collect();
        answer.value(Some(self.clock.now()), None, &ListWindowsAnswer { windows });
        Ok(())
    }

    pub(crate) fn list_displays(&self, answer: &mut Answer<'_>) -> Result<()> {
        if !self.platform.capabilities().contains(&"displays") {
            return Err(Error::new(
                ErrorCode::PlatformNotSupported,
                "displays are unknown: no X server is available",
            )
            .suggest("everything except displays and positions works without one; see `ax doctor`"));
        }
        let displays = self.desktop.read().displays.clone();
        answer.value(Some(self.clock.now()), None, &ListDisplaysAnswer { displays });
        Ok(())
    }
}
