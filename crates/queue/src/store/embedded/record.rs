//! Items and states as bytes.
//!
//! An item: version, header, what never changes, payload to the end. A state: version, header without the time of
//! creation. Little-endian throughout.

use bytes::Bytes;

use super::fields::{Fields, Malformed, put_text, put_timestamp};
use crate::store::index::Header;
use crate::{Item, ItemId, ItemState};

const VERSION: u8 = 1;
/// Version, state, three times, attempts.
const HEADER_BYTES: usize = 1 + 1 + 3 * 8 + 4;

const READY: u8 = 0;
const LEASED: u8 = 1;
const SCHEDULED: u8 = 2;

/// Appends the record of an item.
pub(super) fn put_item(record: &mut Vec<u8>, item: &Item) {
    put_header(record, &Header::of(item));
    record.extend_from_slice(&item.max_attempts.to_le_bytes());
    record.push(item.source_id.is_some().into());
    if let Some(source_id) = &item.source_id {
        put_text(record, source_id);
    }
    put_text(record, &item.reference);
    put_text(record, &item.encoding);
    put_text(record, &item.kind);
    record.extend_from_slice(&item.payload);
}

/// The record of the same item with another header.
pub(super) fn with_header(record: &[u8], header: &Header) -> Result<Vec<u8>, Malformed> {
    let content = record.get(HEADER_BYTES..).ok_or("it ends too early")?;
    let mut changed = Vec::with_capacity(record.len());
    put_header(&mut changed, header);
    changed.extend_from_slice(content);
    Ok(changed)
}

/// What a record tells without its payload.
#[derive(Debug)]
pub(super) struct Placed<'a> {
    /// The header the item had when it was placed.
    pub(super) header: Header,
    pub(super) source_id: Option<&'a str>,
    /// What its producer gave, payload and all.
    pub(super) bytes: u32,
}

/// What a line needs to know of an item.
pub(super) fn placed(record: &[u8]) -> Result<Placed<'_>, Malformed> {
    let mut fields = Fields::new(record);
    let header = header(&mut fields)?;
    fields.i32()?;
    let source_id = fields.flag()?.then(|| fields.text()).transpose()?;
    let texts = fields.text()?.len() + fields.text()?.len() + fields.text()?.len();
    let bytes = u32::try_from(texts + fields.rest().len()).unwrap_or(u32::MAX);
    Ok(Placed { header, source_id, bytes })
}

/// The item of a record, with the header it has now. Its payload is a part of the record, not a copy.
pub(super) fn item(id: ItemId, record: &Bytes, now: &Header) -> Result<Item, Malformed> {
    let mut fields = Fields::new(record);
    header(&mut fields)?;
    let max_attempts = fields.i32()?;
    let source_id = fields.flag()?.then(|| fields.text().map(str::to_owned)).transpose()?;
    let reference = fields.text()?.to_owned();
    let encoding = fields.text()?.to_owned();
    let kind = fields.text()?.to_owned();
    let payload = record.slice_ref(fields.rest());
    let mut item = Item {
        id,
        source_id,
        is_leased: false,
        lease_deadline: None,
        expire_deadline: now.expire_deadline,
        enqueue_at: None,
        created_at: now.created_at,
        attempts: now.attempts,
        max_attempts,
        reference,
        encoding,
        kind,
        payload,
    };
    now.fill(&mut item);
    Ok(item)
}

/// Appends the record of a state; the expire deadline only if it is no longer the one the item was placed with.
pub(super) fn state(header: &Header, with_expire_deadline: bool) -> Vec<u8> {
    let mut record = Vec::with_capacity(22);
    record.push(VERSION);
    record.push(tag(header.state));
    put_timestamp(&mut record, header.when);
    record.extend_from_slice(&header.attempts.to_le_bytes());
    if with_expire_deadline {
        put_timestamp(&mut record, header.expire_deadline);
    }
    record
}

/// What a header has become.
pub(super) fn apply_state(record: &[u8], header: &mut Header) -> Result<(), Malformed> {
    let mut fields = Fields::new(record);
    version(&mut fields)?;
    header.state = state_of(fields.u8()?)?;
    header.when = fields.timestamp()?;
    header.attempts = fields.i32()?;
    if !fields.rest().is_empty() {
        header.expire_deadline = fields.timestamp()?;
    }
    fields.end()
}

fn put_header(record: &mut Vec<u8>, header: &Header) {
    record.push(VERSION);
    record.push(tag(header.state));
    put_timestamp(record, header.when);
    put_timestamp(record, header.expire_deadline);
    put_timestamp(record, header.created_at);
    record.extend_from_slice(&header.attempts.to_le_bytes());
}

fn header(fields: &mut Fields<'_>) -> Result<Header, Malformed> {
    version(fields)?;
    let state = state_of(fields.u8()?)?;
    let [when, expire_deadline, created_at] = [fields.timestamp()?, fields.timestamp()?, fields.timestamp()?];
    Ok(Header { state, when, expire_deadline, created_at, attempts: fields.i32()? })
}

fn version(fields: &mut Fields<'_>) -> Result<(), Malformed> {
    match fields.u8()? {
        VERSION => Ok(()),
        _ => Err("it was written by a later release"),
    }
}

fn tag(state: ItemState) -> u8 {
    match state {
        ItemState::Ready => READY,
        ItemState::Leased => LEASED,
        ItemState::Scheduled => SCHEDULED,
    }
}

