//! Which programs the machine has.

use std::ffi::OsString;
use std::path::Path;

/// The first of these that is not on the path.
pub(crate) fn missing<'a>(programs: &[&'a str]) -> Option<&'a str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let is_there = |program: &str| folders.iter().any(|folder| Path::new(folder).join(program).is_file());
    programs.iter().copied().find(|program| !is_there(program))
}

/// The path, with a folder before all others.
pub(crate) fn path_after(first: &Path) -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [first.to_path_buf()].into_iter().chain(std::env::split_paths(&path));
    // Only a folder with a colon in its name cannot be in a path.
    std::env::join_paths(folders).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_program_is_named() {
        assert_eq!(missing(&["sh", "no-such-program"]), Some("no-such-program"));
        assert_eq!(missing(&["sh"]), None);
    }

    #[test]
    fn folder_is_looked_into_first() {
        let path = path_after(Path::new("/first"));
        assert_eq!(std::env::split_paths(&path).next().as_deref(), Some(Path::new("/first")));
        assert!(std::env::split_paths(&path).count() > 1, "{path:?}");
    }
}
