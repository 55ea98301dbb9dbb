//! All tests, with the servers they need. What could not run is listed by name and never counted as passed.

use std::process::Command;

use crate::backend::{self, Backend};
use crate::cargo::cargo;
use crate::pauses::Pauses;
use crate::program_tests::{self, ProgramTest};
use crate::tally::{self, Tally};
use crate::temporal::{self, Tool};
use crate::{Outcome, source};

/// What the server has only in builds that ask for it.
const SERVER_FEATURES: [&str; 8] =
    ["--package", "leasehold-server", "--features", "otlp,test-hooks", "--test", "http", "--test", "otlp"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let pauses = Pauses::watch();
    let mut report = Report::default();
    if arguments.is_empty() {
        report.run("workspace", test().arg("--workspace"))?;
        report.run("server features", test().args(SERVER_FEATURES))?;
        report.run_examples()?;
        report.run_program_tests(|_| true)?;
        for backend in &backend::ALL {
            let in_ci = std::env::var_os("CI").filter(|_| backend.installable).map(|_| "CI can install it");
            report.run_backend(backend, &["--workspace"], in_ci)?;
        }
        report.run_temporal()?;
    }
    for name in arguments {
        if program_tests::ALL.iter().any(|test| test.group == name) {
            report.run_program_tests(|test| test.group == name)?;
            continue;
        }
        if name == "temporal" {
            report.run_temporal()?;
            continue;
        }
        match (Backend::named(name), crate_folder(name)) {
            (Some(backend), _) => {
                report.run_backend(backend, &["--workspace"], Some("it was asked for by name"))?;
            }
            (None, Some(package)) => {
                report.run(name, test().args(["--package", &package]))?;
                for backend in backend::ALL.iter().filter(|backend| backend.packages().contains(&package)) {
                    report.run_backend(backend, &["--package", &package], None)?;
                }
            }
            (None, None) => return Err(format!("no crate, no backend and no group is called '{name}'")),
        }
    }
    report.close(&pauses)
}

fn test() -> Command {
    let mut command = cargo();
    command.args(["test", "--locked"]).env("LEASEHOLD_INSTALL", "1");
    command
}

fn crate_folder(name: &str) -> Option<String> {
    let folder = source::crates().into_iter().find(|folder| folder.ends_with(name))?;
    Some(backend::package(&folder))
}

#[derive(Default)]
struct Report {
    total: Tally,
    lines: Vec<String>,
    not_run: u64,
    must_run: Vec<String>,
}

impl Report {
    fn run(&mut self, suite: &str, command: &mut Command) -> Outcome {
        println!("\n== {suite}");
        let tally = tally::run(command.arg("--no-fail-fast"))?;
        self.count(suite, tally);
        Ok(())
    }

    /// An example that fails is a broken promise of the documentation.
    fn run_examples(&mut self) -> Outcome {
        let mut tally = Tally::default();
        for name in source::examples() {
            println!("\n== example {name}");
            let mut command = cargo();
            command.args(["run", "--quiet", "--locked", "--package", &name]).env("LEASEHOLD_INSTALL", "1");
            let status = command.status();
            match status.map_err(|error| format!("cannot run the example: {error}"))?.success() {
                true => tally.passed += 1,
                false => {
                    tally.failed += 1;
                    tally.failures.push(format!("example {name}"));
                }
            }
        }
        self.count("examples", tally);
        Ok(())
    }

    /// One by one, so that each is counted or named.
    fn run_program_tests(&mut self, wanted: impl Fn(&ProgramTest) -> bool) -> Outcome {
        for wanted in program_tests::ALL.iter().filter(|test| wanted(test)) {
            let suite = format!("{} {}", wanted.group, wanted.name);
            let mut command = test();
            if let Err(reason) = wanted.prepare(&mut command) {
                self.not_run += 1;
                self.lines.push(format!("{suite:<16} not run: {reason}"));
                continue;
            }
            println!("\n== {suite}");
            let tally = tally::run(&mut command)?;
            self.count(&suite, tally);
        }
        Ok(())
    }

    /// `required` says why a missing server is a failure here, if it is one. The whole workspace is selected as a whole:
    /// package by package, cargo would build the dependencies anew for each set of features.
    fn run_backend(&mut self, backend: &Backend, selection: &[&str], required: Option<&str>) -> Outcome {
        println!("\n== {}", backend.name);
        if let Err(reason) = backend.prepare() {
            self.not_run += 1;
            self.lines.push(format!("{:<16} not run: {reason}", backend.name));
            self.must_run.extend(required.map(|why| format!("{} was not run, and {why}", backend.name)));
            return Ok(());
        }
        let mut command = test();
        command.arg("--no-fail-fast").args(selection).args(["--test", backend.name]);
        command.args(backend.feature.iter().flat_map(|feature| ["--features", feature]));
        let tally = tally::run(command.args(["--", "--ignored"]))?;
        self.count(backend.name, tally);
        Ok(())
    }

    /// Where its tool cannot be had, nothing can be said of what it makes.
    fn run_temporal(&mut self) -> Outcome {
        println!("\n== temporal");
        let postgres = Backend::named("postgres").expect("it is one of them");
        let tool = match postgres.prepare().map(|()| temporal::tool()) {
            Ok(Ok(Tool::At(path))) => path,
            Ok(Ok(Tool::Missing(reason))) | Err(reason) => {
                self.not_run += 1;
                self.lines.push(format!("{:<16} not run: {reason}", "temporal"));
                return Ok(());
            }
            Ok(Err(reason)) => return Err(format!("Temporal's tool does not build: {reason}")),
        };
        let mut command = test();
        command.args(["--package", "leasehold-persistence", "--test", "temporal", "--no-fail-fast"]);
        let tally = tally::run(command.args(["--", "--ignored"]).env(temporal::TOOL, tool))?;
        self.count("temporal", tally);
        Ok(())
    }

    fn count(&mut self, suite: &str, mut tally: Tally) {
        tally.failures.iter_mut().for_each(|failure| *failure = format!("{suite}\n{failure}"));
        self.lines.push(format!("{suite:<16} {} passed, {} failed", tally.passed, tally.failed));
        self.total.add(tally);
    }

    fn close(self, pauses: &Pauses) -> Outcome {
        println!("\n== summary");
        for line in &self.lines {
            println!("{line}");
        }
        for failure in &self.total.failures {
            println!("\n== failed: {failure}");
        }
        println!("\nthe machine stood still for {:?} at most", pauses.longest());
        println!("{} passed, {} failed, {} skipped", self.total.passed, self.total.failed, self.not_run);
        match (self.total.failed, self.must_run.is_empty()) {
            (0, true) => Ok(()),
            (0, false) => Err(self.must_run.join("; ")),
            (failed, _) => Err(format!("{failed} test(s) failed")),
        }
    }
}
