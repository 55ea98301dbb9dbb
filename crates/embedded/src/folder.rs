//! The folder and its file, readable by their owner alone: payloads and keys are in there.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Creates the folder if it is missing. An existing folder keeps the permissions its owner gave it.
pub(crate) fn create(folder: &Path) -> Result<()> {
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(Error::NotAFolder { path: folder.to_owned() }),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => private_folder()
            .create(folder)
            .map_err(|source| Error::Folder { path: folder.to_owned(), source }),
        Err(source) => Err(Error::Folder { path: folder.to_owned(), source }),
    }
}

/// Opens the database file, creating it empty if it is missing.
pub(crate) fn open_file(path: &Path) -> Result<File> {
    private_file().open(path).map_err(|source| Error::Folder { path: path.to_owned(), source })
}

pub(crate) fn file_path(folder: &Path) -> PathBuf {
    folder.join("leasehold.redb")
}

fn private_folder() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
