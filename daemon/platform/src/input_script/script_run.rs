//! One run of a script: what it has sent and what it holds, from the first step to the release of what it pressed.

use std::time::Duration;

use axd_protocol::keys::Key;
use tracing::debug;

use super::{InputBackend, InputPace, KeyOrButton, WheelTurn};
use crate::{Failure, FailureKind, Gate, InputStep, Judge, Receiver, Sent, Stretch};

/// A run of a script.
pub(super) struct ScriptRun<'a, B> {
    backend: &'a mut B,
    judge: &'a Judge,
    gate: &'a Gate,
    pace: InputPace,
    /// What the script pressed itself and has not released, in this order.
    down: Vec<KeyOrButton>,
    /// Whether anything of it was sent.
    sent: Sent,
    /// The receivers that the judge accepted.
    receivers: Vec<Receiver>,
    /// What is left of the pause that is due before the pointer does something else.
    dwell: Dwell,
}

/// A pause of the pointer: some desktops lose an event that follows the one before too soon.
#[derive(Clone, Copy, Default)]
struct Dwell {
    time: Duration,
    /// Whether it is due before a move too.
    before_move: bool,
}

/// Which device a stretch comes from, and so who receives it.
#[derive(Clone, Copy)]
enum Source {
    Keyboard,
    Pointer,
}

/// What is sent at once, between two passes of the gate.
enum Piece<'a, T> {
    Press(KeyOrButton),
    Release(KeyOrButton),
    Turn(WheelTurn),
    /// A piece of a text, and how many characters of the text it is.
    Text(&'a T, u32),
}

