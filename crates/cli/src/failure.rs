use std::borrow::Cow;
use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use leasehold_client::{Error as ClientError, ndjson};
use leasehold_core::Class;

/// What a command could not do, ready to be shown to a person and told apart by a script.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Cow<'static, str>,
    class: Class,
    source: Box<dyn Error>,
    /// What to do next, where that is known.
    next: Option<String>,
}

/// What is wrong here and not elsewhere.
#[derive(Clone, Copy)]
enum Own {
    Runtime,
    LogFilter,
    Command,
    File,
    Input,
    Profile,
    Unhealthy,
    Interrupted,
}

impl Own {
    fn code(self) -> &'static str {
        match self {
            Own::Runtime => "cli.runtime",
            Own::LogFilter => "cli.log_filter",
            Own::Command => "cli.command",
            Own::File => "cli.file",
            Own::Input => "cli.input",
            Own::Profile => "cli.profile",
            Own::Unhealthy => "cli.unhealthy",
            Own::Interrupted => "cli.interrupted",
        }
    }

    fn class(self) -> Class {
        match self {
            Own::Runtime => Class::Internal,
            Own::Unhealthy => Class::Unavailable,
            _ => Class::Rejected,
        }
    }

    fn failure(self, source: impl Into<Box<dyn Error>>) -> Failure {
        Failure::new(self.code(), self.class(), source)
    }
}

impl Failure {
    fn new(code: &'static str, class: Class, source: impl Into<Box<dyn Error>>) -> Self {
        Failure { code: Cow::Borrowed(code), class, source: source.into(), next: None }
    }

    pub(crate) fn runtime(source: std::io::Error) -> Self {
        Own::Runtime.failure(source)
    }

    pub(crate) fn log_filter(filter: &str, source: tracing_subscriber::filter::ParseError) -> Self {
        Own::LogFilter.failure(format!("log filter '{filter}' is not valid: {source}"))
    }

    pub(crate) fn command(program: &str, source: std::io::Error) -> Self {
        Own::Command.failure(format!("cannot run '{program}': {source}"))
    }

    pub(crate) fn file(name: &str, source: std::io::Error) -> Self {
        Own::File.failure(format!("cannot use the file {name}: {source}"))
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Own::Input.failure(message.into())
    }

    pub(crate) fn profile(message: impl Into<String>) -> Self {
        Own::Profile.failure(message.into())
    }

    pub(crate) fn unhealthy(message: impl Into<String>) -> Self {
        Own::Unhealthy.failure(message.into())
    }

    /// Told to stop by a signal; `next` says where to go on.
    pub(crate) fn interrupted(next: String) -> Self {
        Own::Interrupted.failure("interrupted").next(next)
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// Over what is already said about what to do next.
    pub(crate) fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// The message, its code, its causes and what to do next, on one line.
    pub(crate) fn line(&self) -> String {
        match &self.next {
            Some(next) => format!("{}; {}", self.what(), one_line(next)),
            None => self.what(),
        }
    }

    /// The same without what to do next, for whoever knows better.
    pub(crate) fn what(&self) -> String {
        let mut line = format!("{} ({})", self.source, self.code);
        let mut cause = self.source.source();
        while let Some(error) = cause {
            let _ = write!(line, "; caused by: {error}");
            cause = error.source();
        }
        one_line(&line)
    }

    pub(crate) fn report(self) -> ExitCode {
        eprintln!("error: {}", self.line());
        if self.code == Own::Command.code() {
            // What shells answer for a command that cannot be run.
            return ExitCode::from(127);
        }
        ExitCode::from(match self.class {
            Class::Rejected => 2,
            Class::Conflict => 3,
            Class::Unavailable => 4,
            Class::Indeterminate => 5,
            Class::Internal => 1,
        })
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

impl From<leasehold_server::Error> for Failure {
    fn from(error: leasehold_server::Error) -> Self {
        let next = how_to_start(&error);
        Failure { next: next.map(str::to_owned), ..Failure::new(error.code(), error.class(), error) }
    }
}

/// What lets a server start that did not.
fn how_to_start(error: &leasehold_server::Error) -> Option<&'static str> {
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
        Error::Format { .. } => Some("use the release that wrote it: it can export what is inside"),
        Error::Damaged { .. } => {
            Some("restore it from a backup; 'leasehold doctor --store FOLDER' says more")
        }
        _ => None,
    }
}

impl From<leasehold_locks::Error> for Failure {
    fn from(error: leasehold_locks::Error) -> Self {
        use std::error::Error as _;
        // A server in between says best what helps.
        let through_server = error.source().and_then(|source| source.downcast_ref::<ClientError>());
        let next = match (&error, through_server) {
            (leasehold_locks::Error::Indeterminate { .. }, _) => {
                Some("it may have been done: 'leasehold lock lookup KEY' says")
            }
            (_, Some(client)) => next_step(client),
            (leasehold_locks::Error::Store { .. }, None) if error.class() == Class::Unavailable => {
                Some("check that the store runs and can be reached: 'leasehold doctor --store URL'")
            }
            _ => None,
        };
        Failure { next: next.map(str::to_owned), ..Failure::new(error.code(), error.class(), error) }
    }
}

impl From<leasehold_persistence::Error> for Failure {
    fn from(error: leasehold_persistence::Error) -> Self {
        Failure::new(error.code(), error.class(), error)
    }
}

impl From<leasehold_txn::Error> for Failure {
    fn from(error: leasehold_txn::Error) -> Self {
        Failure::new(error.code(), error.class(), error)
    }
}

#[cfg(feature = "dsql-sim")]
impl From<leasehold_dsql_sim::Error> for Failure {
    fn from(error: leasehold_dsql_sim::Error) -> Self {
        Failure::new(error.code(), error.class(), error)
    }
}

#[cfg(feature = "dsql-sim")]
impl From<leasehold_throwaway::Error> for Failure {
    fn from(error: leasehold_throwaway::Error) -> Self {
        let failure = Failure::new(error.code(), Class::Unavailable, error);
        failure.next("or give a PostgreSQL that runs: --backing postgres://…")
    }
}

impl From<ndjson::Error> for Failure {
    fn from(error: ndjson::Error) -> Self {
        match error {
            ndjson::Error::File { name, source } => Failure::file(&name, source),
            wrong => Failure::input(wrong.to_string()),
        }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let next = next_step(&error).map(str::to_owned);
        // The server's own code says more than that it answered.
        let told = match &error {
            ClientError::Answered { details, .. } => details.get("error").cloned(),
            _ => None,
        };
        let code = told.map_or(Cow::Borrowed(error.code()), Cow::Owned);
        Failure { code, class: error.class(), source: error.into(), next }
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
        ClientError::Answered { status: 403, .. } => {
            Some("ask for a role with this permission: 'leasehold binding create'")
        }
        ClientError::Answered { status: 454, details, .. } => {
            match details.get("error").map(String::as_str) {
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
