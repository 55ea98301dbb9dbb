//! Recovers a store that no caller can administer, without a server.

use leasehold_access::{Access, Config, Driver, Recovered};

use crate::store::Store;
use crate::{Error, Result, StoreLocation};

/// Gives the user of this name, who is made if need be, role `Admin` in `_system` and a new key, in the store itself. A folder
/// must not be open elsewhere. Dropping the call leaves any part of it done; it can be repeated.
///
/// # Errors
/// A malformed name, a store that cannot be opened, or what the store said.
pub async fn recover_access(location: &StoreLocation, username: &str) -> Result<Recovered> {
    let store = Store::open(location, None, true).await?;
    let access = Access::new(store.access()?, Config { driver: Driver::Internal, ..Config::default() });
    let recovered = access.recover(username).await.map_err(Error::Recover);
    access.close().await;
    recovered
}