fn state_of(tag: u8) -> Result<ItemState, Malformed> {
    match tag {
        READY => Ok(ItemState::Ready),
        LEASED => Ok(ItemState::Leased),
        SCHEDULED => Ok(ItemState::Scheduled),
        _ => Err("its state is none that we know"),
    }
}

#[cfg(test)]
mod tests {
    use leasehold_core::Timestamp;
    use proptest::prelude::*;

    use super::*;

    fn timestamps() -> impl Strategy<Value = Timestamp> {
        any::<i64>()
            .prop_filter("stands for none", |micros| *micros != i64::MIN)
            .prop_map(Timestamp::from_micros)
    }

    prop_compose! {
        fn items()(
            id: [u8; 20],
            source_id in proptest::option::of(".{0,300}"),
            (is_leased, has_deadline) in any::<(bool, bool)>(),
            (lease_deadline, enqueue_at) in (timestamps(), proptest::option::of(timestamps())),
            (expire_deadline, created_at) in (timestamps(), timestamps()),
            (attempts, max_attempts) in any::<(i32, i32)>(),
            (reference, encoding, kind) in (".{0,40}", ".{0,9}", ".{0,200}"),
            payload: Vec<u8>,
        ) -> Item {
            // A leased item has a deadline, and a scheduled one is not leased: stores are given no other.
            let is_leased = is_leased && enqueue_at.is_none();
            let lease_deadline =
                (enqueue_at.is_none() && (is_leased || has_deadline)).then_some(lease_deadline);
            Item {
                id: ItemId::from_bytes(id), source_id, is_leased, lease_deadline, expire_deadline, enqueue_at,
                created_at, attempts, max_attempts, reference, encoding, kind, payload: payload.into(),
            }
        }
    }

    fn encoded(item: &Item) -> Bytes {
        let mut record = Vec::new();
        put_item(&mut record, item);
        record.into()
    }

    proptest! {
        #[test]
        fn item_reads_back_whole(stored in items()) {
            let record = encoded(&stored);
            let Placed { header, source_id, bytes } = placed(&record).expect("a record of ours");
            prop_assert_eq!(source_id, stored.source_id.as_deref());
            prop_assert_eq!(bytes as usize, stored.content_bytes());
            prop_assert_eq!(item(stored.id, &record, &header).expect("a record of ours"), stored);
        }

        #[test]
        fn state_reads_back(stored in items(), before in items(), with_expire_deadline: bool) {
            let now = Header::of(&stored);
            let mut header = Header::of(&before);
            apply_state(&state(&now, with_expire_deadline), &mut header).expect("a record of ours");
            let expire_deadline = if with_expire_deadline { now.expire_deadline } else { before.expire_deadline };
            prop_assert_eq!(header, Header { expire_deadline, created_at: before.created_at, ..now });
        }

        #[test]
        fn header_is_replaced_and_content_kept(stored in items(), other in items()) {
            let header = Header::of(&other);
            let moved = with_header(&encoded(&stored), &header).expect("a record of ours");
            let moved = item(other.id, &moved.into(), &header).expect("a record of ours");
            prop_assert_eq!(&moved.payload, &stored.payload);
            prop_assert_eq!(&moved.source_id, &stored.source_id);
            prop_assert_eq!(Header::of(&moved), header);
        }

        #[test]
        fn no_bytes_make_reading_panic(bytes: Vec<u8>) {
            let record = Bytes::from(bytes);
            let mut header = Header::of(&Item { ..empty() });
            let _ = (placed(&record).is_ok(), apply_state(&record, &mut header).is_ok());
            let _ = item(ItemId::MIN, &record, &header).is_ok();
        }

        #[test]
        fn record_that_is_cut_within_its_fields_is_refused(stored in items(), cut in 0_usize..38) {
            let record = encoded(&stored);
            let cut = cut.min(record.len() - stored.payload.len() - 1);
            prop_assert!(item(stored.id, &record.slice(..cut), &Header::of(&stored)).is_err());
        }
    }

    fn empty() -> Item {
        Item {
            id: ItemId::MIN,
            source_id: None,
            is_leased: false,
            lease_deadline: None,
            expire_deadline: Timestamp::EPOCH,
            enqueue_at: None,
            created_at: Timestamp::EPOCH,
            attempts: 0,
            max_attempts: 0,
            reference: String::new(),
            encoding: String::new(),
            kind: String::new(),
            payload: Bytes::new(),
        }
    }

    #[test]
    fn unknown_versions_states_and_flags_are_refused() {
        let record = encoded(&empty()).to_vec();
        for (at, byte) in [(0, 2), (0, 0), (1, 3), (34, 2)] {
            let mut damaged = record.clone();
            damaged[at] = byte;
            assert!(placed(&damaged).is_err(), "byte {at} is {byte}");
        }
        let mut header = Header::of(&empty());
        let state = state(&header, false);
        assert!(apply_state(&[&state[..], &[0; 9]].concat(), &mut header).is_err(), "too long");
        assert!(apply_state(&state[..13], &mut header).is_err(), "too short");
    }

    #[test]
    fn item_without_payload_takes_few_bytes() {
        assert_eq!(encoded(&empty()).len(), HEADER_BYTES + 4 + 1 + 3);
        assert_eq!(state(&Header::of(&empty()), false).len(), 14);
    }
}
