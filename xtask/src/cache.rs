//! Where what was fetched or built for tests is kept from one run to the next.

use std::path::PathBuf;

/// The folder of this project in the user's cache.
pub(crate) fn folder() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    cache.unwrap_or_else(home).join("leasehold")
}
