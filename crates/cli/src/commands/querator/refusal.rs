//! How Querator tells of a failure: the error, the usage, the error again, exit status 1.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use clap::Command;
use leasehold_core::{Error, duration};

/// The commands that answer as Querator does.
const COMMANDS: [&str; 9] =
    ["produce", "lease", "complete", "create", "list", "update", "delete", "version", "server"];

/// A failure in Querator's words.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) command: &'static str,
    pub(crate) text: String,
}

impl Refusal {
    pub(crate) fn report(self, leasehold: &mut Command) -> ExitCode {
        let usage = leasehold
            .find_subcommand_mut(self.command)
            .map(|command| command.clone().bin_name(format!("leasehold {}", self.command)).render_usage());
        eprintln!("Error: {}", self.text);
        if let Some(usage) = usage {
            eprintln!("{usage}\n");
        }
        eprintln!("Error: {}", self.text);
        ExitCode::FAILURE
    }
}

/// What clap refuses on the line of one of these commands, or nothing if another command's arguments were wrong.
pub(crate) fn refused_arguments(error: &clap::Error, arguments: &[OsString]) -> Option<Refusal> {
    if !error.use_stderr() {
        return None;
    }
    let mut words = arguments.iter().skip(1).map(|word| word.to_string_lossy());
    let mut word = words.next()?;
    while word.starts_with('-') {
        // The only one that Querator takes before a command has a value of its own.
        if !word.contains('=') {
            words.next();
        }
        word = words.next()?;
    }
    let command = COMMANDS.into_iter().find(|command| *command == word)?;
    let shown = error.to_string();
    let lines = shown.lines().map(str::trim).take_while(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join(" ");
    Some(Refusal { command, text: text.trim_start_matches("error: ").to_owned() })
}

/// Reads a duration, or says in Go's words what is wrong with it.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    duration::parse(text).map_err(|error| match error {
        Error::DurationUnitMissing { text } => format!("time: missing unit in duration {text:?}"),
        Error::DurationUnitUnknown { text, unit } => {
            format!("time: unknown unit {unit:?} in duration {text:?}")
        }
        _ => format!("time: invalid duration {text:?}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_refused_in_the_words_of_go() {
        for (text, refused) in [
            ("soon", "time: invalid duration \"soon\""),
            ("", "time: invalid duration \"\""),
            ("30", "time: missing unit in duration \"30\""),
            ("3x", "time: unknown unit \"x\" in duration \"3x\""),
        ] {
            assert_eq!(duration(text), Err(refused.to_owned()));
        }
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
    }
}
