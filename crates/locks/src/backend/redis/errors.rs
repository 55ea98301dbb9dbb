//! Driver error → our error.

use leasehold_core::{KeyHash, LockCode, Transport};
use redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::Error;

/// How a command failed, as far as that decides what may have happened.
#[derive(Debug)]
pub(super) enum Failure {
    /// It never left: there was no connection, and none could be made.
    Unsent(RedisError),
    /// It never left: there was no connection within the time of the operation.
    Unreached,
    /// Redis answered with an error. Our scripts check before they write, so nothing happened.
    Refused(RedisError),
    /// It left, and the connection broke before the answer.
    Lost(RedisError),
    /// It left, and no answer came within the time of the operation.
    Unanswered,
}

/// What a command does if it gets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It changes nothing, so that nothing can be unknown about it.
    Reads,
    /// Not knowing whether it got through is an error of its own.
    Writes,
}

impl Failure {
    /// Sorts what the driver said about a command that was handed to it.
    pub(super) fn of_sent(error: RedisError) -> Self {
        match error.kind() {
            ErrorKind::Server(_) | ErrorKind::Extension => Failure::Refused(error),
            _ => Failure::Lost(error),
        }
    }

    /// Whether the error reply has this first word.
    pub(super) fn is_reply(&self, kind: ServerErrorKind) -> bool {
        matches!(self, Failure::Refused(error) if error.kind() == ErrorKind::Server(kind))
    }

    pub(super) fn into_error(self, operation: &'static str, effect: Effect) -> Error {
        let store = |lock_code, source: Box<dyn std::error::Error + Send + Sync>| Error::Store {
            operation,
            lock_code,
            source,
        };
        match (self, effect) {
            (Failure::Unsent(error), _) => store(connect_code(&error), error.into()),
            (Failure::Unreached, _) => {
                store(LockCode::from_transport(Transport::Io), "no connection in time".into())
            }
            (Failure::Refused(error), _) => store(reply_code(&error), error.into()),
            (Failure::Lost(error), Effect::Writes) => {
                Error::Indeterminate { operation, source: error.into() }
            }
            (Failure::Lost(error), Effect::Reads) => {
                store(LockCode::from_transport(Transport::Closed), error.into())
            }
            (Failure::Unanswered, Effect::Writes) => {
                Error::Indeterminate { operation, source: "no answer in time".into() }
            }
            (Failure::Unanswered, Effect::Reads) => {
                store(LockCode::from_transport(Transport::Timeout), "no answer in time".into())
            }
        }
    }

    /// As [`Failure::into_error`], for a command that leads to the entries of one key: a value of another type
    /// there is not a lock.
    pub(super) fn into_error_of_key(
        self,
        operation: &'static str,
        effect: Effect,
        key_hash: KeyHash,
    ) -> Error {
        match &self {
            Failure::Refused(error) if words(error).contains("WRONGTYPE") => {
                Error::Foreign { operation, key_hash }
            }
            _ => self.into_error(operation, effect),
        }
    }
}

/// A reply of a shape that our scripts do not give.
pub(super) fn malformed(operation: &'static str) -> Error {
    Error::Store {
        operation,
        lock_code: LockCode::Internal,
        source: "reply of Redis has an unexpected shape".into(),
    }
}

fn reply_code(error: &RedisError) -> LockCode {
    match error.kind() {
        // Half of the slot is elsewhere while it is being moved.
        ErrorKind::Server(ServerErrorKind::Ask) => LockCode::ServiceUnavailable,
        // Followed on a cluster; elsewhere the URL is wrong.
        ErrorKind::Server(ServerErrorKind::Moved) => LockCode::InvalidArgument,
        _ => {
            let words = words(error);
            // What Redis 7.0 says in place of NOPERM when a script may not do a part of its work.
            match words.contains("The user executing the script") {
                true => LockCode::AuthFailed,
                false => LockCode::from_redis_error(&words),
            }
        }
    }
}

