//! Where servers keep their data: one folder per server, short names, swept when their owner is gone.

use std::{
    fs::{DirBuilder, File},
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use crate::{Error, Result, account, account::Account, guardian::Guardian, memory};

/// A unix socket's path must fit in 108 bytes with its closing zero; the longest tail we add is
/// `/4194304-9999/.s.PGSQL.65535`.
const ROOT_BYTES_MAX: usize = 70;
/// A younger folder may be in the making by another process, its lock not yet taken.
const SWEEP_AGE: Duration = Duration::from_secs(60);

static NEXT: AtomicU32 = AtomicU32::new(0);
static SWEPT: OnceLock<()> = OnceLock::new();
static MEMORY: OnceLock<Option<&'static Path>> = OnceLock::new();

/// What a server's folder is kept on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    Disk,
    /// Where there is enough of it; else on disk. A new database is several times faster there.
    Memory,
}

/// The folder all of one user's test processes share: templates, server folders, state of detached services.
pub(crate) fn root(account: &Account) -> Result<PathBuf> {
    let wanted = std::env::temp_dir();
    let name_bytes = name()?.len() + 1;
    let fits = wanted.as_os_str().len() + name_bytes <= ROOT_BYTES_MAX && open_to_all(&wanted);
    root_in(if fits { &wanted } else { Path::new("/tmp") }, account)
}

fn name() -> Result<String> {
    Ok(format!("leasehold-testkit-{}", account::own_uid()?))
}

fn root_in(place: &Path, account: &Account) -> Result<PathBuf> {
    let root = place.join(name()?);
    make(&root, 0o755)?;
    let found = std::fs::symlink_metadata(&root).map_err(Error::folder("look at", &root))?;
    // Somebody else's folder under our name could feed us a forged data folder.
    if !found.is_dir() || (found.uid() != account.uid && found.uid() != account::own_uid()?) {
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        return Err(Error::folder("trust the owner of", root)(denied));
    }
    account.take_over(&root)?;
    Ok(root)
}

/// A new, empty folder for one server.
pub(crate) fn fresh(account: &Account, medium: Medium) -> Result<PathBuf> {
    let disk = root(account)?;
    let memory = MEMORY.get_or_init(memory::place).map(|place| root_in(place, account)).transpose()?;
    SWEPT.get_or_init(|| {
        for root in [Some(&disk), memory.as_ref()].into_iter().flatten() {
            sweep(root, account);
        }
    });
    let root = memory.filter(|_| medium == Medium::Memory).unwrap_or(disk);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = root.join(format!("{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => {
                account.take_over(&path)?;
                return Ok(path);
            }
            // An earlier process with our id left it behind.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::folder("make", path)(error)),
        }
    }
}

fn make(path: &Path, mode: u32) -> Result<()> {
    match DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(Error::folder("make", path)(error))
        }
        _ => Ok(()),
    }
}

/// Whether any account can walk into `path`: root's own temporary folder may be closed to the server's account.
fn open_to_all(path: &Path) -> bool {
    path.ancestors()
        .all(|part| std::fs::metadata(part).is_ok_and(|found| found.permissions().mode() & 1 == 1))
}

/// Ends what a guardian could not: it was killed itself, or the machine went down. Best effort, because a leftover
/// must not fail the run that found it.
fn sweep(root: &Path, account: &Account) {
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        if is_server_folder(&entry.file_name().to_string_lossy()) && is_abandoned(&entry.path()) {
            Guardian::clean(account, &entry.path());
        }
    }
}

fn is_server_folder(name: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    name.split_once('-').is_some_and(|(pid, number)| digits(pid) && digits(number))
}

fn is_abandoned(folder: &Path) -> bool {
    let aged = std::fs::metadata(folder)
        .and_then(|found| found.modified())
        .is_ok_and(|at| at.elapsed().is_ok_and(|age| age > SWEEP_AGE));
    // The guardian holds this lock for as long as it lives.
    aged && File::open(folder.join(Guardian::LOCK)).map_or(true, |lock| lock.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::{is_abandoned, is_server_folder};

    #[test]
    fn only_server_folders_are_swept() {
        assert!(is_server_folder("4711-0"));
        for other in ["pg-15.18", "services.json", "4711-", "-1", "4711"] {
            assert!(!is_server_folder(other), "{other}");
        }
    }

    #[test]
    fn young_folder_is_left_to_its_maker() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_abandoned(folder.path()));
    }
}
