//! The data folder that every cluster starts as a copy of: `initdb` takes half a second, a copy much less.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    thread,
    time::Instant,
};

use crate::{Error, Found, Result, TIME_LIMIT, account::Account, folder, folder::Medium, program};

/// Written last: a template without it is unfinished.
const COMPLETE: &str = "leasehold-complete";
/// Part of the template's name; changes with the arguments below so that an old template is not taken for a new one.
const RECIPE: u32 = 1;

/// Fills `data` from the template of this version, making the template first if need be.
pub(super) fn copy_to(data: &Path, found: &Found, account: &Account) -> Result<()> {
    let template = ensure(found, account)?;
    let mut copy = account.command("cp");
    copy.args(["-a", "--reflink=auto"]).arg(&template).arg(data);
    program::run(&mut copy, TIME_LIMIT).map(drop)
}

fn ensure(found: &Found, account: &Account) -> Result<PathBuf> {
    let root = folder::root(account)?;
    let name = format!("pg-{}-{RECIPE}", found.version);
    let template = root.join(&name);
    if is_complete(&template, found) {
        return Ok(template);
    }
    let _lock = lock(&root.join(format!("{name}.lock")))?;
    // Another process may have made it while we waited for the lock.
    if !is_complete(&template, found) {
        make(&template, found, account)?;
    }
    Ok(template)
}

fn make(template: &Path, found: &Found, account: &Account) -> Result<()> {
    let making = folder::fresh(account, Medium::Disk)?;
    let data = making.join("data");
    let mut initdb = account.command(found.bin.join("initdb"));
    initdb.arg("-D").arg(&data);
    initdb.args(["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8"]);
    initdb.args(["--locale=C", "--wal-segsize=1"]);
    program::run(&mut initdb, TIME_LIMIT)?;
    let complete = data.join(COMPLETE);
    fs::write(&complete, &found.version).map_err(Error::folder("write", &complete))?;
    account.take_over(&complete)?;
    if template.exists() {
        fs::remove_dir_all(template).map_err(Error::folder("remove the broken template", template))?;
    }
    fs::rename(&data, template).map_err(Error::folder("rename the new template to", template))?;
    fs::remove_dir_all(&making).map_err(Error::folder("remove", making))
}

fn is_complete(template: &Path, found: &Found) -> bool {
    let major = found.version.split(|c: char| !c.is_ascii_digit()).next();
    fs::read_to_string(template.join(COMPLETE)).is_ok_and(|version| version == found.version)
        && fs::read_to_string(template.join("PG_VERSION")).is_ok_and(|told| Some(told.trim()) == major)
        && template.join("global/pg_control").exists()
}

/// Waits for other processes that make the same template; the kernel frees the lock of one that died.
fn lock(path: &Path) -> Result<File> {
    let file = File::create(path).map_err(Error::folder("make", path))?;
    let deadline = Instant::now() + TIME_LIMIT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(program::POLL),
            Err(error) => return Err(Error::folder("lock", path)(error.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{COMPLETE, is_complete};
    use crate::Found;
    use std::fs;

    #[test]
    fn template_counts_only_when_whole_and_of_this_version() {
        let found = Found { version: "15.18".into(), bin: "/usr/bin".into() };
        let template = tempfile::tempdir().unwrap();
        let path = template.path();
        fs::create_dir(path.join("global")).unwrap();
        fs::write(path.join("global/pg_control"), "").unwrap();
        fs::write(path.join("PG_VERSION"), "15\n").unwrap();
        assert!(!is_complete(path, &found), "unfinished");
        fs::write(path.join(COMPLETE), "15.18").unwrap();
        assert!(is_complete(path, &found));
        fs::write(path.join("PG_VERSION"), "14\n").unwrap();
        assert!(!is_complete(path, &found), "other version");
    }
}