fn connect_code(error: &RedisError) -> LockCode {
    match error.kind() {
        ErrorKind::AuthenticationFailed => LockCode::AuthFailed,
        ErrorKind::Server(_) | ErrorKind::Extension => match reply_code(error) {
            // Such as too many clients: there is nothing to report, and later it may work.
            LockCode::Internal => LockCode::ServiceUnavailable,
            code => code,
        },
        _ => LockCode::from_transport(Transport::Io),
    }
}

/// The reply as the server sent it.
fn words(error: &RedisError) -> String {
    format!("{} {}", error.code().unwrap_or_default(), error.detail().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::io;

    use leasehold_core::Class;
    use redis::make_extension_error;

    use super::*;

    fn reply(line: &str) -> RedisError {
        let (code, detail) = line.split_once(' ').unwrap();
        make_extension_error(code.to_owned(), Some(detail.to_owned()))
    }

    fn broken() -> RedisError {
        io::Error::from(io::ErrorKind::ConnectionReset).into()
    }

    #[test]
    fn replies_keep_the_meaning_of_their_first_word() {
        for (line, code) in [
            ("READONLY You can't write against a read only replica.", LockCode::ServiceUnavailable),
            ("LOADING Redis is loading the dataset in memory", LockCode::ServiceUnavailable),
            ("CLUSTERDOWN The cluster is down", LockCode::ServiceUnavailable),
            ("MASTERDOWN Link with MASTER is down", LockCode::ServiceUnavailable),
            ("TRYAGAIN Multiple keys request during rehashing of slot", LockCode::ServiceUnavailable),
            ("NOAUTH Authentication required.", LockCode::AuthFailed),
            ("NOPERM this user has no permissions", LockCode::AuthFailed),
            ("OOM command not allowed when used memory > 'maxmemory'.", LockCode::RateLimited),
            ("BUSY Redis is busy running a script.", LockCode::RateLimited),
            ("CROSSSLOT Keys in request don't hash to the same slot", LockCode::InvalidArgument),
            ("ERR something else", LockCode::Internal),
        ] {
            let error = Failure::of_sent(reply(line)).into_error("acquire", Effect::Writes);
            assert_eq!(error.lock_code(), code, "{line}");
        }
    }

    #[test]
    fn lost_write_is_of_unknown_outcome_and_a_lost_read_is_not() {
        let of = |effect| Failure::of_sent(broken()).into_error("release", effect).class();
        assert_eq!(of(Effect::Writes), Class::Indeterminate);
        assert_eq!(of(Effect::Reads), Class::Unavailable);
        assert_eq!(Failure::Unanswered.into_error("release", Effect::Writes).class(), Class::Indeterminate);
        let late = Failure::Unanswered.into_error("lookup", Effect::Reads);
        assert_eq!((late.lock_code(), late.class()), (LockCode::NetworkTimeout, Class::Unavailable));
    }

    #[test]
    fn what_was_never_sent_did_not_happen() {
        for failure in [Failure::Unsent(broken()), Failure::Unreached] {
            assert_eq!(failure.into_error("acquire", Effect::Writes).class(), Class::Unavailable);
        }
        let crowded = Failure::Unsent(reply("ERR max number of clients reached"));
        assert_eq!(crowded.into_error("acquire", Effect::Writes).class(), Class::Unavailable);
        let stranger = Failure::Unsent(reply("WRONGPASS invalid username-password pair"));
        assert_eq!(stranger.into_error("acquire", Effect::Writes).lock_code(), LockCode::AuthFailed);
    }

    #[test]
    fn value_of_another_type_is_foreign() {
        let wrong =
            Failure::of_sent(reply("WRONGTYPE Operation against a key holding the wrong kind of value"));
        let error = wrong.into_error_of_key("acquire", Effect::Writes, KeyHash::of("billing"));
        assert_eq!(error.code(), "lock.foreign_entry");
    }
}
