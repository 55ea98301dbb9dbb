//! Long commands that are told to stop say how far they are. A batch that is on its way is waited for: where it ends is
//! where to go on.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;

use crate::failure::Failure;

/// A command that goes through the lines of a file, until it is dropped.
#[derive(Debug)]
pub(crate) struct Interruptible {
    state: Arc<Mutex<State>>,
    listening: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    /// What it does with items.
    verb: &'static str,
    items: u64,
    offset: u64,
    is_sending: bool,
    /// The signal that it ends with once the batch is answered.
    told: Option<i32>,
}

impl Interruptible {
    /// Within a runtime of several threads: reading lines may block one.
    pub(crate) fn start(verb: &'static str, offset: u64) -> Result<Self, Failure> {
        let state = State { verb, items: 0, offset, is_sending: false, told: None };
        let state = Arc::new(Mutex::new(state));
        let interrupt = signal(SignalKind::interrupt()).map_err(Failure::runtime)?;
        let terminate = signal(SignalKind::terminate()).map_err(Failure::runtime)?;
        let listening = tokio::spawn(listen(state.clone(), interrupt, terminate));
        Ok(Interruptible { state, listening })
    }

    /// A batch is being sent.
    pub(crate) fn begin(&self) {
        locked(&self.state).is_sending = true;
    }

    /// The failure that ends the command, with where to go on.
    pub(crate) fn failed(&self, failure: impl Into<Failure>) -> Failure {
        let failure = failure.into();
        let may_be_stored = failure.is_unknown();
        failure.next(locked(&self.state).advice(may_be_stored))
    }

    /// It is stored; the next line is behind `offset`.
    pub(crate) fn end(&self, items: usize, offset: u64) {
        let mut state = locked(&self.state);
        state.is_sending = false;
        state.items += items as u64;
        state.offset = offset;
        if let Some(number) = state.told {
            leave(&state, number);
        }
    }
}

impl State {
    /// Where to go on.
    fn advice(&self, may_be_stored: bool) -> String {
        let State { verb, items, offset, .. } = self;
        let perhaps =
            if may_be_stored { "; the batch behind that may be stored too: look first" } else { "" };
        format!("{items} item(s) were {verb} before; go on with --offset {offset}{perhaps}")
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn listen(state: Arc<Mutex<State>>, mut interrupt: Signal, mut terminate: Signal) {
    loop {
        let kind = tokio::select! {
            _ = interrupt.recv() => SignalKind::interrupt(),
            _ = terminate.recv() => SignalKind::terminate(),
        };
        let mut state = locked(&state);
        // Whoever asks twice does not want to wait.
        match state.is_sending && state.told.is_none() {
            true => state.told = Some(kind.as_raw_value()),
            false => leave(&state, kind.as_raw_value()),
        }
    }
}

/// Ends the process as a signal would, with a word about it.
fn leave(state: &State, number: i32) -> ! {
    let next = state.advice(state.is_sending);
    // Over what shows the progress.
    let clear = if io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    let _ = writeln!(io::stderr(), "{clear}error: {}", Failure::interrupted(next).line());
    crate::log::flush();
    std::process::exit(128 + number)
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().expect("nobody panics while holding it")
}
