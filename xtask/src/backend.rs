//! The backends whose tests need a server. A backend's tests are the test targets that bear its name.

use std::path::Path;

use crate::{services, source};

/// A test target name, and what it needs.
pub(crate) struct Backend {
    pub(crate) name: &'static str,
    service: &'static str,
    /// Left out of the default build.
    pub(crate) feature: Option<&'static str>,
    /// Whether its service can be installed wherever packages can: then CI has no excuse.
    pub(crate) installable: bool,
}

pub(crate) const ALL: [Backend; 5] = [
    Backend { name: "postgres", service: "postgres", feature: None, installable: true },
    // The simulator needs nothing but the database behind it.
    Backend { name: "dsql", service: "postgres", feature: None, installable: true },
    Backend { name: "redis", service: "redis", feature: None, installable: true },
    Backend { name: "redis_cluster", service: "redis", feature: None, installable: true },
    Backend { name: "firestore", service: "firestore", feature: Some("firestore"), installable: false },
];

impl Backend {
    pub(crate) fn named(name: &str) -> Option<&'static Backend> {
        ALL.iter().find(|backend| backend.name == name)
    }

    /// The packages with tests for this backend.
    pub(crate) fn packages(&self) -> Vec<String> {
        let file = format!("tests/{}.rs", self.name);
        source::crates()
            .iter()
            .filter(|folder| folder.join(&file).exists())
            .map(|folder| package(folder))
            .collect()
    }

    /// Installs what is missing where that is allowed; otherwise says what to install.
    pub(crate) fn prepare(&self) -> Result<(), String> {
        services::install(self.service)
    }
}

/// The package in a folder under `crates/`.
pub(crate) fn package(folder: &Path) -> String {
    format!("leasehold-{}", folder.file_name().unwrap_or_default().to_string_lossy())
}
