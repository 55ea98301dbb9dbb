use clap::Args;
use leasehold_api::Shown;
use leasehold_api::lock::LockInfo;
use leasehold_core::{Key, LockId};

use super::target::Target;
use crate::failure::Failure;
use crate::output::{Done, print, table};

/// Show the live hold of a key, or the one with a lock id.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes:\n  0 found · 3 nothing is held · 4 store unavailable")]
pub(super) struct Lookup {
    /// The key
    #[arg(value_parser = Key::parse, required_unless_present = "lock_id", conflicts_with = "lock_id")]
    key: Option<Key>,

    /// The lock id
    #[arg(long, value_parser = LockId::parse, allow_hyphen_values = true)]
    lock_id: Option<LockId>,

    /// Print key and lock id themselves; whoever has the lock id can end the hold
    #[arg(long)]
    raw: bool,

    #[command(flatten)]
    target: Target,
}

impl Lookup {
    pub(super) async fn run(self) -> Result<Done, Failure> {
        let locks = self.target.locks().await?;
        let found = match (&self.key, &self.lock_id) {
            (Some(key), _) => locks.get_by_key_raw(key).await?,
            (None, Some(lock_id)) => locks.get_by_id_raw(lock_id).await?,
            (None, None) => None,
        };
        let shown = if self.raw { Shown::Raw } else { Shown::Hashes };
        let shown = found.as_ref().map(|record| LockInfo::of(record, shown));
        print(self.target.json, &shown.clone().unwrap_or_default(), || match &shown {
            Some(shown) => table(std::slice::from_ref::<LockInfo>(shown)),
            None => "nothing is held".to_owned(),
        })?;
        Ok(Done::from(shown.is_some()))
    }
}
