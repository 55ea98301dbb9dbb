//! A host says that it is there.

use std::time::Duration;

use leasehold_core::Timestamp;
use leasehold_txn::Operation;

use super::{Membership, micros};
use crate::sql::Sql;
use crate::time::Stored;
use crate::{Error, HostId, Result};

const UPSERT_MEMBER: Operation = Operation::new("state.upsert_cluster_member");
const UPSERT: Sql = Sql::same(include_str!("sql/upsert.sql"));

/// The longest address that the table can keep.
const ADDRESS_LEN_MAX: usize = 128;
/// The highest port that the table can keep.
const PORT_MAX: u16 = i16::MAX.unsigned_abs();
/// A host that means to be counted for longer is not coming back.
const TTL_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// What a host says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    host_id: HostId,
    rpc_address: String,
    rpc_port: i16,
    role: i16,
    session_start: Timestamp,
    ttl: Duration,
}

impl Heartbeat {
    /// What a host says of itself; it is counted for `ttl` from when the database hears of it.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the address is longer than 128 characters or has a zero byte in it, the port is
    /// above 32,767, which is what Temporal's table can keep, the role is not above zero, or the time is not above zero
    /// and at most a year.
    pub fn new(
        host_id: HostId,
        rpc_address: impl Into<String>,
        rpc_port: u16,
        role: i16,
        session_start: Timestamp,
        ttl: Duration,
    ) -> Result<Self> {
        let rpc_address = rpc_address.into();
        let len = rpc_address.chars().count();
        if len > ADDRESS_LEN_MAX || rpc_address.contains('\0') {
            let reason =
                format!("must have at most {ADDRESS_LEN_MAX} characters and no zero byte, has {len}");
            return Err(Error::invalid("rpc_address", reason));
        }
        let Ok(port) = i16::try_from(rpc_port) else {
            return Err(Error::invalid("rpc_port", format!("must be at most {PORT_MAX}, is {rpc_port}")));
        };
        if role <= 0 {
            return Err(Error::invalid("role", format!("must be above 0, is {role}")));
        }
        if ttl < Duration::from_micros(1) || ttl > TTL_MAX {
            return Err(Error::invalid(
                "ttl",
                format!("must be above 0 and at most {TTL_MAX:?}, is {ttl:?}"),
            ));
        }
        Ok(Self { host_id, rpc_address, rpc_port: port, role, session_start, ttl })
    }
}

impl Membership {
    /// Counts the host among the members, from now. Of two that say something for the same host, the last is right.
    ///
    /// # Errors
    /// As every write.
    pub async fn upsert(&self, heartbeat: &Heartbeat) -> Result<()> {
        let Heartbeat { host_id, rpc_address, rpc_port, role, session_start, ttl } = heartbeat;
        let values: leasehold_txn::Parameters<'_> =
            &[host_id, rpc_address, rpc_port, role, &Stored(*session_start), &micros(*ttl)];
        self.database.write(UPSERT_MEMBER, UPSERT, values).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_table_cannot_keep_is_refused_by_name() {
        let heartbeat = |address: &str, port, role, ttl| {
            let host = HostId::from_bytes([1; 16]);
            Heartbeat::new(host, address, port, role, Timestamp::EPOCH, Duration::from_micros(ttl))
        };
        assert!(heartbeat("10.0.0.1", 7_233, 1, 1).is_ok());
        for (bad, field) in [
            (heartbeat(&"x".repeat(129), 1, 1, 1), "rpc_address"),
            (heartbeat("a\0", 1, 1, 1), "rpc_address"),
            (heartbeat("a", 32_768, 1, 1), "rpc_port"),
            (heartbeat("a", 1, 0, 1), "role"),
            (heartbeat("a", 1, 1, 0), "ttl"),
            (heartbeat("a", 1, 1, u64::MAX), "ttl"),
        ] {
            match bad.expect_err(field) {
                Error::InvalidRequest { field: told, .. } => assert_eq!(told, field),
                error => panic!("{error:?}"),
            }
        }
    }
}
