//! The PostgreSQL session of one simulated session, and what its transaction wrote so far.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;

use crate::{
    backend::{Call, Connection, Outcome, Reply},
    failure::Failure,
};

/// Where the transaction at PostgreSQL stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// None is open.
    Idle,
    /// Open, with everything it wrote in place, and so with row locks that others may run into.
    Live,
    /// Open, with its snapshot and nothing else: what it wrote is only in the log, and is done again when needed.
    Deferred,
    /// Ended by a DDL that could not go on beside it; its snapshot is gone.
    Lost,
}

/// One statement of the log.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) call: Call,
    /// What it answered the first time, if it was done; it must answer the same at COMMIT.
    pub(crate) tag: Option<String>,
}

/// A PostgreSQL session with a log.
pub(crate) struct Worker {
    pub(crate) connection: Connection,
    pub(crate) mode: Mode,
    pub(crate) log: Vec<Entry>,
    /// The savepoint before the first write exists.
    pub(crate) has_base: bool,
    prepared: HashMap<(Arc<str>, Arc<[u32]>), String>,
    prepared_count: u64,
    /// The version of the catalogue they were prepared for.
    prepared_version: u64,
}

/// Goes back to the snapshot, without any write and without any row lock.
pub(crate) const UNDO: &str = "ROLLBACK TO SAVEPOINT base";
/// Statements kept prepared; more than that begins anew.
const PREPARED_MAX: usize = 500;

/// What to do in one round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work<'a> {
    /// Done first; may be empty.
    pub(crate) prelude: &'a str,
    /// Do the log before the calls.
    pub(crate) replays: bool,
    pub(crate) calls: &'a [Call],
    /// Done last, whatever happened before; may be empty.
    pub(crate) epilogue: &'a str,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Performed {
    /// Of the calls that were done.
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) failure: Option<Failure>,
    /// The failure is of a statement of the log, which had been done before.
    pub(crate) is_replay_failure: bool,
    pub(crate) asides: Vec<(u8, Bytes)>,
}

impl Worker {
    pub(crate) fn new(connection: Connection) -> Worker {
        Worker {
            connection,
            mode: Mode::Idle,
            log: Vec::new(),
            has_base: false,
            prepared: HashMap::new(),
            prepared_count: 0,
            prepared_version: 0,
        }
    }

    /// One round trip. `Err` is a lost connection, or a prelude that failed.
    pub(crate) async fn perform(&mut self, work: Work<'_>) -> Result<Performed, Failure> {
        let mut expected = 1;
        if !work.prelude.is_empty() {
            self.connection.queue_simple(work.prelude);
            expected += 1;
        }
        let log = if work.replays { std::mem::take(&mut self.log) } else { Vec::new() };
        let mut parsed = Vec::new();
        for entry in &log {
            self.queue(&entry.call, false, &mut parsed);
        }
        for call in work.calls {
            self.queue(call, true, &mut parsed);
        }
        self.connection.queue_sync();
        if !work.epilogue.is_empty() {
            self.connection.queue_simple(work.epilogue);
            expected += 1;
        }
        let exchanged = self.connection.exchange(expected).await;
        let expected_tags: Vec<Option<String>> = log.iter().map(|entry| entry.tag.clone()).collect();
        if work.replays {
            self.log = log;
        }
        let mut replies = exchanged?.into_iter();
        let mut asides = Vec::new();
        if !work.prelude.is_empty() {
            let prelude = replies.next().unwrap_or_default();
            asides.extend(prelude.asides);
            if let Some(failure) = prelude.failure {
                self.prepared.retain(|_, name| !parsed.contains(name));
                return Err(failure);
            }
        }
        let reply = replies.next().unwrap_or_default();
        asides.extend(replies.flat_map(|reply| reply.asides));
        if reply.failure.is_some() {
            // Whether these were prepared before the failure is not told.
            self.prepared.retain(|_, name| !parsed.contains(name));
        }
        Ok(sorted(reply, &expected_tags, asides))
    }

    fn queue(&mut self, call: &Call, wants_rows: bool, parsed: &mut Vec<String>) {
        if !call.is_kept {
            self.connection.queue_call(call, "", false, wants_rows);
            return;
        }
        let (name, is_parsed) = self.name(call);
        self.connection.queue_call(call, &name, is_parsed, wants_rows);
        if !is_parsed {
            parsed.push(name);
        }
    }

    /// The name a kept statement has at PostgreSQL, and whether it is prepared there.
    fn name(&mut self, call: &Call) -> (String, bool) {
        let key = (call.sql.clone(), call.types.clone());
        if let Some(name) = self.prepared.get(&key) {
            return (name.clone(), true);
        }
        self.prepared_count += 1;
        let name = format!("leasehold_{}", self.prepared_count);
        self.prepared.insert(key, name.clone());
        (name, false)
    }

    /// Prepares a statement and asks what it takes and gives, as of this version of the catalogue.
    pub(crate) async fn describe(&mut self, call: &Call, version: u64) -> Result<Reply, Failure> {
        if self.prepared.len() > PREPARED_MAX || self.prepared_version != version {
            self.prepared_version = version;
            for (_, name) in self.prepared.drain() {
                self.connection.queue_close(&name);
            }
        }
        let (name, is_parsed) = self.name(call);
        if !is_parsed {
            self.connection.queue_parse(call, &name);
        }
        self.connection.queue_describe(&name);
        self.connection.queue_sync();
        let mut replies = self.connection.exchange(1).await?;
        let reply = replies.pop().unwrap_or_default();
        match reply.failure {
            Some(failure) => {
                self.prepared.retain(|_, found| *found != name);
                Err(failure)
            }
            None => Ok(reply),
        }
    }

    /// Forgets the writes at PostgreSQL and keeps the snapshot.
    pub(crate) async fn undo(&mut self) -> Result<(), Failure> {
        self.connection.simple(UNDO).await?.all()?;
        self.mode = Mode::Deferred;
        Ok(())
    }

    /// Ends the transaction at PostgreSQL, if there is one, without a trace.
    pub(crate) async fn roll_back(&mut self) -> Result<(), Failure> {
        let was_open = matches!(self.mode, Mode::Live | Mode::Deferred);
        self.forget();
        if was_open {
            self.connection.simple("ROLLBACK").await?.all()?;
        }
        Ok(())
    }

    /// The transaction is over.
    pub(crate) fn forget(&mut self) {
        self.mode = Mode::Idle;
        self.has_base = false;
        self.log.clear();
    }
}

fn sorted(reply: Reply, expected_tags: &[Option<String>], mut asides: Vec<(u8, Bytes)>) -> Performed {
    asides.extend(reply.asides);
    let mut outcomes = reply.outcomes;
    let replayed = expected_tags.len().min(outcomes.len());
    let again: Vec<Outcome> = outcomes.drain(..replayed).collect();
    let mut failure = reply.failure;
    let mut is_replay_failure = failure.is_some() && replayed < expected_tags.len();
    // Not the same as before on the same snapshot: somebody else's commit shines through.
    if failure.is_none()
        && again.iter().zip(expected_tags).any(|(outcome, tag)| tag.is_some() && outcome.tag != *tag)
    {
        failure = Some(Failure::data_conflict());
        is_replay_failure = true;
    }
    Performed { outcomes, failure, is_replay_failure, asides }
}
