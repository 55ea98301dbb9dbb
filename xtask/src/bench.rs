//! The benchmarks of `bench/`: one binary each, release build, ratios in one run.

use crate::Outcome;
use crate::cargo::{cargo, show};
use crate::source;

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (names, passed_on) = match arguments.iter().position(|argument| argument == "--") {
        Some(at) => (&arguments[..at], &arguments[at + 1..]),
        None => (arguments, &[][..]),
    };
    let known = known();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        return Err(format!("no benchmark is called '{unknown}'; there are: {}", known.join(", ")));
    }
    let chosen = if names.is_empty() { &known[..] } else { names };
    for name in chosen {
        let run = ["run", "--release", "--locked", "--package", "leasehold-bench", "--bin", name, "--"];
        show(name, cargo().args(run).args(passed_on).env("LEASEHOLD_INSTALL", "1"))?;
    }
    Ok(())
}

fn known() -> Vec<String> {
    let names = source::files(&source::root().join("bench/src/bin"), &[".rs"]);
    names.iter().filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect()
}
