//! The files of the workspace, for the checks that read them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    // Two clones that share a target folder may share this program: the folder it was built in can be the other clone's.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).parent().expect("xtask lies in the workspace").to_owned()
});

/// The workspace's root, whatever folder the command was called from.
pub(crate) fn root() -> &'static Path {
    &ROOT
}

/// The folders under `crates/`, in order.
pub(crate) fn crates() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        entries(&root().join("crates")).into_iter().filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// The package that is called so: a folder under `crates/`, or one of the others by its own name.
pub(crate) fn package(name: &str) -> Option<String> {
    match name {
        "bench" => Some("leasehold-bench".to_owned()),
        "xtask" | "durable-timer" | "paused-holder" => Some(name.to_owned()),
        _ => crates().iter().any(|folder| folder.ends_with(name)).then(|| format!("leasehold-{name}")),
    }
}

/// All files below a folder whose name ends so, in order.
pub(crate) fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The text of a file of ours.
pub(crate) fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The path as a reader of the repository knows it.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()).map(|entry| entry.path()).collect()
}
