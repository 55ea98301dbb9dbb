//! Which hosts are in the cluster, by the last they said of themselves. The database's clock judges them all.

mod heartbeat;
mod members;
mod prune;

use std::time::Duration;

use leasehold_core::Timestamp;
use leasehold_txn::tokio_postgres::Row;

use crate::sql::column;
use crate::time::Stored;
use crate::{Database, HostId, Result};

pub use heartbeat::Heartbeat;

/// A host of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterMember {
    /// Which host it is.
    pub host_id: HostId,
    /// Where it listens.
    pub rpc_address: String,
    /// On which port.
    pub rpc_port: u16,
    /// What it does, by Temporal's number.
    pub role: i16,
    /// When it joined.
    pub session_start: Timestamp,
    /// When it last said that it is there.
    pub last_heartbeat: Timestamp,
    /// When it is taken for gone unless it says so again.
    pub record_expiry: Timestamp,
}

impl ClusterMember {
    fn of(row: &Row) -> Result<Self> {
        let time = |name| column::<Stored>(row, name).map(|stored| stored.0);
        let port: i16 = column(row, "rpc_port")?;
        Ok(Self {
            host_id: column(row, "host_id")?,
            rpc_address: column(row, "rpc_address")?,
            rpc_port: port.unsigned_abs(),
            role: column(row, "role")?,
            session_start: time("session_start")?,
            last_heartbeat: time("last_heartbeat")?,
            record_expiry: time("record_expiry")?,
        })
    }
}

/// Which hosts are looked for; all that have not expired unless told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberFilter {
    /// Only this one.
    pub host_id: Option<HostId>,
    /// Only those that listen there.
    pub rpc_address: Option<String>,
    /// Only those with this role; 0 is all.
    pub role: i16,
    /// Only those that were heard of within this time.
    pub heard_within: Option<Duration>,
    /// Only those that joined then or later.
    pub joined_since: Option<Timestamp>,
}

/// The hosts of a cluster.
#[derive(Clone, Debug)]
pub struct Membership {
    database: Database,
}

impl Membership {
    /// The hosts of the cluster that keeps its state in `database`.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { database }
    }
}

/// Microseconds, as statements take times that pass; an endless time is cut to 292,000 years.
fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
