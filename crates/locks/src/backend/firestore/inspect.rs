//! How a database is, for whoever looks after it. Nothing is written: what is asked for cannot happen.

use leasehold_core::{Clock, Key, LockCode, LockId, SystemClock, Timestamp};
use tonic::{Code, Status};

use super::Config;
use super::api::{Version, delete};
use super::client::Client;
use super::documents::{Held, count, held};
use super::errors::{Failure, is_transport};
use super::list::after;
use super::names::Names;
use super::owned::by_lock_id;
use crate::backend::rules;
use crate::{Error, Result};

const OPERATION: &str = "inspect";
/// Readings of Firestore's clock.
const CLOCK_READINGS: usize = 5;
/// Documents of locks that are looked at: each is a billed read.
const HOLDS_MAX: usize = 100;
/// Of those, how many counters are looked at.
const COUNTERS_MAX: usize = 20;
/// No document ever had this version: what is on this condition is refused, after the right to do it was checked.
const NEVER: Version = Version { seconds: 1, nanos: 0 };

/// What a database shows of its locks.
#[derive(Debug)]
pub struct Condition {
    /// Readings of its clock, each between two of ours.
    pub clock: Vec<ClockReading>,
    /// What keeps an acquire from writing, if anything does.
    pub writing: Result<(), Hindrance>,
    /// What keeps a hold from being found by its lock id, if anything does.
    pub finding: Result<(), Hindrance>,
    /// The first documents among the locks, or what keeps them from being listed.
    pub holds: Result<Holds, Hindrance>,
}

/// Firestore's clock, between two readings of ours.
#[derive(Debug, Clone, Copy)]
pub struct ClockReading {
    /// Ours when we asked.
    pub asked: Timestamp,
    /// Firestore's when it read.
    pub theirs: Timestamp,
    /// Ours when it had answered.
    pub answered: Timestamp,
}

/// What the first documents of the locks are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holds {
    /// Live holds.
    pub live: usize,
    /// Holds that ended and were not released.
    pub ended: usize,
    /// Documents that are no locks.
    pub foreign: usize,
    /// Holds whose fence counter is missing, behind them or unreadable: a fence of theirs may be given again.
    pub without_counter: usize,
    /// Whether there are more documents than were looked at.
    pub are_more: bool,
}

/// What keeps an operation from being done, and why.
#[derive(Debug)]
pub struct Hindrance {
    /// What is to be done about it depends on this.
    pub why: Why,
    /// What was said.
    pub error: Error,
}

/// Why a database does not do what it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// There are none, or nobody believes them.
    Credentials,
    /// The account lacks a right, or the interface is switched off in the project.
    NotAllowed,
    /// Nobody answers there.
    Unreachable,
    /// The project has no such database.
    NoDatabase,
    /// The database is one of Datastore, which has another interface.
    NotNative,
    /// The field is exempt from indexing.
    NoIndex,
    /// Too much was asked of it.
    Quota,
    /// Anything else.
    Other,
}

impl Why {
    fn of(status: &Status) -> Self {
        let says = |words: &str| status.message().to_ascii_lowercase().contains(words);
        match status.code() {
            _ if is_transport(status) => Why::Unreachable,
            Code::Unavailable | Code::DeadlineExceeded => Why::Unreachable,
            Code::Unauthenticated => Why::Credentials,
            Code::PermissionDenied => Why::NotAllowed,
            Code::NotFound => Why::NoDatabase,
            Code::FailedPrecondition if says("datastore mode") => Why::NotNative,
            Code::FailedPrecondition if says("index") => Why::NoIndex,
            Code::ResourceExhausted => Why::Quota,
            _ => Why::Other,
        }
    }
}

impl From<Status> for Hindrance {
    fn from(status: Status) -> Self {
        let why = Why::of(&status);
        Hindrance { why, error: Failure::of_read(status).into_error(OPERATION, None) }
    }
}

/// No connection was made.
impl From<Error> for Hindrance {
    fn from(error: Error) -> Self {
        let why = match error.lock_code() {
            LockCode::AuthFailed => Why::Credentials,
            LockCode::ServiceUnavailable | LockCode::NetworkTimeout => Why::Unreachable,
            _ => Why::Other,
        };
        Hindrance { why, error }
    }
}

