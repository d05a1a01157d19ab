//! The thread that sends input, on platforms that need one: a drag pauses on its way, and nothing else should wait for it.

use std::sync::mpsc::{Receiver, Sender, channel};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{Failure, FailureKind, Gate, Input};

/// A handle to the input thread. The thread is started on first use, and again if it has ended.
pub struct InputThread {
    jobs: Mutex<Option<Sender<Job>>>,
    serve: fn(&Receiver<Job>),
}

/// A piece of input to send.
pub struct Job {
    /// The steps, and the judge of who may receive them.
    pub input: Input,
    /// Passed before each step.
    pub gate: Gate,
    /// Gets the reply when everything is sent, with a warning if the input may have been swallowed.
    pub answer: oneshot::Sender<Result<Option<String>, Failure>>,
}

impl InputThread {
    /// A thread that runs `serve` until the handle is dropped.
    pub fn new(serve: fn(&Receiver<Job>)) -> InputThread {
        InputThread { jobs: Mutex::default(), serve }
    }

    /// Starts the thread before there is input, for what it does first.
    pub fn start(&self) {
        let mut thread = self.jobs.lock();
        if thread.is_none() {
            // If it cannot be started, the first input says so.
            *thread = self.spawn().ok();
        }
    }

    /// Queues input, after all that was queued before.
    pub fn run(&self, mut job: Job) {
        let mut thread = self.jobs.lock();
        if let Some(jobs) = &*thread {
            match jobs.send(job) {
                Ok(()) => return,
                Err(back) => job = back.0,
            }
        }
        match self.spawn() {
            Ok(jobs) => {
                // This cannot fail: the thread has just been given the receiver.
                let _ = jobs.send(job);
                *thread = Some(jobs);
            }
            Err(fault) => {
                let said = format!("cannot start the input thread: {fault}");
                let _ = job.answer.send(Err(Failure::new(FailureKind::Refused, said)));
            }
        }
    }

    fn spawn(&self) -> std::io::Result<Sender<Job>> {
        let (jobs, inbox) = channel();
        let serve = self.serve;
        std::thread::Builder::new().name("axd-input".to_owned()).spawn(move || serve(&inbox))?;
        Ok(jobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_thread_that_has_ended_is_started_again() {
        // A thread that handles one job and ends, as if the job had killed it.
        let thread = InputThread::new(|jobs| {
            if let Ok(job) = jobs.recv() {
                let _ = job.answer.send(Ok(None));
            }
        });
        for _ in 0..3 {
            // A job that arrives between the reply and the end of the thread gets no reply, so it is sent again.
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
