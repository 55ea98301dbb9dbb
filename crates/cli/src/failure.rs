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
        let mut line = format!("{} ({})", self.source, self.code);
        let mut cause = self.source.source();
        while let Some(error) = cause {
            let _ = write!(line, "; caused by: {error}");
            cause = error.source();
        }
        if let Some(next) = &self.next {
            let _ = write!(line, "; {next}");
        }
        line.replace('\n', " ")
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

impl From<leasehold_server::Error> for Failure {
    fn from(error: leasehold_server::Error) -> Self {
        Failure::new(error.code(), error.class(), error)
    }
}

impl From<leasehold_locks::Error> for Failure {
    fn from(error: leasehold_locks::Error) -> Self {
        Failure::new(error.code(), error.class(), error)
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
        ClientError::Answered { status: 454, .. } => Some("try again"),
        ClientError::Answered { message, .. } if message.starts_with("queue does not exist") => {
            Some("create it with 'leasehold queue create'")
        }
        _ => None,
    }
}
