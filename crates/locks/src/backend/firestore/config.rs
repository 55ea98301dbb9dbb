//! Where the locks are and how they are reached.

use std::path::PathBuf;
use std::time::Duration;

use leasehold_core::firestore::{Collections, NestedKeys};

use super::skew::SkewCheck;

/// A Firestore database and the way to it. [`Config::new`] has the defaults of SyncGuard.
#[derive(Debug, Clone)]
pub struct Config {
    pub(super) project: String,
    pub(super) database: String,
    pub(super) collections: Collections,
    pub(super) nested_keys: NestedKeys,
    pub(super) cleanup_in_is_locked: bool,
    pub(super) skew_check: SkewCheck,
    pub(super) timeout: Duration,
    pub(super) target: Target,
}

/// Which server, and who we are to it.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// Google, with the credentials of this file or else those of the environment.
    Google { credentials_file: Option<PathBuf> },
    /// Google's emulator at `host:port`. It takes no encryption and checks nobody.
    Emulator(String),
}

impl Config {
    /// The database every project has.
    pub const DEFAULT_DATABASE: &str = "(default)";
    /// How long one call of the store may take, and after which no call is made again.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
    /// The longest such time.
    pub const TIMEOUT_MAX: Duration = Duration::from_secs(3_600);

    /// Google's Firestore in this project, with the credentials of the environment: the file that
    /// `GOOGLE_APPLICATION_CREDENTIALS` names, those of `gcloud`, or those of the machine.
    pub fn new(project: impl Into<String>) -> Self {
        Config {
            project: project.into(),
            database: Self::DEFAULT_DATABASE.into(),
            collections: Collections::default(),
            nested_keys: NestedKeys::default(),
            cleanup_in_is_locked: false,
            skew_check: SkewCheck::default(),
            timeout: Self::DEFAULT_TIMEOUT,
            target: Target::Google { credentials_file: None },
        }
    }

    /// Another database of the project.
    #[must_use]
    pub fn database(self, database: impl Into<String>) -> Self {
        Config { database: database.into(), ..self }
    }

    /// Other collections. Every process that contends for the same keys must name the same ones.
    #[must_use]
    pub fn collections(self, collections: Collections) -> Self {
        Config { collections, ..self }
    }

    /// What to do with keys that hold a `/`.
    #[must_use]
    pub fn nested_keys(self, nested_keys: NestedKeys) -> Self {
        Config { nested_keys, ..self }
    }

    /// Whether asking for a key deletes its hold if that ended more than two seconds ago. Fence counters stay.
    #[must_use]
    pub fn cleanup_in_is_locked(self, cleanup: bool) -> Self {
        Config { cleanup_in_is_locked: cleanup, ..self }
    }

    /// What to do when our clock and Firestore's disagree.
    #[must_use]
    pub fn skew_check(self, skew_check: SkewCheck) -> Self {
        Config { skew_check, ..self }
    }

    /// How long one call of the store may take, and after which no call is made again; more than nothing and at most
    /// [`Config::TIMEOUT_MAX`], which is looked at when a connection is made.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Config { timeout, ..self }
    }

    /// The key file of a service account, in place of the credentials of the environment.
    #[must_use]
    pub fn credentials_file(self, path: impl Into<PathBuf>) -> Self {
        Config { target: Target::Google { credentials_file: Some(path.into()) }, ..self }
    }

    /// The emulator at `host:port`, as `FIRESTORE_EMULATOR_HOST` has it.
    #[must_use]
    pub fn emulator(self, address: impl Into<String>) -> Self {
        Config { target: Target::Emulator(address.into()), ..self }
    }
}
