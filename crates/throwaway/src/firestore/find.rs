//! Finds the emulator on this machine: a running one, or its jar and a Java to run it with.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Error, Found, Result, Service, TIME_LIMIT, program};

/// Where Google's Debian package puts it.
const DEBIAN: &str =
    "/usr/lib/google-cloud-sdk/platform/cloud-firestore-emulator/cloud-firestore-emulator.jar";
/// Names the jar, and nothing else is looked at.
const JAR: &str = "LEASEHOLD_FIRESTORE_EMULATOR_JAR";
/// Names a running emulator, as it does for Google's own clients.
const HOST: &str = "FIRESTORE_EMULATOR_HOST";

/// Where to look; a value, so that a test can look elsewhere.
#[derive(Debug)]
struct Places {
    only: Option<PathBuf>,
    debian: PathBuf,
    java: OsString,
}

/// `host:port` of the emulator the environment names.
pub(super) fn given() -> Option<String> {
    env::var(HOST).ok().filter(|host| !host.is_empty())
}

/// The emulator that [`super::Emulator::shared`] would use.
pub(crate) fn find() -> Result<Found> {
    match given() {
        Some(host) => Ok(Found { version: "running".to_owned(), bin: host.into() }),
        None => find_jar(),
    }
}

/// The jar, with the version of the Java that runs it: the emulator itself tells none.
pub(super) fn find_jar() -> Result<Found> {
    find_in(&Places {
        only: env::var_os(JAR).map(PathBuf::from),
        debian: PathBuf::from(DEBIAN),
        java: "java".into(),
    })
}

fn find_in(places: &Places) -> Result<Found> {
    let missing = |advice: String| Error::Missing { service: Service::Firestore, advice };
    let jar: &Path = places.only.as_deref().unwrap_or(&places.debian);
    if !jar.is_file() {
        return Err(missing(match &places.only {
            Some(only) => format!("{JAR} is {}, which is no file", only.display()),
            None => Service::Firestore.install_command(),
        }));
    }
    let told = program::run(Command::new(&places.java).arg("-version"), TIME_LIMIT);
    let version = told.ok().as_deref().and_then(java_version).map(|version| format!("java-{version}"));
    let version = version.ok_or_else(|| {
        missing("no working java, which runs the emulator: apt-get install default-jre-headless".to_owned())
    })?;
    Ok(Found { version, bin: jar.to_path_buf() })
}

/// `openjdk version "17.0.15" 2025-04-15` and the like.
fn java_version(told: &str) -> Option<&str> {
    told.split('"').nth(1).filter(|version| version.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::{Places, find_in, java_version};
    use std::{fs, os::unix::fs::PermissionsExt, path::Path};

    fn java(machine: &Path, prints: &str) -> std::ffi::OsString {
        let path = machine.join("java");
        fs::write(&path, format!("#!/bin/sh\necho '{prints}' >&2\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.into()
    }

    #[test]
    fn missing_jar_names_the_package_and_java() {
        let machine = tempfile::tempdir().unwrap();
        let places = Places { only: None, debian: machine.path().join("none"), java: "java".into() };
        let told = find_in(&places).unwrap_err().to_string();
        assert!(told.contains("google-cloud-cli-firestore-emulator") && told.contains("jre"), "{told}");
    }

    #[test]
    fn named_jar_is_the_only_place() {
        let machine = tempfile::tempdir().unwrap();
        let (jar, java) = (machine.path().join("e.jar"), java(machine.path(), r#"openjdk version "21.0.1""#));
        fs::write(&jar, "").unwrap();
        let found = |only: &str| {
            find_in(&Places {
                only: Some(machine.path().join(only)),
                debian: jar.clone(),
                java: java.clone(),
            })
        };
        assert_eq!(found("e.jar").unwrap().version, "java-21.0.1");
        let told = found("absent.jar").unwrap_err().to_string();
        assert!(told.contains("LEASEHOLD_FIRESTORE_EMULATOR_JAR is "), "{told}");
    }

    #[test]
    fn jar_without_java_is_missing() {
        let machine = tempfile::tempdir().unwrap();
        let jar = machine.path().join("e.jar");
        fs::write(&jar, "").unwrap();
        let told = |java| {
            let places = Places { only: None, debian: jar.clone(), java };
            find_in(&places).unwrap_err().to_string()
        };
        for told in [told("/nonexistent/java".into()), told(java(machine.path(), "not a java"))] {
            assert!(told.contains("apt-get install default-jre-headless"), "{told}");
        }
    }

    #[test]
    fn version_is_the_quoted_one() {
        assert_eq!(java_version("openjdk version \"17.0.15\" 2025-04-15\nmore"), Some("17.0.15"));
        assert_eq!(java_version("java: not found"), None);
        assert_eq!(java_version("say \"hello\""), None);
    }
}
