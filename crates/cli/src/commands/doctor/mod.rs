//! Looks at a store and a server from outside, and says what is wrong and what to do. Changes nothing.

mod clock;
mod dsql;
mod finding;
#[cfg(feature = "firestore")]
mod firestore;
mod folder;
mod postgres;
mod redis;
mod server;

use std::time::Duration;

use clap::Args;
use leasehold_core::duration;
use leasehold_locks::backend::BackendLocation;
use leasehold_locks::backend::redis::RedisBackend;

use self::finding::Findings;
use super::block_on;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::{Done, print};

/// Look at a store and a server, and say what is wrong and what to do about it. Changes nothing.
///
/// A store: whether it can be reached, what it is, whether tables and indexes are as they should be, how far its clock is
/// from this machine's, what holds back vacuum, whether there are connections left, whether it keeps what it was told. A
/// server: whether it is well, and whether any queue is stuck. Without --store only the server is looked at, with --store
/// only the store, unless a server is named too.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Doctor {
    /// What to look at: a folder, postgres://…, dsql://…, redis://… or firestore://…
    #[arg(long, value_name = "PATH|URL", env = "LEASEHOLD_STORE", hide_env_values = true)]
    store: Option<String>,

    /// How long a transaction may stay open before it is told of
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration::parse)]
    transaction_age_max: Duration,

    /// How many dead rows a table may have before it is told of
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    dead_rows_max: i64,

    /// How many connections one server may open to its store
    #[arg(long, value_name = "N", default_value_t = 10)]
    pool_size: i64,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    connection: Connection,
}

const HELP: &str = "\
Exit codes:
  0 all is well · 7 there are warnings · 8 there are problems · 2 the arguments are wrong

Examples:
  leasehold doctor
  leasehold doctor --store postgres://app:secret@db/app --endpoint http://127.0.0.1:2319
  leasehold doctor --store dsql://CLUSTER.dsql.eu-west-1.on.aws
  leasehold doctor --store ./leasehold-data --json | jq '.findings[] | select(.level != \"ok\")'";

impl Doctor {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        block_on(async {
            let mut findings = Findings::default();
            let store = self.store.as_deref().map(str::parse::<BackendLocation>).transpose()?;
            if let Some(store) = &store {
                self.look_at_store(store, &mut findings).await?;
            }
            if store.is_none() || self.connection.is_given() {
                let client = self.connection.client()?;
                server::look(&client, &mut findings).await;
            }
            print(self.json, &findings, || findings.to_string())?;
            Ok(findings.done())
        })
    }

    async fn look_at_store(&self, store: &BackendLocation, findings: &mut Findings) -> Result<(), Failure> {
        match store {
            BackendLocation::Postgres(connection) => {
                let bounds = postgres::Bounds {
                    transaction_age_max: self.transaction_age_max,
                    dead_rows_max: self.dead_rows_max,
                    pool_size: self.pool_size,
                };
                postgres::look((**connection).clone(), &bounds, findings).await?;
            }
            BackendLocation::Dsql(connection) => {
                dsql::look((**connection).clone(), self.pool_size, findings).await?;
            }
            BackendLocation::Redis(config) => redis::look(&RedisBackend::new(config)?, findings).await,
            BackendLocation::Folder(path) => folder::look(path, findings),
            BackendLocation::Memory => findings.warning(
                "store",
                "memory: is gone with the process",
                "use it for tests only; a folder or a database survives",
            ),
            #[cfg(feature = "firestore")]
            BackendLocation::Firestore(config) => firestore::look(config, findings).await,
            // A build whose locks have more backends than its commands were built for.
            #[allow(unreachable_patterns, reason = "Firestore is a feature of the build")]
            other => {
                return Err(Failure::input(format!("there is nothing to look at from outside in {other}")));
            }
        }
        Ok(())
    }
}