/// Connects and looks. Dropping it midway leaves nothing behind.
///
/// # Errors
/// What keeps the database from being read at all.
pub async fn inspect(config: &Config) -> Result<Condition, Hindrance> {
    let names = Names::new(config);
    let client = Client::connect(config, &names.database).await?;
    let probe = names.place(&Key::parse(OPERATION).map_err(Error::from)?)?;
    let mut clock = Vec::new();
    for _ in 0..CLOCK_READINGS {
        let asked = SystemClock.now();
        let theirs = client.get([&probe.counter]).await?.at;
        clock.extend(theirs.map(|theirs| ClockReading { asked, theirs, answered: SystemClock.now() }));
    }
    Ok(Condition {
        clock,
        writing: writing(client.commit(vec![delete(&probe.counter, NEVER)]).await.map(drop)),
        finding: finding(&client, &names).await,
        holds: holds(&client, &names).await,
    })
}

/// Whoever may not write is told so before the condition is looked at.
fn writing(refused: Result<(), Status>) -> Result<(), Hindrance> {
    match refused {
        Ok(()) => Ok(()),
        Err(status) => match (Why::of(&status), status.code()) {
            (Why::NoDatabase | Why::Other, Code::NotFound | Code::FailedPrecondition | Code::Aborted) => {
                Ok(())
            }
            _ => Err(status.into()),
        },
    }
}

async fn finding(client: &Client, names: &Names) -> Result<(), Hindrance> {
    let nobodys = LockId::generate().map_err(Error::from)?;
    client.query(&names.root, by_lock_id(names.locks(), &nobodys)).await?;
    Ok(())
}

async fn holds(client: &Client, names: &Names) -> Result<Holds, Hindrance> {
    let documents = client.query(&names.root, after(names.locks(), None, HOLDS_MAX)).await?.what;
    let mut holds = Holds { are_more: documents.len() == HOLDS_MAX, ..Holds::default() };
    let now = SystemClock.now();
    let mut looked_at = 0;
    for document in documents {
        let Ok(held) = held(document) else {
            holds.foreign += 1;
            continue;
        };
        match rules::live(&held.record, now) {
            true => holds.live += 1,
            false => holds.ended += 1,
        }
        if looked_at < COUNTERS_MAX {
            looked_at += 1;
            holds.without_counter += usize::from(!has_counter(client, names, &held).await?);
        }
    }
    Ok(holds)
}

/// A hold that ended since it was read has a counter all the same: counters are never deleted.
async fn has_counter(client: &Client, names: &Names, held: &Held) -> Result<bool, Hindrance> {
    // A key that is not taken here is one of a peer that allows it, and so is its counter.
    let Ok(place) = names.place(&held.record.key) else { return Ok(true) };
    let [counter] = client.get([&place.counter]).await?.what;
    let given = counter.and_then(|counter| count(&counter).ok());
    Ok(given.is_some_and(|given| given >= held.record.fence.as_u64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_apart_by_their_cure() {
        let broken = Status::from_error(Box::new(std::io::Error::from(std::io::ErrorKind::ConnectionReset)));
        for (status, why) in [
            (broken, Why::Unreachable),
            (Status::deadline_exceeded("no answer within 10s"), Why::Unreachable),
            (Status::unauthenticated("Request had invalid authentication credentials."), Why::Credentials),
            (Status::permission_denied("Missing or insufficient permissions."), Why::NotAllowed),
            (Status::not_found("The database (default) does not exist for project p"), Why::NoDatabase),
            (
                Status::failed_precondition(
                    "The Cloud Firestore API is not available for Firestore in Datastore Mode database",
                ),
                Why::NotNative,
            ),
            (Status::failed_precondition("The query requires a COLLECTION_ASC index"), Why::NoIndex),
            (Status::resource_exhausted("Quota exceeded."), Why::Quota),
            (Status::internal("said"), Why::Other),
        ] {
            let said = format!("{status:?}");
            assert_eq!(Hindrance::from(status).why, why, "{said}");
        }
    }

    #[test]
    fn write_that_only_fails_on_its_condition_is_allowed() {
        for status in [
            Status::failed_precondition("the stored version does not match the required base version"),
            Status::not_found("No document to update"),
            Status::aborted("contention"),
        ] {
            writing(Err(status)).expect("the right to write is there");
        }
        let refused = writing(Err(Status::permission_denied("Missing or insufficient permissions.")));
        assert_eq!(refused.expect_err("it is not").why, Why::NotAllowed);
    }
}
