//! `cargo xtask test`: one build, then every test program side by side with the servers it needs. A test that could not
//! run is listed with the reason and never counts as passed.

mod build;
mod changed;
mod events;
mod need;
mod options;
mod plan;
mod report;
mod runner;

use std::time::Instant;

use crate::Outcome;

pub(crate) use build::Build;
pub(crate) use plan::{Plan, Wanted};
pub(crate) use runner::{Limits, run as run_suites};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let options = options::parse(arguments)?;
    let started = Instant::now();
    let packages = match options.changed_since.as_deref().map(changed::packages).transpose()? {
        Some(Some(packages)) if packages.is_empty() => {
            println!("no crate differs from {}", options.changed_since.unwrap_or_default());
            println!("0 passed, 0 failed, 0 skipped");
            return Ok(());
        }
        Some(packages) => packages.unwrap_or_default(),
        None => options.packages.clone(),
    };
    let build = Build { packages, is_release: false };
    let built = build.run()?;
    let built_in = started.elapsed();
    println!("== servers and other programs that the tests need");
    let plan = Plan::make(built, &options.wanted())?;
    let planned_in = started.elapsed() - built_in;
    let mut report = run_suites(plan, &Limits::of_tests(), &[]);
    let are_all_wanted = options.groups.is_empty() && options.filter.is_none();
    if let Some(mut examples) = build.documentation().filter(|_| are_all_wanted) {
        report.add_lines_of("documentation", &mut examples);
    }
    println!(
        "\nbuilt in {} s, prepared in {} s, ran in {} s",
        built_in.as_secs(),
        planned_in.as_secs(),
        (started.elapsed() - built_in - planned_in).as_secs()
    );
    report.close(options.slowest)
}
