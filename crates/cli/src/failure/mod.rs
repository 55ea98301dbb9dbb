mod next_step;

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use leasehold_client::{Error as ClientError, ndjson};
use leasehold_core::Class;

pub(crate) use self::next_step::next_step;
use self::next_step::{REACHABLE, how_to_reach, how_to_start};

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
    Supervisor,
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
            Own::Supervisor => "cli.supervisor",
            Own::File => "cli.file",
            Own::Input => "cli.input",
            Own::Profile => "cli.profile",
            Own::Unhealthy => "cli.unhealthy",
            Own::Interrupted => "cli.interrupted",
        }
    }

    fn class(self) -> Class {
        match self {
            Own::Runtime | Own::Supervisor => Class::Internal,
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

    pub(crate) fn supervisor(source: std::io::Error) -> Self {
        Own::Supervisor.failure(format!("the supervisor of the command does not work: {source}"))
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

    /// Whether what was asked for may have been done.
    pub(crate) fn is_unknown(&self) -> bool {
        self.class == Class::Indeterminate
    }

    pub(crate) fn report(self) -> ExitCode {
        // The caller may not read it; the exit code says the same.
        let _ = writeln!(std::io::stderr(), "error: {}", self.line());
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

impl From<leasehold_locks::Error> for Failure {
    fn from(error: leasehold_locks::Error) -> Self {
        use std::error::Error as _;
        // A server in between says best what helps.
        let through_server = error.source().and_then(|source| source.downcast_ref::<ClientError>());
        let of_database = error.source().and_then(|source| source.downcast_ref::<leasehold_txn::Error>());
        let next = match (&error, through_server) {
            (leasehold_locks::Error::Indeterminate { .. }, _) => {
                Some("it may have been done: 'leasehold lock lookup KEY' says")
            }
            (_, Some(client)) => next_step(client),
            (leasehold_locks::Error::Store { .. }, None) if error.class() == Class::Unavailable => {
                Some(REACHABLE)
            }
            _ => of_database.and_then(how_to_reach),
        };
        Failure { next: next.map(str::to_owned), ..Failure::new(error.code(), error.class(), error) }
    }
}

impl From<leasehold_persistence::Error> for Failure {
    fn from(error: leasehold_persistence::Error) -> Self {
        use leasehold_persistence::Error;
        let next = match &error {
            Error::Unavailable { source: Some(source), .. } | Error::Refused { source, .. } => {
                how_to_reach(source)
            }
            _ => None,
        };
        Failure { next: next.map(str::to_owned), ..Failure::new(error.code(), error.class(), error) }
    }
}

impl From<leasehold_txn::Error> for Failure {
    fn from(error: leasehold_txn::Error) -> Self {
        let next = how_to_reach(&error);
        Failure { next: next.map(str::to_owned), ..Failure::new(error.code(), error.class(), error) }
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
