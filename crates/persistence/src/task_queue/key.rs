//! Which task queue, as its caller names it and as the tables do.

use std::error::Error as StdError;

use leasehold_txn::tokio_postgres::types::private::BytesMut;
use leasehold_txn::tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};
use sha2::{Digest, Sha256};

use crate::{Error, NamespaceId, Result};

/// The longest name of a task queue, in characters: as long as Temporal lets an id be.
pub const TASK_QUEUE_NAME_LEN_MAX: usize = 1000;

/// What kind of tasks a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaskType {
    /// Tasks of workflows.
    Workflow,
    /// Tasks of activities.
    Activity,
    /// Tasks of Nexus operations.
    Nexus,
}

/// A task queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskQueueKey {
    namespace_id: NamespaceId,
    name: String,
    task_type: TaskType,
}

/// A part of a task queue whose tasks have an order of their own. Part 0 is the queue itself, which alone has a lease.
pub type SubQueue = u32;

impl TaskQueueKey {
    /// A task queue of a namespace.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the name is empty, longer than [`TASK_QUEUE_NAME_LEN_MAX`] characters, or has a zero
    /// byte in it.
    pub fn new(namespace_id: NamespaceId, name: impl Into<String>, task_type: TaskType) -> Result<Self> {
        let name = name.into();
        let len = name.chars().count();
        if !(1..=TASK_QUEUE_NAME_LEN_MAX).contains(&len) || name.contains('\0') {
            let reason =
                format!("must have 1 to {TASK_QUEUE_NAME_LEN_MAX} characters and no zero byte, has {len}");
            return Err(Error::invalid("name", reason));
        }
        Ok(Self { namespace_id, name, task_type })
    }

    /// The namespace.
    #[must_use]
    pub fn namespace_id(&self) -> NamespaceId {
        self.namespace_id
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What kind of tasks it holds.
    #[must_use]
    pub fn task_type(&self) -> TaskType {
        self.task_type
    }

    /// The key of its rows, or of a part's.
    pub(super) fn row_key(&self, sub_queue: SubQueue, is_dsql: bool) -> RowKey {
        let id = self.id(sub_queue);
        let range_hash = i64::from(farmhash::fingerprint32(&id));
        RowKey { range_hash, id: if is_dsql { StoredId::hashed(&id) } else { StoredId(id) } }
    }

    /// Which queue has this id, read back from what PostgreSQL keeps; nothing when it is not one of ours.
    pub(super) fn of_id(id: &StoredId) -> Option<Self> {
        let (namespace_id, rest) = id.0.split_first_chunk::<16>()?;
        let (task_type, name) = rest.split_last()?;
        let task_type = match task_type {
            1 => TaskType::Workflow,
            2 => TaskType::Activity,
            3 => TaskType::Nexus,
            _ => return None,
        };
        let name = String::from_utf8(name.to_vec()).ok()?;
        Self::new(NamespaceId::from_bytes(*namespace_id), name, task_type).ok()
    }

    /// The id that Temporal makes of it: namespace, name, one byte for the type; a part adds a bit to that byte, and its
    /// number.
    fn id(&self, sub_queue: SubQueue) -> Vec<u8> {
        const HAS_PART: u8 = 0x80;
        let task_type = match self.task_type {
            TaskType::Workflow => 1,
            TaskType::Activity => 2,
            TaskType::Nexus => 3,
        };
        let mut id = [self.namespace_id.as_bytes().as_slice(), self.name.as_bytes()].concat();
        if sub_queue == 0 {
            id.push(task_type);
        } else {
            id.push(task_type | HAS_PART);
            push_varint(&mut id, sub_queue);
        }
        id
    }
}

/// Seven bits a byte, the lowest first; a set high bit says that more follow.
fn push_varint(bytes: &mut Vec<u8>, mut number: u32) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

/// The first two columns of every key of task queues and tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowKey {
    pub(super) range_hash: i64,
    pub(super) id: StoredId,
}

/// An id as a row has it: the bytes themselves on PostgreSQL. DSQL has no keys of bytes, nor room for so many; there it is a
/// UUID made from their hash, from which the id cannot be had back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredId(pub(super) Vec<u8>);

impl StoredId {
    /// How long an id is on DSQL.
    pub(super) const HASHED_LEN: usize = 16;

