//! How much a Redis server promises to keep.

/// Settings of a server, or of every node of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    values: Vec<(String, String)>,
}

impl Settings {
    /// Nothing is written to disk; a killed server comes back empty.
    #[must_use]
    pub fn volatile() -> Settings {
        Settings { values: Vec::new() }.with("save", "").with("appendonly", "no")
    }

    /// Every write is on disk before it is answered, and survives `kill -9`.
    #[must_use]
    pub fn durable() -> Settings {
        Settings { values: Vec::new() }
            .with("save", "")
            .with("appendonly", "yes")
            .with("appendfsync", "always")
    }

    /// Sets any setting of `redis.conf`; the last value of a name counts.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Settings {
        self.values.push((name.into(), value.into()));
        self
    }

    /// Sets what is not set yet.
    pub(super) fn or(self, name: &str, value: &str) -> Settings {
        match self.values.iter().any(|(set, _)| set == name) {
            true => self,
            false => self.with(name, value),
        }
    }

    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        self.values.iter().flat_map(|(name, value)| [format!("--{name}"), value.clone()])
    }
}
