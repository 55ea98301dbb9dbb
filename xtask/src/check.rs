//! Everything that can be said about the code without running it. All steps run, so that one report shows all.

use crate::cargo::{cargo, show, target_folder};
use crate::{Outcome, deny, documented_codes, included_files, links};

/// Crates that people may use without what their default features bring.
const WITHOUT_DEFAULTS: [&str; 3] = ["leasehold-access", "leasehold-locks", "leasehold-queue"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    if let Some(unknown) = arguments.first() {
        return Err(format!("check takes no arguments, not '{unknown}'"));
    }
    let mut outcomes = vec![show("format", cargo().args(["fmt", "--all", "--check"]))];
    // What is tested, and what `cargo test` and `cargo build` select without our command.
    outcomes.push(clippy("everything", &["--workspace", "--all-targets", "--all-features"]));
    outcomes.push(clippy("default features", &["--workspace", "--all-targets"]));
    outcomes.push(clippy("the product", &[]));
    for package in WITHOUT_DEFAULTS {
        let selection = ["--package", package, "--lib", "--no-default-features"];
        outcomes.push(clippy(&format!("{package} without default features"), &selection));
    }
    outcomes.push(show(
        "documentation",
        cargo()
            .args(["doc", "--workspace", "--no-deps", "--locked", "--all-features"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    ));
    let fuzz = ["check", "--manifest-path", "fuzz/Cargo.toml", "--bins", "--locked", "--no-default-features"];
    outcomes.push(show("fuzz targets", cargo().args(fuzz).arg("--target-dir").arg(target_folder())));
    outcomes.push(deny::run());
    outcomes.push(findings("every error code is documented", documented_codes::findings()));
    outcomes.push(findings("every SQL, Lua and HTML file is used", included_files::findings()));
    outcomes.push(findings("every link between documents leads somewhere", links::findings()));

    let failed: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    match failed.is_empty() {
        true => {
            println!("\ncheck: all steps passed");
            Ok(())
        }
        false => Err(format!("check failed:\n  {}", failed.join("\n  "))),
    }
}

fn clippy(what: &str, selection: &[&str]) -> Outcome {
    show(
        &format!("clippy of {what}"),
        cargo().args(["clippy", "--locked"]).args(selection).args(["--", "-D", "warnings"]),
    )
}

fn findings(step: &str, findings: Vec<String>) -> Outcome {
    println!("\n== {step}");
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(format!("{step}: {count} finding(s)")),
    }
}
