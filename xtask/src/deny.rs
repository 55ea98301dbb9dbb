//! `cargo deny`: licences, banned and duplicate crates, sources; advisories where their database can be reached.

use std::process::{Command, Stdio};

use crate::Outcome;
use crate::cargo::{cargo, show};

pub(crate) fn run() -> Outcome {
    install_if_missing()?;
    show(
        "licences, bans, sources",
        cargo().args(["deny", "--all-features", "check", "licenses", "bans", "sources"]),
    )?;
    advisories()
}

/// A debug build: it runs for a second, and building it costs a third of the release build.
fn install_if_missing() -> Outcome {
    if succeeds(cargo().args(["deny", "--version"])) {
        return Ok(());
    }
    show(
        "installing cargo-deny",
        cargo().args(["install", "cargo-deny", "--locked", "--debug", "--version", "^0.20"]),
    )
}

/// A known vulnerability fails the check; a database that cannot be fetched is said, never counted as passed.
fn advisories() -> Outcome {
    if succeeds(cargo().args(["deny", "fetch", "db"])) {
        return show(
            "advisories",
            cargo().args(["deny", "--all-features", "check", "advisories", "--disable-fetch"]),
        );
    }
    println!("\n== advisories\nnot run: the advisory database cannot be reached");
    Ok(())
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
