//! Which store a folder holds: a random id, in the file and in a marker beside it that outlives the file.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::{Error, Result, folder};

/// A random number that a store gets when it is created. A file with another id is another store, whose fences say
/// nothing about the holds of this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreId(pub(crate) u128);

impl StoreId {
    pub(crate) fn generate() -> io::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(StoreId(u128::from_be_bytes(random)))
    }
}

impl fmt::Display for StoreId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:032x}", self.0)
    }
}

pub(crate) fn marker_path(folder: &Path) -> PathBuf {
    folder.join("leasehold.id")
}

/// The id in the marker; `None` without a marker.
pub(crate) fn marked(folder: &Path) -> Result<Option<StoreId>> {
    let path = marker_path(folder);
    let failed = |source| Error::Folder { path: path.clone(), source };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed(source)),
    };
    match u128::from_str_radix(text.trim_end(), 16) {
        Ok(id) => Ok(Some(StoreId(id))),
        Err(malformed) => Err(failed(io::Error::new(io::ErrorKind::InvalidData, malformed))),
    }
}

/// Writes the marker as a whole: after a crash it is there with its id, or not there.
pub(crate) fn mark(folder: &Path, id: StoreId) -> Result<()> {
    let path = marker_path(folder);
    let written = || {
        let new = path.with_extension("id.new");
        let mut file = folder::create_file(&new)?;
        writeln!(file, "{id}")?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        folder::sync(folder)
    };
    written().map_err(|source| Error::Folder { path: path.clone(), source })
}