impl<'a, B: InputBackend> ScriptRun<'a, B> {
    pub fn new(backend: &'a mut B, judge: &'a Judge, gate: &'a Gate) -> ScriptRun<'a, B> {
        let pace = backend.pace();
        let (down, receivers) = (Vec::new(), Vec::new());
        ScriptRun { backend, judge, gate, pace, down, sent: Sent::No, receivers, dwell: Dwell::default() }
    }

    /// Runs the steps, and ends the script whatever came of them.
    pub async fn run(mut self, steps: &[InputStep]) -> Result<(), Failure> {
        let mut result = self.steps(steps).await;
        if result.is_ok() {
            // The next script may begin with a release.
            self.wait_out_dwell().await;
        } else {
            self.release_all().await;
        }
        if let Err(failure) = self.backend.end() {
            result = result.and(Err(failure));
            // Who is told that it failed does not expect anything to be held.
            self.release_all().await;
        }
        if self.sent != Sent::No {
            self.backend.wait_until_received(&self.receivers, self.pace.arrival_timeout);
        }
        result.map_err(|failure| self.mark(failure))
    }

    /// Releases what the script pressed itself, the last first.
    async fn release_all(&mut self) {
        if self.down.iter().any(|what| matches!(what, KeyOrButton::Button(_))) {
            self.wait_out_dwell().await;
        }
        for what in std::mem::take(&mut self.down).into_iter().rev() {
            if let Err(failure) = self.backend.release(what).await {
                // The script has failed already; a second failure would not add anything.
                debug!(%failure, %what, "it cannot be released");
            }
        }
    }

    /// Says in the failure whether anything was sent.
    fn mark(&self, failure: Failure) -> Failure {
        let sent = match self.sent {
            Sent::No => return failure,
            _ if self.backend.is_lost() => Sent::Maybe,
            sent => sent,
        };
        match failure.kind {
            FailureKind::Closed => {
                Failure::new(FailureKind::Closed, "it was cancelled while it was being sent").sent(sent)
            }
            _ => failure.sent(sent),
        }
    }

    async fn steps(&mut self, steps: &[InputStep]) -> Result<(), Failure> {
        let key = |step: &InputStep| match step {
            InputStep::Key(key, down) => Some((*key, *down)),
            _ => None,
        };
        for row in steps.chunk_by(|one, next| key(one).is_some() && key(next).is_some()) {
            let keys: Vec<(Key, bool)> = row.iter().filter_map(key).collect();
            match (&keys[..], row) {
                ([], [step]) => self.step(step).await?,
                (keys, _) => self.keys(keys).await?,
            }
            self.dwell = self.dwell_after(&row[row.len() - 1]);
        }
        Ok(())
    }

    /// The pause that is due after a step.
    fn dwell_after(&self, step: &InputStep) -> Dwell {
        let is_dragging = self.down.iter().any(|what| matches!(what, KeyOrButton::Button(_)));
        match step {
            InputStep::Move(_) if is_dragging => Dwell { time: self.pace.after_drag, before_move: false },
            InputStep::Move(_) => Dwell { time: self.pace.after_move, before_move: false },
            InputStep::Pause(time) => Dwell { time: self.dwell.time.saturating_sub(*time), ..self.dwell },
            // A press and a release have set it already.
            InputStep::Button(..)
            | InputStep::Wheel { .. }
            | InputStep::Key(..)
            | InputStep::Text(_)
            | InputStep::Arrive
            | InputStep::Expect(_) => self.dwell,
        }
    }

    /// Waits out the pause that is due, whether or not the gate is closed: what was pressed must be seen as pressed.
    async fn wait_out_dwell(&mut self) {
        let Dwell { time, .. } = std::mem::take(&mut self.dwell);
        if !time.is_zero() {
            self.backend.hold(time).await;
        }
    }

    async fn step(&mut self, step: &InputStep) -> Result<(), Failure> {
        match step {
            InputStep::Move(to) => {
                if self.dwell.before_move {
                    self.pause(self.dwell.time).await?;
                }
                // Where the pointer is changes nothing in an app: it is not noted as sent.
                if self.gate.is_closed() {
                    return Err(Failure::closed());
                }
                self.backend.move_pointer(*to).await
            }
            InputStep::Button(button, down) => {
                self.pause(self.dwell.time).await?;
                self.send(Source::Pointer, &[Piece::of(KeyOrButton::Button(*button), *down)]).await
            }
            InputStep::Wheel { right, down } => self.wheel(WheelTurn { right: *right, down: *down }).await,
            InputStep::Key(key, down) => self.keys(&[(*key, *down)]).await,
            InputStep::Text(text) => self.text(text).await,
            InputStep::Pause(time) => self.pause(*time).await,
            InputStep::Arrive => self.backend.arrive(self.pace.arrival_timeout),
            InputStep::Expect(stretch) => self.ask(*stretch).await.map(drop),
        }
    }

    /// Presses and releases the keys of a row, with one receiver as far as the platform can send them at once.
    async fn keys(&mut self, keys: &[(Key, bool)]) -> Result<(), Failure> {
        let keys = &self.backend.with_held_keys(keys)[..];
        let at_once = match self.pace.between_keys.is_zero() {
            true => self.pace.keys_per_stretch.max(1),
            false => 1,
        };
        let mut rest = keys;
        while !rest.is_empty() {
            if rest.len() < keys.len() {
                self.pause(self.pace.between_keys).await?;
            }
            let ready = self.backend.prepare_keys(rest)?;
            let (now, later) = rest.split_at(ready.clamp(1, at_once.min(rest.len())));
            let pieces: Vec<_> =
                now.iter().map(|(key, down)| Piece::of(KeyOrButton::Key(*key), *down)).collect();
            self.send(Source::Keyboard, &pieces).await?;
            rest = later;
        }
        Ok(())
    }

    async fn wheel(&mut self, turn: WheelTurn) -> Result<(), Failure> {
        let mut turns = turn.split(self.pace.notches_per_turn).map(Piece::Turn).peekable();
        while turns.peek().is_some() {
            let now: Vec<_> = turns.by_ref().take(self.pace.turns_per_stretch.max(1)).collect();
            self.send(Source::Pointer, &now).await?;
        }
        Ok(())
    }

    async fn text(&mut self, text: &str) -> Result<(), Failure> {
        let pieces = self.backend.text_pieces(text)?;
        if pieces.is_empty() {
            return Ok(());
        }
        self.backend.begin_text(self.gate)?;
        let typed = self.type_pieces(&pieces).await;
        typed.and(self.backend.end_text())
    }

    async fn type_pieces(&mut self, pieces: &[(B::TextPiece, u32)]) -> Result<(), Failure> {
        let mut rest = pieces;
        while !rest.is_empty() {
            let ready = self.backend.prepare_text(rest)?;
            let (now, later) = rest.split_at(ready.clamp(1, rest.len()));
            for (at, stretch) in now.chunks(self.pace.text_pieces_per_stretch.max(1)).enumerate() {
                if at > 0 || rest.len() < pieces.len() {
                    self.pause(self.pace.between_texts).await?;
                }
                let stretch: Vec<_> =
                    stretch.iter().map(|(piece, characters)| Piece::Text(piece, *characters)).collect();
                self.send(Source::Keyboard, &stretch).await?;
            }
            rest = later;
        }
        Ok(())
    }

    /// Waits, unless the gate is closed meanwhile.
    async fn pause(&mut self, time: Duration) -> Result<(), Failure> {
        let closed = match time.is_zero() {
            true => self.gate.is_closed(),
            false => self.backend.pause(time, self.gate).await,
        };
        if closed { Err(Failure::closed()) } else { Ok(()) }
    }

    /// Sends a stretch to the receiver that the judge was asked about. Releases need no permission.
    async fn send(&mut self, source: Source, pieces: &[Piece<'_, B::TextPiece>]) -> Result<(), Failure> {
        if pieces.iter().all(|piece| matches!(piece, Piece::Release(_))) {
            return self.send_pieces(pieces).await;
        }
        loop {
            self.backend.lock_receiver()?;
            let result = self.ask_and_send(source, pieces).await;
            let unlocked = self.backend.unlock_receiver();
            let unready = result?;
            unlocked?;
            match unready {
                Some(receiver) => self.backend.wait_until_ready(&receiver)?,
                None => return Ok(()),
            }
        }
    }

    /// Sends a stretch if the judge accepts its receiver. Returns the receiver if it is not ready; then nothing was sent.
    async fn ask_and_send(
        &mut self,
        source: Source,
        pieces: &[Piece<'_, B::TextPiece>],
    ) -> Result<Option<Receiver>, Failure> {
        match source {
            Source::Keyboard => {
                let receiver = self.ask(Stretch::Keys).await?;
                if !self.backend.is_ready(&receiver) {
                    return Ok(Some(receiver));
                }
            }
            Source::Pointer => {
                let at = self.backend.pointer()?;
                self.ask(Stretch::Pointer(at)).await?;
            }
        }
        self.send_pieces(pieces).await.map(|()| None)
    }

    /// Fails if the judge refuses the current receiver of a stretch.
    async fn ask(&mut self, stretch: Stretch) -> Result<Receiver, Failure> {
        let receiver = self.backend.receiver(stretch).await?;
        self.judge.decide(stretch, &receiver)?;
        if let Stretch::Over(_) = stretch {
            // Nothing is sent to who is only looked at.
            return Ok(receiver);
        }
        // A title may change with every character that is typed.
        let who = |receiver: &Receiver| (receiver.pid, receiver.window);
        if !self.receivers.iter().any(|known| who(known) == who(&receiver)) {
            self.receivers.push(receiver.clone());
        }
        Ok(receiver)
    }

    async fn send_pieces(&mut self, pieces: &[Piece<'_, B::TextPiece>]) -> Result<(), Failure> {
        for piece in pieces {
            self.gate.enter()?;
            if self.sent == Sent::No {
                // If the backend fails, nobody knows.
                self.sent = Sent::Maybe;
            }
            match piece {
                Piece::Press(what) => {
                    // Also if the backend fails it may be down.
                    self.down.push(*what);
                    if matches!(what, KeyOrButton::Button(_)) {
                        self.dwell = Dwell { time: self.pace.after_press, before_move: true };
                    }
                    self.backend.press(*what).await?;
                }
                Piece::Release(what) => {
                    self.backend.release(*what).await?;
                    if matches!(what, KeyOrButton::Button(_)) {
                        self.dwell = Dwell::default();
                    }
                    // If the backend failed it may not be up, and is released once more.
                    if let Some(at) = self.down.iter().rposition(|down| down == what) {
                        self.down.remove(at);
                    }
                }
                Piece::Turn(turn) => self.backend.turn_wheel(*turn).await?,
                Piece::Text(text, characters) => {
                    self.backend.type_text(text).await?;
                    self.gate.typed(*characters);
                    self.sent = Sent::Yes;
                    if !self.pace.text_hold.is_zero() {
                        self.backend.hold(self.pace.text_hold).await;
                    }
                    self.backend.release_text(text).await?;
                }
            }
            self.sent = Sent::Yes;
        }
        Ok(())
    }
}

impl<T> Piece<'_, T> {
    fn of(what: KeyOrButton, down: bool) -> Self {
        if down { Piece::Press(what) } else { Piece::Release(what) }
    }
}
