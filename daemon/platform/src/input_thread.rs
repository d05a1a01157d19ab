//! The thread that makes input, on platforms where that takes one: a drag pauses on its way, and nobody else is to wait.

use std::sync::mpsc::{Receiver, Sender, channel};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{Failure, FailureKind, Gate, Input};

/// The way to the thread; started when it is first needed, and again if it has ended.
pub struct InputThread {
    jobs: Mutex<Option<Sender<Job>>>,
    serve: fn(&Receiver<Job>),
}

/// Input to make.
pub struct Job {
    /// What, and who may receive it.
    pub input: Input,
    /// To be passed before each step.
    pub gate: Gate,
    /// Told when all of it is sent, with a warning if it may have been swallowed.
    pub answer: oneshot::Sender<Result<Option<String>, Failure>>,
}

impl InputThread {
    /// A thread that does this until nobody can ask any more.
    pub fn new(serve: fn(&Receiver<Job>)) -> InputThread {
        InputThread { jobs: Mutex::default(), serve }
    }

    /// Has input made, after all that was asked for before.
    pub fn run(&self, mut job: Job) {
        let mut thread = self.jobs.lock();
        if let Some(jobs) = &*thread {
            match jobs.send(job) {
                Ok(()) => return,
                Err(back) => job = back.0,
            }
        }
        let (jobs, inbox) = channel();
        let serve = self.serve;
        match std::thread::Builder::new().name("axd-input".to_owned()).spawn(move || serve(&inbox)) {
            Ok(_) => {
                // The thread has just been given the other end.
                let _ = jobs.send(job);
                *thread = Some(jobs);
            }
            Err(fault) => {
                let said = format!("cannot start the input thread: {fault}");
                let _ = job.answer.send(Err(Failure::new(FailureKind::Refused, said)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_thread_that_has_ended_is_started_again() {
        // One that does one thing and ends, as if it had been killed by it.
        let thread = InputThread::new(|jobs| {
            if let Ok(job) = jobs.recv() {
                let _ = job.answer.send(Ok(None));
            }
        });
        for _ in 0..3 {
            // Whoever comes between the answer and the end gets none, and asks again.
            loop {
                let (answer, reply) = oneshot::channel();
                thread.run(Job { input: Vec::new().into(), gate: Gate::new(), answer });
                if let Ok(answered) = reply.await {
                    assert_eq!(answered, Ok(None));
                    break;
                }
            }
        }
    }
}
