//! Querator's own commands, with its flags, texts, JSON and exit codes: scripts written for it run unchanged.

mod complete;
mod create;
mod delete;
mod lease;
mod list;
mod produce;
mod refusal;
mod serve;
mod shown;
mod update;

pub(crate) use complete::Complete;
pub(crate) use create::Create;
pub(crate) use delete::Delete;
pub(crate) use lease::Lease;
pub(crate) use list::List;
pub(crate) use produce::Produce;
pub(crate) use refusal::{Refusal, refused_arguments};
pub(crate) use serve::serve;
pub(crate) use update::Update;

use std::fmt;
use std::io::{self, Write};

use leasehold_client::{Client, Error};

use crate::connection::Connection;
use crate::failure::next_step;
use crate::output::written;

/// What a command could not do, in Querator's words.
type Result<T = ()> = std::result::Result<T, String>;

fn client(connection: &Connection) -> Result<Client> {
    connection.client().map_err(|failure| format!("failed to create client: {}", failure.line()))
}

/// An error of the server as Querator's client prints it.
fn answered(error: &Error) -> String {
    if let Error::Answered { url, code_text, message, .. } = error {
        return format!("POST {url} returned '{code_text}' with message: {message}");
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    match next_step(error) {
        Some(next) => format!("{text}; {next}"),
        None => text,
    }
}

/// One line of data. Whoever closed the pipe does not want it; the exit code still tells what was done.
fn print(line: &dyn fmt::Display) -> Result {
    written(writeln!(io::stdout(), "{line}")).map(drop).map_err(|failure| failure.line())
}

/// Refuses what is no duration; the server is sent the text as it was given.
fn check_timeout(timeout: &str) -> Result {
    refusal::duration(timeout).map(drop).map_err(|error| format!("invalid timeout format: {error}"))
}
