//! What lines of the log are handed to. A thread writes them, so that requests never wait for the reader of the log.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// Bytes of lines that wait to be written. As many again are being written.
const BYTES_MAX: usize = 256 * 1_024;

/// How long the end of the process waits for the last lines.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

const DROPPED: &str = "leasehold_log_lines_dropped_total";

/// Takes lines at once. Lines for which there is no room are dropped and counted.
#[derive(Clone)]
pub(super) struct Sink(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// There is something to write, or it is written.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    lines_waiting: u64,
    is_writing: bool,
    dropped: u64,
    /// Of those, how many the log does not tell of yet.
    untold: u64,
}

impl Sink {
    /// Writes to this output from now on.
    pub(super) fn start(output: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let sink = Sink(shared.clone());
        thread::Builder::new().name("log".to_owned()).spawn(move || shared.run(output))?;
        Ok(sink)
    }

    /// Shows the count among the metrics, zero included. Before there is a recorder for them it is not kept there.
    pub(super) fn show_dropped(&self) {
        self.0.locked().show_dropped();
    }

    /// Waits for what was handed over to be written, but not for long.
    pub(super) fn drain(&self) {
        let is_busy = |state: &mut State| state.is_writing || !state.waiting.is_empty();
        drop(self.0.changed.wait_timeout_while(self.0.locked(), FLUSH_TIMEOUT, is_busy));
    }
}

/// Never fails and never waits.
impl Write for Sink {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut state = self.0.locked();
        if state.waiting.len() + line.len() > BYTES_MAX {
            state.drop_lines(1);
        } else {
            state.waiting.extend_from_slice(line);
            state.lines_waiting += 1;
            self.0.changed.notify_all();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl State {
    fn drop_lines(&mut self, lines: u64) {
        self.dropped += lines;
        self.untold += lines;
        self.show_dropped();
    }

    fn show_dropped(&self) {
        metrics::counter!(DROPPED).absolute(self.dropped);
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// Blocks for ever if the reader of the output stops reading.
    fn run(&self, mut output: impl Write) {
        loop {
            let is_idle = |state: &mut State| state.waiting.is_empty();
            let mut state = self.changed.wait_while(self.locked(), is_idle).expect("no holder panics");
            state.is_writing = true;
            let (text, lines) = (mem::take(&mut state.waiting), mem::take(&mut state.lines_waiting));
            drop(state);
            let written = output.write_all(&text).and_then(|()| output.flush());
            let untold = self.end(written.is_ok(), lines);
            if untold > 0 {
                tracing::warn!(lines = untold, "the log could not be written; lines of it were dropped");
            }
        }
    }

    /// How many dropped lines the log can now tell of: there must be room for that.
    fn end(&self, is_written: bool, lines: u64) -> u64 {
        let mut state = self.locked();
        state.is_writing = false;
        self.changed.notify_all();
        if !is_written {
            state.drop_lines(lines);
        }
        match is_written && state.waiting.len() < BYTES_MAX / 2 {
            true => mem::take(&mut state.untold),
            false => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Takes a write for each permission, and shows what was written; a refusal is a failure.
    struct Reader {
        permissions: mpsc::Receiver<bool>,
        written: mpsc::Sender<Vec<u8>>,
    }

    impl Write for Reader {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            match self.permissions.recv() {
                Ok(true) => self.written.send(text.to_owned()).expect("the test reads"),
                _ => return Err(io::ErrorKind::BrokenPipe.into()),
            }
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_beyond_the_room_are_dropped_and_counted_while_nobody_reads() {
        let (permit, permissions) = mpsc::channel();
        let (written, reads) = mpsc::channel();
        let mut sink = Sink::start(Reader { permissions, written }).expect("starts");
        let line = vec![b'x'; BYTES_MAX / 4];
        sink.write_all(&line).expect("never fails");
        while !sink.0.locked().is_writing {
            thread::yield_now();
        }
        for _ in 0..19 {
            sink.write_all(&line).expect("never fails");
        }
        assert_eq!(sink.0.locked().dropped, 15, "one is being written, and four wait");
        // What cannot be written is lost as well.
        permit.send(false).expect("writes");
        permit.send(true).expect("writes");
        assert_eq!(reads.recv().expect("is written").len(), 4 * line.len());
        sink.drain();
        let state = sink.0.locked();
        assert_eq!((state.dropped, state.untold), (16, 0));
    }
}
