//! Everything that can be said about the code without running it. All steps run, so that one report shows all.

use crate::cargo::{cargo, show};
use crate::{Outcome, deny, documented_codes, included_files, links};

const FEATURE_SETS: [&[&str]; 3] = [&[], &["--no-default-features"], &["--all-features"]];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    if let Some(unknown) = arguments.first() {
        return Err(format!("check takes no arguments, not '{unknown}'"));
    }
    let mut outcomes = vec![show("format", cargo().args(["fmt", "--all", "--check"]))];
    for features in FEATURE_SETS {
        let step = format!("clippy {}", features.first().unwrap_or(&"with default features"));
        outcomes.push(show(
            &step,
            cargo()
                .args(["clippy", "--workspace", "--all-targets", "--locked"])
                .args(features)
                .args(["--", "-D", "warnings"]),
        ));
    }
    // Tests ask for features that the product's own build does without.
    outcomes
        .push(show("clippy of the product", cargo().args(["clippy", "--locked", "--", "-D", "warnings"])));
    outcomes.push(show(
        "documentation",
        cargo().args(["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings"),
    ));
    let fuzz = ["check", "--manifest-path", "fuzz/Cargo.toml", "--bins", "--locked"];
    outcomes.push(show("fuzz targets", cargo().args(fuzz)));
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
