//! Which programs the machine has.

use std::path::Path;

/// The first of these that is not on the path.
pub(crate) fn missing(programs: &[&'static str]) -> Option<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let is_there = |program: &str| folders.iter().any(|folder| Path::new(folder).join(program).is_file());
    programs.iter().copied().find(|program| !is_there(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_program_is_named() {
        assert_eq!(missing(&["sh", "no-such-program"]), Some("no-such-program"));
        assert_eq!(missing(&["sh"]), None);
    }
}
