//! How much a cluster promises to keep.

use crate::folder::Medium;

/// Server settings of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    medium: Medium,
    values: Vec<(String, String)>,
}

/// A killed server leaves files of this kind inside its data folder, where they go with it; the default leaves them
/// in the machine's shared memory.
const TIDY: [(&str, &str); 5] = [
    ("dynamic_shared_memory_type", "mmap"),
    // Compiling a statement takes longer than any statement of a test, and tests of plans want the same everywhere.
    ("jit", "off"),
    ("shared_buffers", "32MB"),
    ("max_connections", "200"),
    ("min_wal_size", "32MB"),
];

impl Settings {
    /// Nothing survives a crash, everything is fast: the right choice unless the test kills the server. The data is
    /// kept in memory where the machine has 2 GiB to spare, so a test that writes gigabytes takes the other.
    #[must_use]
    pub fn fast() -> Settings {
        Settings::tidy(Medium::Memory)
            .with("fsync", "off")
            .with("full_page_writes", "off")
            .with("synchronous_commit", "off")
    }

    /// A commit that was answered survives `kill -9`, as in production.
    #[must_use]
    pub fn durable() -> Settings {
        Settings::tidy(Medium::Disk)
            .with("fsync", "on")
            .with("full_page_writes", "on")
            .with("synchronous_commit", "on")
    }

    fn tidy(medium: Medium) -> Settings {
        let values = TIDY.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Settings { medium, values }
    }

    /// Sets any server setting (`lock_timeout`, `max_connections`, …); the last value of a name counts.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Settings {
        self.values.push((name.into(), value.into()));
        self
    }

    pub(super) fn medium(&self) -> Medium {
        self.medium
    }

    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        self.values.iter().flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")])
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn own_value_comes_after_the_preset() {
        let words: Vec<String> = Settings::fast().with("max_connections", "7").words().collect();
        let at = |word: &str| words.iter().position(|found| found == word).unwrap();
        assert!(at("max_connections=7") > at("max_connections=200"));
        assert_eq!(words[at("fsync=off") - 1], "-c");
    }
}
