//! Finds the programs of a server on this machine.

use std::{
    env,
    ffi::OsString,
    fmt, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Error, Result, TIME_LIMIT, firestore, install, program};

/// A server that tests can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// PostgreSQL.
    Postgres,
    /// Redis, alone or as a cluster.
    Redis,
    /// Google's Firestore emulator. Never installed from here: it comes from Google's own package source.
    Firestore,
    /// PgBouncer, which is nothing without a PostgreSQL behind it.
    PgBouncer,
    /// Prometheus, which watches others. It is found and installed here, and started by nobody.
    Prometheus,
}

/// Programs of a server, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The version the server tells.
    pub version: String,
    /// The folder of its programs; for Firestore its jar, or where it runs.
    pub bin: PathBuf,
}

/// Where to look; a value, so that a test can look elsewhere.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) only: Option<PathBuf>,
    pub(crate) path: OsString,
    /// Debian keeps PostgreSQL in `<this>/<version>/bin`, outside the path.
    pub(crate) debian: PathBuf,
}

impl Service {
    /// Every service that can be started by itself.
    pub const ALL: [Service; 3] = [Service::Postgres, Service::Redis, Service::Firestore];

    /// Every service, also those that need another one.
    const EVERY: [Service; 5] =
        [Service::Postgres, Service::Redis, Service::Firestore, Service::PgBouncer, Service::Prometheus];

    /// The service of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Service> {
        Service::EVERY.into_iter().find(|service| service.name() == name)
    }

    /// The name used on the command line and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Service::Postgres => "postgres",
            Service::Redis => "redis",
            Service::Firestore => "firestore",
            Service::PgBouncer => "pgbouncer",
            Service::Prometheus => "prometheus",
        }
    }

    /// The Debian package that brings the programs.
    #[must_use]
    pub fn package(self) -> &'static str {
        match self {
            Service::Postgres => "postgresql",
            Service::Redis => "redis-server",
            Service::Firestore => "google-cloud-cli-firestore-emulator",
            Service::PgBouncer => "pgbouncer",
            Service::Prometheus => "prometheus",
        }
    }

    /// Names a folder of programs, or for Firestore a jar, to use instead of looking for one.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Service::Postgres => "LEASEHOLD_POSTGRES_BIN",
            Service::Redis => "LEASEHOLD_REDIS_BIN",
            Service::Firestore => "LEASEHOLD_FIRESTORE_EMULATOR_JAR",
            Service::PgBouncer => "LEASEHOLD_PGBOUNCER_BIN",
            Service::Prometheus => "LEASEHOLD_PROMETHEUS_BIN",
        }
    }

    /// The server first: it is the one asked for its version.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Service::Postgres => &["postgres", "initdb"],
            Service::Redis => &["redis-server"],
            Service::Firestore => &["cloud_firestore_emulator", "java"],
            Service::PgBouncer => &["pgbouncer"],
            Service::Prometheus => &["prometheus", "promtool"],
        }
    }

    /// The programs as they are now, without installing anything.
    ///
    /// # Errors
    /// [`Error::Missing`] with the command that installs them.
    pub fn find(self) -> Result<Found> {
        if self == Service::Firestore {
            return firestore::find();
        }
        self.find_in(&Places {
            only: env::var_os(self.variable()).map(PathBuf::from),
            path: env::var_os("PATH").unwrap_or_default(),
            debian: PathBuf::from("/usr/lib/postgresql"),
        })
    }

    /// The programs, installed now if they are missing and installing is allowed (`LEASEHOLD_INSTALL=1`).
    ///
    /// # Errors
    /// [`Error::Missing`] with the command that installs them and the reason why it was not run.
    pub fn find_or_install(self) -> Result<Found> {
        match self.find() {
            Err(missing) if env::var_os(self.variable()).is_none() => {
                if install::is_wanted() {
                    install::install(self)?;
                    self.find()
                } else {
                    Err(missing)
                }
            }
            found => found,
        }
    }

    pub(crate) fn find_in(self, places: &Places) -> Result<Found> {
        let mut folders = Vec::new();
        if let Some(only) = &places.only {
            folders.push(only.clone());
        } else {
            folders.extend(env::split_paths(&places.path));
            if self == Service::Postgres {
                let versions = fs::read_dir(&places.debian).into_iter().flatten().flatten();
                folders.extend(versions.map(|entry| entry.path().join("bin")));
            }
        }
        folders
            .iter()
            .filter_map(|folder| self.probe(folder))
            .max_by_key(|found| numbers(&found.version))
            .ok_or_else(|| self.missing(places.only.as_deref()))
    }

    fn probe(self, folder: &Path) -> Option<Found> {
        let programs = self.programs();
        // A link in the path leads to the folder that has all programs. The name is kept: one program may serve
        // under several.
        let server = folder.join(programs[0]);
        let bin = server.canonicalize().ok()?.parent()?.to_path_buf();
        if !programs.iter().all(|program| bin.join(program).exists()) {
            return None;
        }
        let told = program::run(Command::new(server).arg("--version"), TIME_LIMIT).ok()?;
        Some(Found { version: version_in(&told)?.to_owned(), bin })
    }

    fn missing(self, only: Option<&Path>) -> Error {
        let advice = match only {
            Some(folder) => {
                let programs = self.programs().join(" and ");
                format!("{} is {}, which has no working {programs}", self.variable(), folder.display())
            }
            None => self.install_command(),
        };
        Error::Missing { service: self, advice }
    }

    pub(crate) fn install_command(self) -> String {
        let package = self.package();
        match self {
            Service::Postgres | Service::Redis | Service::PgBouncer | Service::Prometheus => {
                format!("apt-get install {package}")
            }
            Service::Firestore => format!(
                "add Google's package source (https://cloud.google.com/sdk/docs/install), then \
                 apt-get install {package} default-jre-headless; or set FIRESTORE_EMULATOR_HOST to one that runs"
            ),
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.version, self.bin.display())
    }
}

