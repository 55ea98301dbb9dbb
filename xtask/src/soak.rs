//! The long forms of the tests, for a time: those that are ignored because they run for minutes, and the property tests
//! with many more cases. The report holds the seed; the same seed makes the same choices.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::test::{Build, Limits, Plan, Wanted, run_suites};
use crate::{Outcome, source};

const MINUTES: u64 = 10;
const PROPERTY_CASES: &str = "20000";

struct Options {
    packages: Vec<String>,
    minutes: u64,
    seed: u64,
}

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let options = parse(arguments)?;
    let built = Build { packages: options.packages.clone(), is_release: true }.run()?;
    let plan = Plan::make(built, &Wanted { is_long: true, ..Wanted::default() })?;
    // One after another: each makes all the load that it means to make.
    let timeout = Duration::from_secs(60 * (10 * options.minutes + 60));
    let limits = Limits { processes: 1, threads: 1, timeout };
    let environment = [
        ("LEASEHOLD_SOAK_SEED", options.seed.to_string()),
        ("LEASEHOLD_SOAK_MINUTES", options.minutes.to_string()),
        ("PROPTEST_CASES", PROPERTY_CASES.to_owned()),
    ];
    println!("seed {}, {} minute(s) a test", options.seed, options.minutes);
    let report = run_suites(plan, &limits, &environment);
    let path = source::root().join(format!("target/soak-{}.md", options.seed));
    let text = report.as_document(&format!("seed {} · {} minute(s) a test", options.seed, options.minutes));
    let written = fs::create_dir_all(source::root().join("target")).and_then(|()| fs::write(&path, text));
    written.map_err(|error| format!("cannot write {}: {error}", source::shown(&path)))?;
    println!("report: {}", source::shown(&path));
    report.close(0).map_err(|failed| format!("{failed}; repeat with --seed {}", options.seed))
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs());
    let mut options = Options { packages: Vec::new(), minutes: MINUTES, seed: clock };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--minutes" => options.minutes = number("--minutes", arguments.next())?,
            "--seed" => options.seed = number("--seed", arguments.next())?,
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
