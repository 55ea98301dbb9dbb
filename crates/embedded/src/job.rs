//! A piece of work on the file, as the writer sees it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use redb::WriteTransaction;
use tokio::sync::oneshot;

use crate::{Error, Result};

/// What a job did to the file, with its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written<T> {
    /// It wrote: the answer is true once the commit is on the disk.
    Changed(T),
    /// It only looked.
    Nothing(T),
    /// It found in the middle that it cannot go on: what it wrote must not be kept.
    Undo(T),
}

/// What the writer has to know of a job that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Changed,
    Nothing,
    Undo,
    /// It panicked: nothing that it wrote is trusted.
    Panicked,
}

/// Runs any number of times, each time on the state before it ran; is settled once.
pub(crate) trait Job: Send {
    /// Whoever asked is gone, and wants nothing done on their behalf.
    fn is_abandoned(&self) -> bool;
    fn run(&mut self, write: &WriteTransaction) -> Result<Effect, redb::Error>;
    fn settle(self: Box<Self>, outcome: Result<()>);
}

/// Where the answer of a job goes.
pub(crate) trait Answer<T>: Send {
    fn is_abandoned(&self) -> bool;
    fn tell(self, outcome: Result<T>);
}

impl<T: Send> Answer<T> for oneshot::Sender<Result<T>> {
    fn is_abandoned(&self) -> bool {
        self.is_closed()
    }

    fn tell(self, outcome: Result<T>) {
        // A receiver that is gone does not want to know.
        drop(self.send(outcome));
    }
}

/// For a job that is to happen whether or not somebody waits for it.
pub(crate) struct Regardless<S>(pub(crate) S);

impl<T, S: FnOnce(Result<T>) + Send> Answer<T> for Regardless<S> {
    fn is_abandoned(&self) -> bool {
        false
    }

    fn tell(self, outcome: Result<T>) {
        (self.0)(outcome);
    }
}

/// Work with its result, held back until the commit is durable.
pub(crate) struct Task<T, W, A> {
    work: W,
    result: Option<T>,
    answer: A,
}

impl<T, W, A> Task<T, W, A>
where
    T: Send + 'static,
    W: FnMut(&WriteTransaction) -> Result<Written<T>, redb::Error> + Send + 'static,
    A: Answer<T> + 'static,
{
    pub(crate) fn boxed(work: W, answer: A) -> Box<dyn Job> {
        Box::new(Task { work, result: None, answer })
    }
}

impl<T, W, A> Job for Task<T, W, A>
where
    T: Send,
    W: FnMut(&WriteTransaction) -> Result<Written<T>, redb::Error> + Send,
    A: Answer<T>,
{
    fn is_abandoned(&self) -> bool {
        self.answer.is_abandoned()
    }

    fn run(&mut self, write: &WriteTransaction) -> Result<Effect, redb::Error> {
        self.result = None;
        let Ok(written) = catch_unwind(AssertUnwindSafe(|| (self.work)(write))) else {
            return Ok(Effect::Panicked);
        };
        let (effect, result) = match written? {
            Written::Changed(result) => (Effect::Changed, result),
            Written::Nothing(result) => (Effect::Nothing, result),
            Written::Undo(result) => (Effect::Undo, result),
        };
        self.result = Some(result);
        Ok(effect)
    }

    fn settle(self: Box<Self>, outcome: Result<()>) {
        let result = self.result;
        self.answer.tell(outcome.and_then(|()| result.ok_or_else(|| Error::NotWritten(Arc::new(Panicked)))));
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the write panicked")]
struct Panicked;
