//! What to do next, where that is known.

use std::error::Error as _;

use leasehold_client::Error as ClientError;

/// What lets a server start that did not.
pub(super) fn how_to_start(error: &leasehold_server::Error) -> Option<&'static str> {
    use leasehold_server::Error;
    use std::io::ErrorKind::{AddrInUse, InvalidInput, PermissionDenied};
    match error {
        Error::StoreScheme { scheme } if LOCKS_ONLY.contains(&scheme.as_str()) => {
            Some("it keeps locks, not queues: name it with --locks")
        }
        Error::Listen { source, .. } => match source.kind() {
            AddrInUse => {
                Some("stop what listens there, or choose another with --address; port 0 takes a free one")
            }
            PermissionDenied => {
                Some("choose a port from 1024 on with --address, or give it the right to use this one")
            }
            InvalidInput => Some("write it like 127.0.0.1:2319"),
            _ => Some("choose another with --address"),
        },
        Error::Embedded(inner) => how_to_open(inner),
        Error::Postgres(inner) => how_to_reach(inner),
        Error::ConfigUnreadable { .. } => Some("check the path given with --config"),
        Error::ConfigMalformed { .. } => {
            Some("correct it; 'leasehold config check FILE' reads it without starting anything")
        }
        _ => None,
    }
}

/// Stores that have no queues.
const LOCKS_ONLY: [&str; 5] = ["firestore", "redis", "rediss", "redis-cluster", "rediss-cluster"];

fn how_to_open(error: &leasehold_embedded::Error) -> Option<&'static str> {
    use leasehold_embedded::Error;
    match error {
        Error::InUse { .. } => {
            Some("stop that process, ask it as a server, or choose another folder with --store")
        }
        Error::Folder { .. } | Error::NotAFolder { .. } => {
            Some("choose a folder with --store that can be made and written")
        }
        Error::Absent { .. } => {
            Some("check the path, or mount its disk; a first start without --must-exist creates a store")
        }
        Error::Unsynced { .. } => Some("check the disk; what it did not confirm is looked at when it does"),
        Error::Format { .. } => Some("use the release that wrote it: it can export what is inside"),
        Error::Damaged { .. } => {
            Some("restore it from a backup; 'leasehold doctor --store FOLDER' says more")
        }
        _ => None,
    }
}

pub(super) const REACHABLE: &str =
    "check that the store runs and can be reached: 'leasehold doctor --store URL'";

/// What lets a database answer that did not.
pub(super) fn how_to_reach(error: &leasehold_txn::Error) -> Option<&'static str> {
    use leasehold_txn::Error;
    match error {
        Error::BadConfig { .. } => Some("write it like postgres://USER:PASSWORD@HOST:5432/DATABASE"),
        Error::AccessDenied { .. } => Some("correct user, password or database in the URL"),
        Error::TlsFailed { .. } => {
            Some("correct sslmode or sslrootcert in the URL, or the server's certificate")
        }
        Error::ConnectFailed { .. } | Error::ConnectTimeout { .. } | Error::ConnectionLost { .. } => {
            Some(REACHABLE)
        }
        Error::ConnectionLimit { .. } | Error::PoolExhausted { .. } => {
            Some("let others close connections, or raise max_connections at the database")
        }
        Error::UnknownOutcome { .. } => Some("it may have been done: look before you repeat it"),
        _ => None,
    }
}

/// What helps against most refusals of a server, where anything does.
pub(crate) fn next_step(error: &ClientError) -> Option<&'static str> {
    match error {
        ClientError::Connect { .. } if is_tls_refused(error) => Some(
            "it does not speak TLS there: write http:// instead of https://, or turn TLS on at the server",
        ),
        ClientError::Connect { .. } => Some(
            "start a server with 'leasehold serve', or name another with --endpoint or LEASEHOLD_ENDPOINT",
        ),
        ClientError::Lost { .. } => Some("it may have been done: look before you repeat it"),
        ClientError::Unreadable { .. } => Some("check that the endpoint is a leasehold server"),
        ClientError::Answered { status: 401, .. } => {
            Some("give a valid key with --api-key, LEASEHOLD_API_KEY or --profile")
        }
        ClientError::Answered { status: 403, details, .. }
            if details.get("error").is_some_and(|code| code == "server.host_not_allowed") =>
        {
            Some("add the name to 'allowed-hosts' of the server, send an API key, or use its IP address")
        }
        ClientError::Answered { status: 403, .. } => {
            Some("ask for a role with this permission: 'leasehold binding create'")
        }
        ClientError::Answered { status: 454, details, .. } => {
            match details.get("error").map(String::as_str) {
                Some("queue.lease_unavailable") => Some(
                    "there may be items, but no partition can be looked into; the server's log says what its store lacks, \
                     and 'leasehold doctor' looks",
                ),
                Some("queue.produce_timeout" | "queue.storage" | "queue.partition_failing") => Some(
                    "try again; if it stays so, the server's log says what its store lacks, and 'leasehold doctor' looks",
                ),
                _ => Some("try again"),
            }
        }
        ClientError::Answered { message, .. } if message.starts_with("queue does not exist") => {
            Some("create it with 'leasehold queue create'")
        }
        _ => None,
    }
}

/// What answered the first bytes of a handshake was not one.
fn is_tls_refused(error: &ClientError) -> bool {
    let mut cause = error.source();
    while let Some(found) = cause {
        if found.to_string().contains("InvalidContentType") {
            return true;
        }
        cause = found.source();
    }
    false
}
