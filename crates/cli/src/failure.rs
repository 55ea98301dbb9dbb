use std::error::Error;
use std::process::ExitCode;

use leasehold_core::Class;

/// What a command could not do, ready to be shown to a person and told apart by a script.
#[derive(Debug)]
pub(crate) struct Failure {
    code: &'static str,
    class: Class,
    source: Box<dyn Error>,
}

impl Failure {
    pub(crate) fn runtime(source: std::io::Error) -> Self {
        Failure { code: "cli.runtime", class: Class::Internal, source: source.into() }
    }

    pub(crate) fn log_filter(filter: &str, source: tracing_subscriber::filter::ParseError) -> Self {
        let message = format!("log filter '{filter}' is not valid: {source}");
        Failure { code: "cli.log_filter", class: Class::Rejected, source: message.into() }
    }

    /// Prints the message, its causes and its code to stderr.
    pub(crate) fn report(self) -> ExitCode {
        eprintln!("error: {} ({})", self.source, self.code);
        let mut cause = self.source.source();
        while let Some(error) = cause {
            eprintln!("  caused by: {error}");
            cause = error.source();
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
        Failure { code: error.code(), class: error.class(), source: error.into() }
    }
}
