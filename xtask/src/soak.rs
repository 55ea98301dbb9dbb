//! The long forms of the tests: the `soak` test targets for a time, and the property tests with many more cases.
//! The report holds the seed; the same seed makes the same choices.

use std::fs;
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::cargo::cargo;
use crate::tally::{self, Tally};
use crate::{Outcome, backend, source};

const MINUTES: u64 = 10;
const PROPERTY_CASES: &str = "20000";

struct Options {
    crates: Vec<String>,
    minutes: u64,
    seed: u64,
}

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let options = parse(arguments)?;
    let mut report = format!(
        "# Soak\n\nseed {} · {} minute(s) a suite\n\n| suite | result | took |\n| --- | --- | --- |\n",
        options.seed, options.minutes
    );
    let mut total = Tally::default();
    for folder in source::crates() {
        if !options.crates.is_empty() && !options.crates.iter().any(|name| folder.ends_with(name)) {
            continue;
        }
        for target in ["properties", "soak"] {
            if !folder.join(format!("tests/{target}.rs")).exists() {
                continue;
            }
            let suite = format!("{} {target}", backend::package(&folder));
            println!("\n== {suite}");
            let started = Instant::now();
            let tally = tally::run(&mut command(&backend::package(&folder), target, &options))?;
            report += &format!(
                "| {suite} | {} passed, {} failed | {} s |\n",
                tally.passed,
                tally.failed,
                started.elapsed().as_secs()
            );
            total.add(tally);
        }
    }
    println!("\n{report}");
    let path = source::root().join(format!("target/soak-{}.md", options.seed));
    let written = fs::create_dir_all(source::root().join("target")).and_then(|()| fs::write(&path, &report));
    written.map_err(|error| format!("cannot write {}: {error}", source::shown(&path)))?;
    println!("report: {}\n\n{} passed, {} failed", source::shown(&path), total.passed, total.failed);
    match total.failed {
        0 => Ok(()),
        failed => Err(format!("{failed} test(s) failed; repeat with --seed {}", options.seed)),
    }
}

fn command(package: &str, target: &str, options: &Options) -> Command {
    let mut command = cargo();
    command.args(["test", "--release", "--locked", "--package", package, "--test", target, "--"]);
    command.args(["--include-ignored", "--nocapture"]);
    command.env("LEASEHOLD_INSTALL", "1");
    command.env("LEASEHOLD_SOAK_SEED", options.seed.to_string());
    command.env("LEASEHOLD_SOAK_MINUTES", options.minutes.to_string());
    command.env("PROPTEST_CASES", PROPERTY_CASES);
    command
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs());
    let mut options = Options { crates: Vec::new(), minutes: MINUTES, seed: clock };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--minutes" => options.minutes = number("--minutes", arguments.next())?,
            "--seed" => options.seed = number("--seed", arguments.next())?,
            name if source::crates().iter().any(|folder| folder.ends_with(name)) => {
                options.crates.push(name.to_owned());
            }
            unknown => return Err(format!("no crate is called '{unknown}'")),
        }
    }
    Ok(options)
}

fn number(flag: &str, value: Option<&String>) -> Result<u64, String> {
    value.and_then(|text| text.parse().ok()).ok_or_else(|| format!("{flag} needs a whole number"))
}