/// `postgres (PostgreSQL) 15.18 (Debian …)` and `Redis server v=7.0.15 sha=…` both name it in a word of digits and
/// dots, perhaps after `v=`.
fn version_in(told: &str) -> Option<&str> {
    told.split_whitespace()
        .map(|word| word.strip_prefix("v=").unwrap_or(word))
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()))
}

fn numbers(version: &str) -> Vec<u32> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Places, Service, version_in};
    use std::{ffi::OsString, fs, os::unix::fs::PermissionsExt, path::Path};

    fn program(folder: &Path, name: &str, prints: &str) {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\necho '{prints}'\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn postgres(folder: &Path, version: &str) {
        program(folder, "postgres", &format!("postgres (PostgreSQL) {version} (Debian)"));
        program(folder, "initdb", "");
    }

    fn places(machine: &Path) -> Places {
        Places { only: None, path: machine.join("path").into(), debian: machine.join("debian") }
    }

    #[test]
    fn highest_version_wins_by_number_not_by_text() {
        let machine = tempfile::tempdir().unwrap();
        postgres(&machine.path().join("path"), "9.6.24");
        postgres(&machine.path().join("debian/13/bin"), "13.20");
        postgres(&machine.path().join("debian/15/bin"), "15.9");
        postgres(&machine.path().join("debian/14/bin"), "14.11");
        let found = Service::Postgres.find_in(&places(machine.path())).unwrap();
        assert_eq!(found.version, "15.9");
        assert!(found.bin.ends_with("debian/15/bin"));
    }

    #[test]
    fn link_in_the_path_leads_to_the_programs() {
        let machine = tempfile::tempdir().unwrap();
        postgres(&machine.path().join("opt"), "16.1");
        fs::create_dir(machine.path().join("path")).unwrap();
        std::os::unix::fs::symlink(machine.path().join("opt/postgres"), machine.path().join("path/postgres"))
            .unwrap();
        let found = Service::Postgres.find_in(&places(machine.path())).unwrap();
        assert!(found.bin.ends_with("opt"), "{found:?}");
    }

    #[test]
    fn missing_programs_name_the_exact_command() {
        let machine = tempfile::tempdir().unwrap();
        let told = |service: Service| service.find_in(&places(machine.path())).unwrap_err().to_string();
        assert_eq!(told(Service::Postgres), "postgres missing: apt-get install postgresql");
        assert_eq!(told(Service::Redis), "redis missing: apt-get install redis-server");
    }

    #[test]
    fn server_without_its_helper_is_missing() {
        let machine = tempfile::tempdir().unwrap();
        program(&machine.path().join("path"), "postgres", "postgres (PostgreSQL) 15.1");
        assert!(Service::Postgres.find_in(&places(machine.path())).is_err());
        program(&machine.path().join("path"), "initdb", "");
        assert_eq!(Service::Postgres.find_in(&places(machine.path())).unwrap().version, "15.1");
    }

    #[test]
    fn named_folder_is_the_only_place() {
        let machine = tempfile::tempdir().unwrap();
        postgres(&machine.path().join("path"), "15.1");
        let only = Some(machine.path().join("empty"));
        let places = Places { only, ..places(machine.path()) };
        let told = Service::Postgres.find_in(&places).unwrap_err().to_string();
        assert!(told.contains("LEASEHOLD_POSTGRES_BIN is ") && told.contains("initdb"), "{told}");
    }

    #[test]
    fn empty_path_finds_nothing() {
        let nowhere = Places { only: None, path: OsString::new(), debian: "/nonexistent".into() };
        assert!(Service::Postgres.find_in(&nowhere).is_err());
    }

    #[test]
    fn version_is_read_from_both_servers() {
        assert_eq!(version_in("postgres (PostgreSQL) 17beta1"), Some("17beta1"));
        assert_eq!(version_in("Redis server v=7.0.15 sha=00000000:0 bits=64"), Some("7.0.15"));
        assert_eq!(version_in("no digits here"), None);
    }
}
