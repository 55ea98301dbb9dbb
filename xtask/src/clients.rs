//! The clients in other languages: each is run if what it needs is installed, and named as not run if not.

use std::path::Path;

/// A test of `foreign_clients`, and the programs it needs.
pub(crate) struct Client {
    pub(crate) name: &'static str,
    programs: &'static [&'static str],
}

pub(crate) const ALL: [Client; 4] = [
    Client { name: "curl", programs: &["bash", "curl"] },
    Client { name: "python", programs: &["python3"] },
    Client { name: "node", programs: &["node"] },
    Client { name: "go", programs: &["go"] },
];

impl Client {
    /// The test that runs it.
    pub(crate) fn test(&self) -> String {
        format!("{}_is_served", self.name)
    }

    /// The first program that is not installed.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<_> = std::env::split_paths(&path).collect();
        let is_there = |program: &str| folders.iter().any(|folder| Path::new(folder).join(program).is_file());
        self.programs.iter().copied().find(|program| !is_there(program))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_program_is_named() {
        let client = Client { name: "x", programs: &["sh", "no-such-program"] };
        assert_eq!(client.missing(), Some("no-such-program"));
        assert_eq!(Client { name: "x", programs: &["sh"] }.missing(), None);
    }
}
