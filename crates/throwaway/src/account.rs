//! The unprivileged account that servers run as.

use std::{
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::Path,
    process::Command,
};

use crate::{Error, Result};

/// PostgreSQL refuses to run as root, and a test server has no business with root's rights.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) uid: u32,
    gid: u32,
    /// Whether it differs from the account of this process.
    switch: bool,
}

impl Account {
    pub(crate) fn for_servers() -> Result<Account> {
        let own = own_uid()?;
        if own != 0 {
            return Ok(Account { uid: own, gid: 0, switch: false });
        }
        let passwd = std::fs::read_to_string("/etc/passwd").map_err(Error::folder("read", "/etc/passwd"))?;
        let (uid, gid) =
            ["postgres", "nobody"].iter().find_map(|name| ids(&passwd, name)).ok_or(Error::NoAccount)?;
        Ok(Account { uid, gid, switch: true })
    }

    /// A command that runs under this account, with nothing of the caller's environment but the path: a stray
    /// `PGDATA` or a locale must not change what a server does or how its log reads.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("LC_ALL", "C").env("TZ", "UTC");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
        command.current_dir("/");
        if self.switch {
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    pub(crate) fn take_over(&self, path: &Path) -> Result<()> {
        if self.switch {
            std::os::unix::fs::chown(path, Some(self.uid), Some(self.gid))
                .map_err(Error::folder("give to the server account", path))?;
        }
        Ok(())
    }
}

/// The uid of this process: the owner of its own folder in `/proc`, which needs no unsafe call.
pub(crate) fn own_uid() -> Result<u32> {
    Ok(std::fs::metadata("/proc/self").map_err(Error::folder("look at", "/proc/self"))?.uid())
}

fn ids(passwd: &str, name: &str) -> Option<(u32, u32)> {
    let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::ids;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nnotpostgres:x:7:7::/:\npostgres:x:101:104:,,,:/:/bin/sh\nbroken:x\n";

    #[test]
    fn account_is_found_by_its_whole_name() {
        assert_eq!(ids(PASSWD, "postgres"), Some((101, 104)));
        assert_eq!(ids(PASSWD, "post"), None);
    }

    #[test]
    fn broken_line_is_no_account() {
        assert_eq!(ids(PASSWD, "broken"), None);
    }
}