    /// The first half of the hash, dressed as a random UUID. Other stores of Temporal on DSQL do the same, so that each finds
    /// the rows of the other.
    fn hashed(id: &[u8]) -> Self {
        let mut uuid = Sha256::digest(id)[..Self::HASHED_LEN].to_vec();
        uuid[6] = uuid[6] & 0x0f | 0x40;
        uuid[8] = uuid[8] & 0x3f | 0x80;
        Self(uuid)
    }
}

impl ToSql for StoredId {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }

    accepts!(BYTEA, UUID);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for StoredId {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(raw.to_vec()))
    }

    accepts!(BYTEA, UUID);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(task_type: TaskType) -> TaskQueueKey {
        let namespace_id = "deadbeef-0123-4567-89ab-cdef00112233".parse().expect("a UUID");
        TaskQueueKey::new(namespace_id, "orders", task_type).expect("a key")
    }

    #[test]
    fn ids_and_hashes_are_those_of_temporal() {
        for (task_type, sub_queue, tail, hash) in [
            (TaskType::Workflow, 0, &[0x01][..], 109_490_129),
            (TaskType::Activity, 0, &[0x02], 2_647_799_299),
            (TaskType::Workflow, 1, &[0x81, 0x01], 4_096_626_944),
            (TaskType::Workflow, 300, &[0x81, 0xac, 0x02], 362_217_413),
        ] {
            let id = orders(task_type).id(sub_queue);
            assert_eq!(id[22..], *tail);
            let key = orders(task_type).row_key(sub_queue, false);
            assert_eq!((key.range_hash, key.id), (hash, StoredId(id)));
        }
        for (bytes, hash) in [("", 3_696_677_242), ("a", 1_016_544_589), ("hello", 2_039_911_270)] {
            assert_eq!(farmhash::fingerprint32(bytes.as_bytes()), hash, "{bytes}");
        }
    }

    #[test]
    fn queue_is_read_back_from_its_id() {
        for task_type in [TaskType::Workflow, TaskType::Activity, TaskType::Nexus] {
            let key = orders(task_type);
            assert_eq!(TaskQueueKey::of_id(&StoredId(key.id(0))), Some(key.clone()));
            assert_eq!(TaskQueueKey::of_id(&StoredId(key.id(1))), None);
        }
        for id in [vec![], vec![1; 16], vec![1; 17], [vec![1; 16], vec![0xff, 1]].concat()] {
            assert_eq!(TaskQueueKey::of_id(&StoredId(id)), None);
        }
    }

    #[test]
    fn dsql_keys_are_uuids_with_the_same_hash() {
        let (plain, hashed) =
            (orders(TaskType::Workflow).row_key(0, false), orders(TaskType::Workflow).row_key(0, true));
        assert_eq!(hashed.range_hash, plain.range_hash);
        let uuid = hashed.id.0;
        assert_eq!((uuid.len(), uuid[6] >> 4, uuid[8] >> 6), (16, 4, 2));
        assert_eq!(uuid[..6], Sha256::digest(&plain.id.0)[..6]);
        assert_ne!(orders(TaskType::Workflow).row_key(1, true).id.0, uuid);
    }

    #[test]
    fn varints_end_at_a_byte_without_the_high_bit() {
        for (number, wanted) in
            [(1, &[1][..]), (127, &[0x7f]), (128, &[0x80, 1]), (u32::MAX, &[0xff, 0xff, 0xff, 0xff, 0x0f])]
        {
            let mut bytes = Vec::new();
            push_varint(&mut bytes, number);
            assert_eq!(bytes, wanted, "{number}");
        }
    }

    #[test]
    fn impossible_names_are_refused() {
        let namespace_id = NamespaceId::from_bytes([1; 16]);
        let longest = "é".repeat(TASK_QUEUE_NAME_LEN_MAX);
        assert!(TaskQueueKey::new(namespace_id, longest.clone(), TaskType::Nexus).is_ok());
        for name in [String::new(), "a\0b".to_owned(), longest + "x"] {
            let error = TaskQueueKey::new(namespace_id, name, TaskType::Nexus).expect_err("impossible");
            assert!(matches!(error, Error::InvalidRequest { field: "name", .. }), "{error}");
        }
    }
}
