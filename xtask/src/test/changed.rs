//! Which packages a change can break: those whose files differ from a revision, and all that depend on them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cargo::{cargo, read};
use crate::source;

/// What decides how everything is built.
const EVERYWHERE: [&str; 5] = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", ".cargo/", ".ci/"];
/// Places whose files tests of another package read: those of the command line, of the fuzz targets, and of the reasons for which
/// tests are ignored.
const READ_BY: [(&str, &str); 6] = [
    ("README.md", "leasehold-cli"),
    ("docs/", "leasehold-cli"),
    ("ops/", "leasehold-cli"),
    ("examples/clients/", "leasehold-cli"),
    ("fuzz/", "leasehold-fuzz-entry"),
    ("crates/", "xtask"),
];

/// The packages to test; `None` for all of them.
///
/// # Errors
/// When git does not know the revision, or cargo cannot read the workspace.
pub(super) fn packages(revision: &str) -> Result<Option<Vec<String>>, String> {
    let mut files = lines(git(&["diff", "--name-only", "--no-renames", revision, "--"]))?;
    files.extend(lines(git(&["ls-files", "--others", "--exclude-standard"]))?);
    let metadata = read(cargo().args(["metadata", "--no-deps", "--format-version", "1", "--locked"]))?;
    let metadata: Value =
        serde_json::from_slice(&metadata.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    Ok(affected(&files, &Workspace::of(&metadata)))
}

fn git(words: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(words).current_dir(source::root());
    command
}

fn lines(mut command: Command) -> Result<Vec<String>, String> {
    let output = read(&mut command)?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()),
        false => Err("git cannot compare with that revision".to_owned()),
    }
}

/// Folders of packages, and who depends on whom.
struct Workspace {
    folders: Vec<(PathBuf, String)>,
    dependents: BTreeMap<String, BTreeSet<String>>,
}

impl Workspace {
    fn of(metadata: &Value) -> Self {
        let mut workspace = Workspace { folders: Vec::new(), dependents: BTreeMap::new() };
        for package in metadata["packages"].as_array().into_iter().flatten() {
            let name = package["name"].as_str().unwrap_or_default().to_owned();
            let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
            let folder = manifest.parent().unwrap_or(manifest);
            let folder = folder.strip_prefix(source::root()).unwrap_or(folder).to_owned();
            workspace.folders.push((folder, name.clone()));
            for dependency in package["dependencies"].as_array().into_iter().flatten() {
                if dependency["path"].is_string() {
                    let on = dependency["name"].as_str().unwrap_or_default().to_owned();
                    workspace.dependents.entry(on).or_default().insert(name.clone());
                }
            }
        }
        workspace
    }
}

fn affected(files: &[String], workspace: &Workspace) -> Option<Vec<String>> {
    let mut pending: Vec<String> = Vec::new();
    for file in files {
        let is_below = |place: &str| file == place || place.ends_with('/') && file.starts_with(place);
        if EVERYWHERE.iter().any(|place| is_below(place)) {
            return None;
        }
        let readers = READ_BY.iter().filter(|(place, _)| is_below(place));
        pending.extend(readers.map(|(_, package)| (*package).to_owned()));
        let owner = workspace.folders.iter().find(|(folder, _)| Path::new(file).starts_with(folder));
        pending.extend(owner.map(|(_, name)| name.clone()));
    }
    let mut all = BTreeSet::new();
    while let Some(name) = pending.pop() {
        if all.insert(name.clone()) {
            pending.extend(workspace.dependents.get(&name).into_iter().flatten().cloned());
        }
    }
    Some(all.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn affected(files: &[&str]) -> Option<Vec<String>> {
        let package = |name: &str, folder: &str, on: &[&str]| {
            let dependencies: Vec<Value> =
                on.iter().map(|name| serde_json::json!({ "name": name, "path": "/x" })).collect();
            let manifest_path = source::root().join(folder).join("Cargo.toml");
            serde_json::json!({ "name": name, "manifest_path": manifest_path, "dependencies": dependencies })
        };
        let metadata = serde_json::json!({ "packages": [
            package("leasehold-core", "crates/core", &[]),
            package("leasehold-locks", "crates/locks", &["leasehold-core"]),
            package("leasehold-cli", "crates/cli", &["leasehold-locks"]),
            package("xtask", "xtask", &[]),
        ] });
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        super::affected(&files, &Workspace::of(&metadata))
    }

    #[test]
    fn dependents_are_affected_and_others_are_not() {
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            affected(&["crates/locks/src/lib.rs"]),
            names(&["leasehold-cli", "leasehold-locks", "xtask"])
        );
        assert_eq!(affected(&["fuzz/fuzz_targets/key.rs"]), names(&["leasehold-fuzz-entry"]));
        assert_eq!(affected(&["xtask/src/main.rs"]), names(&["xtask"]));
        assert_eq!(affected(&["README.md", "CHANGELOG.md"]), names(&["leasehold-cli"]));
        assert_eq!(affected(&["CHANGELOG.md"]), names(&[]));
    }

    #[test]
    fn lock_file_affects_everything() {
        assert_eq!(affected(&["xtask/src/main.rs", "Cargo.lock"]), None);
    }
}
