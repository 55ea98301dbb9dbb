//! The one build that all tests share: every feature is on, so nothing is compiled again for another selection.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::cargo::cargo;
use crate::source;

/// Built with every selection: the program that finds and installs servers, and a package without tests, whose dependencies have the
/// features that those of the whole workspace have.
const WITH_EVERY_SELECTION: [&str; 2] = ["leasehold-testkit", "leasehold-unified"];

/// Selects what to build.
#[derive(Debug, Clone, Default)]
pub(crate) struct Build {
    /// Names of packages; empty: the workspace.
    pub(crate) packages: Vec<String>,
    pub(crate) is_release: bool,
}

/// The programs that a build made.
#[derive(Debug, Default)]
pub(crate) struct Built {
    pub(crate) programs: Vec<Program>,
    /// `leasehold-services`.
    pub(crate) services: PathBuf,
}

/// A program that runs tests, or an example that is one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// The package, without the name of the project before it.
    pub(crate) package: String,
    /// The integration target; `None` for unit tests.
    pub(crate) target: Option<String>,
    pub(crate) path: PathBuf,
    /// The folder of the package, where cargo would run it.
    pub(crate) folder: PathBuf,
}

impl Program {
    /// Whether it has no test harness: it passes by exiting with 0.
    pub(crate) fn is_example(&self) -> bool {
        self.folder.starts_with(source::root().join("examples"))
    }

    /// `locks it`, or `locks` for unit tests.
    pub(crate) fn label(&self) -> String {
        match &self.target {
            Some(target) => format!("{} {target}", self.package),
            None => self.package.clone(),
        }
    }
}

impl Build {
    /// Builds, with cargo's progress on stderr.
    ///
    /// # Errors
    /// When something does not compile.
    pub(crate) fn run(&self) -> Result<Built, String> {
        println!("== build");
        let cannot = |error: std::io::Error| format!("cannot run cargo: {error}");
        let mut child = self.command().stdout(Stdio::piped()).spawn().map_err(cannot)?;
        let mut built = Built::default();
        for line in BufReader::new(child.stdout.take().expect("stdout is piped")).lines() {
            match executable(&line.map_err(cannot)?) {
                Some(Executable::Test(program)) if self.selects(&program) => built.programs.push(program),
                Some(Executable::Services(path)) => built.services = path,
                _ => (),
            }
        }
        match child.wait().map_err(cannot)?.success() {
            true => Ok(built),
            false => Err("the tests do not build".to_owned()),
        }
    }

    fn command(&self) -> Command {
        let mut command = cargo();
        command.args(["test", "--no-run", "--locked", "--all-features", "--tests"]);
        command.arg("--message-format=json-render-diagnostics");
        match self.packages.as_slice() {
            [] => drop(command.arg("--workspace")),
            packages => {
                let packages = packages.iter().map(String::as_str).chain(WITH_EVERY_SELECTION);
                command.args(packages.flat_map(|package| ["--package", package]));
            }
        }
        if self.is_release {
            command.arg("--release");
        }
        command
    }

    /// The command that runs the examples in comments, unless only programs are asked for, which have none. Only cargo can run
    /// them: rustdoc compiles them.
    pub(super) fn documentation(&self) -> Option<Command> {
        let libraries: Vec<&String> =
            self.packages.iter().filter(|package| package.starts_with("leasehold-")).collect();
        let mut command = cargo();
        command.args(["test", "--doc", "--all-features", "--locked", "--no-fail-fast"]);
        match (self.packages.as_slice(), libraries.as_slice()) {
            ([], _) => command.arg("--workspace"),
            (_, []) => return None,
            (_, libraries) => command.args(libraries.iter().flat_map(|name| ["--package", name.as_str()])),
        };
        Some(command)
    }

    /// Whether the program is asked for, or only came with the services.
    fn selects(&self, program: &Program) -> bool {
        let selected =
            |package: &String| package.strip_prefix("leasehold-").unwrap_or(package) == program.package;
        self.packages.is_empty() || self.packages.iter().any(selected)
    }
}

enum Executable {
    Test(Program),
    Services(PathBuf),
}

/// What a message of cargo announces, if it is of use here.
fn executable(line: &str) -> Option<Executable> {
    let message: Value = serde_json::from_str(line).ok()?;
    let path = PathBuf::from(message["executable"].as_str()?);
    let name = message["target"]["name"].as_str()?.to_owned();
    if message["profile"]["test"] != Value::Bool(true) {
        return (name == "leasehold-services").then_some(Executable::Services(path));
    }
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let package = folder.file_name()?.to_string_lossy().into_owned();
    let target = (message["target"]["kind"][0] == "test").then_some(name);
    Some(Executable::Test(Program { package, target, path, folder }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The packages that are compiled for the tests of a selection, each with its features.
    fn features(selection: &[&str]) -> BTreeSet<String> {
        let mut command = cargo();
        command.args(["tree", "--locked", "--all-features", "--edges", "normal,build,dev", "--no-dedupe"]);
        command.args(["--prefix", "none", "--format", "{p} {f}"]).args(selection);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    }

    /// Else everything below is compiled again: minutes for whoever goes from all tests to those of one crate.
    #[test]
    fn one_crate_is_built_with_the_features_of_the_workspace() {
        let workspace = features(&["--workspace"]);
        for package in ["leasehold-core", "leasehold-txn", "leasehold-locks", "leasehold-cli"] {
            let mut selection = vec!["--package", package];
            selection.extend(WITH_EVERY_SELECTION.iter().flat_map(|with| ["--package", with]));
            let other: Vec<String> = features(&selection).difference(&workspace).cloned().collect();
            assert_eq!(other, Vec::<String>::new(), "{package}: see crates/unified/Cargo.toml");
        }
    }

    fn program(kind: &str, test: bool, executable: &str) -> Option<Program> {
        let message = format!(
            r#"{{"reason":"compiler-artifact","manifest_path":"/x/crates/locks/Cargo.toml",
            "target":{{"kind":["{kind}"],"name":"it"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
        );
        match super::executable(&message)? {
            Executable::Test(program) => Some(program),
            Executable::Services(path) => panic!("{}", path.display()),
        }
    }

    #[test]
    fn test_programs_are_found_and_others_are_not() {
        let found = program("test", true, "\"/x/target/it-1\"").unwrap();
        assert_eq!(found.label(), "locks it");
        assert_eq!(found.folder, Path::new("/x/crates/locks"));
        assert_eq!(program("lib", true, "\"/x\"").unwrap().label(), "locks");
        assert_eq!(program("lib", false, "null"), None);
        assert_eq!(program("bin", false, "\"/x\""), None);
        assert!(super::executable("   Compiling").is_none());
    }

    #[test]
    fn partial_build_brings_the_services_and_does_not_run_their_tests() {
        let partial = Build { packages: vec!["leasehold-locks".to_owned()], is_release: false };
        let words: Vec<String> =
            partial.command().get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let has = |word: &str| words.iter().any(|other| other == word);
        assert!(WITH_EVERY_SELECTION.iter().all(|package| has(package)) && !has("--workspace"));
        let locks = program("test", true, "\"/x\"").unwrap();
        assert!(partial.selects(&locks));
        assert!(!partial.selects(&Program { package: "testkit".to_owned(), ..locks.clone() }));
        assert!(Build::default().selects(&locks));
    }
}
