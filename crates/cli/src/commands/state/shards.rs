use clap::Args;
use leasehold_persistence::{Inspector, PageSize};
use serde_json::{Value, json};

use super::target::Target;
use crate::failure::Failure;
use crate::output::{Done, print};
use crate::table::Table;

/// List shards with their owners and ranges. An owner is known where what it keeps is Temporal's; else it is shown as '?'.
#[derive(Debug, Args)]
pub(super) struct Shards {
    /// Only shards after this one
    #[arg(long, value_name = "SHARD")]
    after: Option<i32>,

    /// At most so many
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

impl Shards {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let shards = Inspector::new(target.database().await?)
            .shards(self.after, PageSize::new(self.limit.into())?)
            .await?;
        let is_full = shards.len() == usize::from(self.limit);
        let next = shards.last().filter(|_| is_full).map(|shard| shard.shard_id);
        let shown: Vec<Value> = shards
            .iter()
            .map(|shard| {
                json!({
                    "shard_id": shard.shard_id,
                    "range_id": shard.range_id,
                    "owner": shard.owner,
                    "data_bytes": shard.data_bytes,
                })
            })
            .collect();
        print(target.json, &json!({ "shards": shown, "next": next }), || {
            let mut table = Table::new(&["SHARD", "RANGE", "OWNER", "BYTES"]);
            for shard in &shards {
                let owner = shard.owner.as_deref().unwrap_or("?");
                table.row([&shard.shard_id, &shard.range_id, &owner, &shard.data_bytes]);
            }
            match next {
                Some(next) => format!("{table}\nthere may be more: --after {next}"),
                None => table.to_string(),
            }
        })?;
        Ok(Done::Yes)
    }
}
