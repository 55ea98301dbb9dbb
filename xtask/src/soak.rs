//! The long forms of the tests: those that are ignored because they run for minutes, the property tests with many more cases, and
//! the feature selections that `cargo xtask test` does not build. The report holds the seed, from which all random choices of the
//! timed tests and of the property tests are made; schedulers and servers make their own.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::cargo::cargo;
use crate::test::{Build, Limits, Plan, Wanted, run_suites};
use crate::{Outcome, source};

const MINUTES: u64 = 10;
const PROPERTY_CASES: &str = "20000";

/// Tests that only a build without all features has, and why: arguments of `cargo test`.
const OTHER_SELECTIONS: [(&str, &[&str]); 2] = [
    (
        "a server without test hooks refuses them",
        &["--package", "leasehold-server", "--test", "it", "test_hooks"],
    ),
    ("the command line as people build it", &["--package", "leasehold-cli", "--test", "it"]),
];

struct Options {
    packages: Vec<String>,
    filter: Option<String>,
    minutes: u64,
    seed: u64,
}

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let options = parse(arguments)?;
    let built = Build { packages: options.packages.clone(), is_release: true }.run()?;
    let wanted = Wanted { is_long: true, filter: options.filter.clone(), ..Wanted::default() };
    let plan = Plan::make(built, &wanted)?;
    // One after another: each makes all the load that it means to make.
    let timeout = Duration::from_secs(60 * (10 * options.minutes + 60));
    let limits = Limits { processes: 1, threads: 1, timeout };
    let environment = [
        ("LEASEHOLD_SOAK_SEED", options.seed.to_string()),
        ("LEASEHOLD_SOAK_MINUTES", options.minutes.to_string()),
        ("PROPTEST_CASES", PROPERTY_CASES.to_owned()),
        ("PROPTEST_RNG_SEED", options.seed.to_string()),
    ];
    println!("seed {}, {} minute(s) a test", options.seed, options.minutes);
    let mut report = run_suites(plan, &limits, &environment);
    if options.packages.is_empty() && options.filter.is_none() {
        for (what, selection) in OTHER_SELECTIONS {
            let mut command = cargo();
            command.args(["test", "--locked", "--no-fail-fast"]).args(selection);
            report.add_lines_of(what, &mut command);
        }
    }
    let path = source::root().join(format!("target/soak-{}.md", options.seed));
    let text = report.as_document(&format!("seed {} · {} minute(s) a test", options.seed, options.minutes));
    let written = fs::create_dir_all(source::root().join("target")).and_then(|()| fs::write(&path, text));
    written.map_err(|error| format!("cannot write {}: {error}", source::shown(&path)))?;
    println!("report: {}", source::shown(&path));
    report.close(0).map_err(|failed| format!("{failed}; repeat with --seed {}", options.seed))
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs());
    let mut options = Options { packages: Vec::new(), filter: None, minutes: MINUTES, seed: clock };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--minutes" => options.minutes = number("--minutes", arguments.next())?,
            "--seed" => options.seed = number("--seed", arguments.next())?,
            "--" => {
                options.filter = Some(arguments.next().ok_or("-- needs a part of a test's name")?.clone());
            }
            name => match source::package(name) {
                Some(package) => options.packages.push(package),
                None => return Err(format!("no crate is called '{name}'")),
            },
        }
    }
    Ok(options)
}

fn number(flag: &str, value: Option<&String>) -> Result<u64, String> {
    value.and_then(|text| text.parse().ok()).ok_or_else(|| format!("{flag} needs a whole number"))
}
