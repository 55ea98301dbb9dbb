//! Installs a missing server package, when that was allowed.

use std::{env, process::Command, time::Duration};

use crate::{Error, Result, Service, account, program};

const SCRIPT: &str = include_str!("install.sh");
/// Set by the developer command; a plain `cargo test` never changes the machine.
const WANTED: &str = "LEASEHOLD_INSTALL";
/// A download over a slow line, not a hang: `apt-get` itself gives up on a silent mirror after seconds.
const LIMIT: Duration = Duration::from_secs(300);

/// How commands get root's rights here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rights {
    Root,
    Sudo,
    None,
}

pub(crate) fn is_wanted() -> bool {
    env::var(WANTED).is_ok_and(|value| value == "1")
}

/// Installs the package of `service`; its own system service is not started.
pub(crate) fn install(service: Service) -> Result<()> {
    let rights = rights()?;
    if let Some(advice) = refusal(service, has_apt(), rights) {
        return Err(Error::Missing { service, advice });
    }
    let mut command = match rights {
        Rights::Sudo => Command::new("sudo"),
        _ => Command::new("sh"),
    };
    if rights == Rights::Sudo {
        command.args(["-n", "sh"]);
    }
    command.args(["-c", SCRIPT, "leasehold-install", service.package()]);
    program::run(&mut command, LIMIT).map(drop)
}

impl Service {
    /// Installs the Debian package, whatever `LEASEHOLD_INSTALL` says: the caller was asked to.
    ///
    /// # Errors
    /// [`Error::Missing`] when this machine or account cannot install it, [`Error::Program`] when installing failed.
    pub fn install(self) -> Result<crate::Found> {
        if let Ok(found) = self.find() {
            return Ok(found);
        }
        install(self)?;
        self.find()
    }
}

/// Why the package cannot be installed from here, with what to do instead.
fn refusal(service: Service, has_apt: bool, rights: Rights) -> Option<String> {
    let command = service.install_command();
    if service == Service::Firestore {
        return Some(command);
    }
    if !has_apt {
        let variable = service.variable();
        return Some(format!(
            "no apt-get here; install {service} and set {variable} to the folder of its programs"
        ));
    }
    (rights == Rights::None).then(|| format!("{command} (as root: neither root nor passwordless sudo here)"))
}

fn has_apt() -> bool {
    env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join("apt-get").exists()))
}

fn rights() -> Result<Rights> {
    if account::own_uid()? == 0 {
        return Ok(Rights::Root);
    }
    let sudo = program::run(Command::new("sudo").args(["-n", "true"]), Duration::from_secs(5));
    Ok(if sudo.is_ok() { Rights::Sudo } else { Rights::None })
}

#[cfg(test)]
mod tests {
    use super::{Rights, refusal};
    use crate::Service;

    #[test]
    fn machine_without_apt_is_told_the_variable() {
        let advice = refusal(Service::Postgres, false, Rights::Root).unwrap();
        assert!(advice.contains("LEASEHOLD_POSTGRES_BIN"), "{advice}");
    }

    #[test]
    fn account_without_rights_is_told_the_command() {
        let advice = refusal(Service::Redis, true, Rights::None).unwrap();
        assert!(advice.starts_with("apt-get install redis-server (as root"), "{advice}");
    }

    #[test]
    fn firestore_is_never_installed_from_here() {
        let advice = refusal(Service::Firestore, true, Rights::Root).unwrap();
        assert!(advice.contains("Google's package source"), "{advice}");
    }

    #[test]
    fn root_and_sudo_may_install() {
        assert_eq!(refusal(Service::Redis, true, Rights::Root), None);
        assert_eq!(refusal(Service::Redis, true, Rights::Sudo), None);
    }
}
