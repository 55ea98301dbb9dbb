use clap::Args;
use leasehold_api::Shown;
use leasehold_api::lock::{LockInfo, LockListResponse};
use leasehold_core::Key;
use leasehold_locks::ListRequest;

use super::target::Target;
use crate::failure::Failure;
use crate::output::{Done, print, table};

/// List live holds in the order of their keys.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only keys after this one
    #[arg(long, value_name = "KEY", value_parser = Key::parse)]
    after: Option<Key>,

    /// At most so many
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,

    /// Print lock ids themselves; whoever has one can end the hold
    #[arg(long)]
    raw: bool,

    #[command(flatten)]
    target: Target,
}

impl List {
    pub(super) async fn run(self) -> Result<Done, Failure> {
        let request = ListRequest { after: self.after, len_max: usize::from(self.limit) };
        let found = self.target.locks().await?.list(&request).await?;
        let shown = if self.raw { Shown::Raw } else { Shown::Key };
        let locks = found.iter().map(|record| LockInfo::of(record, shown)).collect();
        let response = LockListResponse { locks };
        print(self.target.json, &response, || match response.locks.as_slice() {
            [] => "nothing is held".to_owned(),
            locks => table(locks),
        })?;
        Ok(Done::Yes)
    }
}
