//! The name of an item while it stays in its place.

use std::fmt;
use std::str::FromStr;

use leasehold_core::Timestamp;

use crate::store::{Opened, Takeover};
use crate::{Refusal, StoreError};

/// Digits of the text form.
const TEXT_LEN: usize = 27;
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Digits taken from the number at once: as many as fit into a 32-bit remainder.
const CHUNK_LEN: usize = 5;
const CHUNK: u64 = 62_u64.pow(CHUNK_LEN as u32);
/// Seconds between the Unix epoch and the epoch of ids.
const EPOCH_SECONDS: i64 = 1_400_000_000;

/// A KSUID: four bytes of seconds, sixteen of payload; 27 digits as text. Order of bytes, of text, and within a
/// partition of places in the line, are the same.
///
/// An item gets another one whenever it goes to the tail, so whoever holds an old one holds nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId([u8; 20]);

impl ItemId {
    /// The first of all ids.
    pub const MIN: Self = Self([0; 20]);
    /// The last of all ids.
    pub const MAX: Self = Self([0xff; 20]);

    /// From its twenty bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// Its twenty bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// A random id of this second. Times that an id cannot tell are cut to those it can.
    #[must_use]
    pub fn random(now: Timestamp) -> Self {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&seconds_of(now).to_be_bytes());
        getrandom::fill(&mut bytes[4..]).expect("the system gives random bytes");
        Self(bytes)
    }

    fn seconds(&self) -> u32 {
        u32::from_be_bytes(self.0[..4].try_into().expect("four bytes"))
    }

    /// The next id; after the last comes the first.
    #[must_use]
    pub fn successor(self) -> Self {
        let mut bytes = self.0;
        for byte in bytes.iter_mut().rev() {
            let (next, carries) = byte.overflowing_add(1);
            *byte = next;
            if !carries {
                break;
            }
        }
        Self(bytes)
    }

    /// The text form, without allocating.
    #[must_use]
    pub fn text(&self) -> ItemIdText {
        let mut limbs = [0_u32; 5];
        for (limb, bytes) in limbs.iter_mut().zip(self.0.chunks_exact(4)) {
            *limb = u32::from_be_bytes(bytes.try_into().expect("chunks of four"));
        }
        let mut digits = [b'0'; TEXT_LEN];
        let mut end = TEXT_LEN;
        while end > 0 {
            let mut remainder = 0_u64;
            for limb in &mut limbs {
                let value = (remainder << 32) | u64::from(*limb);
                *limb = u32::try_from(value / CHUNK).expect("a quotient is not longer than its dividend");
                remainder = value % CHUNK;
            }
            let start = end.saturating_sub(CHUNK_LEN);
            for digit in digits[start..end].iter_mut().rev() {
                *digit = DIGITS[usize::try_from(remainder % 62).expect("below 62")];
                remainder /= 62;
            }
            end = start;
        }
        ItemIdText(digits)
    }
}

/// Seconds of an id; times that an id cannot tell are cut to those it can.
fn seconds_of(now: Timestamp) -> u32 {
    let seconds = now.as_micros().div_euclid(1_000_000).saturating_sub(EPOCH_SECONDS);
    u32::try_from(seconds.max(0)).unwrap_or(u32::MAX)
}

/// An id as text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ItemIdText([u8; TEXT_LEN]);

impl ItemIdText {
    /// The 27 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("digits are ASCII")
    }
}

impl FromStr for ItemId {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        if text.len() != TEXT_LEN {
            return Err(Refusal::ItemIdLength { id: text.into() });
        }
        let out_of_bounds = || Refusal::ItemIdBounds { id: text.into() };
        let mut limbs = [0_u32; 5];
        for digit in text.bytes() {
            let mut carry = u64::from(digit_value(digit).ok_or_else(out_of_bounds)?);
            for limb in limbs.iter_mut().rev() {
                let value = u64::from(*limb) * 62 + carry;
                *limb = value as u32;
                carry = value >> 32;
            }
            if carry > 0 {
                return Err(out_of_bounds());
            }
        }
        let mut bytes = [0; 20];
        for (bytes, limb) in bytes.chunks_exact_mut(4).zip(limbs) {
            bytes.copy_from_slice(&limb.to_be_bytes());
        }
        Ok(Self(bytes))
    }
}

fn digit_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'Z' => Some(digit - b'A' + 10),
        b'a'..=b'z' => Some(digit - b'a' + 36),
        _ => None,
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().as_str())
    }
}

impl fmt::Debug for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The ids that one owner of a partition gives out, rising: seconds (4 bytes), the epoch of its take-over (5), the random
/// bytes of its take-over (6), a counter (5).
///
/// No epoch of a partition is given out twice, so neither is an id, whatever the clock does. That must hold, as an id is all
/// that fences a lease, and an item that was completed leaves no trace. The random bytes tell partitions of equal epochs apart.
#[derive(Debug, Default)]
pub struct ItemIds {
    seconds: u32,
    takeover: Takeover,
    counter: u64,
}

const EPOCH_MAX: u64 = (1 << 40) - 1;
const COUNTER_MAX: u64 = (1 << 40) - 1;
/// The seconds above it are left for counters that overflow.
const SECONDS_MAX: u32 = u32::MAX - u16::MAX as u32;

impl ItemIds {
    /// Starts above everything that is stored, also when the clock went back since, and also above ids of another layout.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] if there is no id that says whose it is and is above all that are stored.
    pub fn after(opened: &Opened, now: Timestamp) -> Result<Self, StoreError> {
        let takeover = opened.takeover;
        if takeover.epoch > EPOCH_MAX {
            return Err(StoreError::Unusable {
                what: format!("epoch {} of a partition's owner", takeover.epoch),
                reason: format!(
                    "ids hold epochs up to {EPOCH_MAX}; move the items to a queue of another name"
                ),
            });
        }
        let mut ids = ItemIds { seconds: seconds_of(now).min(SECONDS_MAX), takeover, counter: 0 };
        if let Some(stored) = opened.id_max {
            ids.seconds = ids.seconds.max(stored.seconds());
            if ids.id() <= stored {
                ids.seconds = ids.seconds.saturating_add(1);
            }
            if ids.seconds > SECONDS_MAX {
                return Err(StoreError::Unusable {
                    what: format!("item id {stored}"),
                    reason: "no later item can have a larger id; delete this item in the store".to_owned(),
                });
            }
        }
        Ok(ids)
    }

    /// Starts above everything that the same owner gave out before its partition was opened again.
    #[must_use]
    pub(crate) fn following(mut self, earlier: &ItemIds) -> Self {
        self.seconds = self.seconds.max(earlier.seconds);
        self
    }

    /// The next id.
    #[expect(clippy::should_implement_trait, reason = "it never ends, and every caller wants one id")]
    pub fn next(&mut self) -> ItemId {
        if self.counter > COUNTER_MAX {
            self.seconds = self.seconds.checked_add(1).expect("no owner gives out 2^56 ids");
            self.counter = 0;
        }
        let id = self.id();
        self.counter += 1;
        id
    }

    fn id(&self) -> ItemId {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&self.seconds.to_be_bytes());
        bytes[4..9].copy_from_slice(&self.takeover.epoch.to_be_bytes()[3..]);
        bytes[9..15].copy_from_slice(&self.takeover.random);
        bytes[15..].copy_from_slice(&self.counter.to_be_bytes()[3..]);
        ItemId(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> ItemId {
        text.parse().expect("an id")
    }

    fn hex(id: ItemId) -> String {
        id.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn published_vector_reads_and_writes() {
        let parsed = id("0ujtsYcgvSTl8PAuAdqWYSMnLOv");
        assert_eq!(hex(parsed), "0669f7efb5a1cd34b5f99d1154fb6853345c9735");
        assert_eq!(parsed.to_string(), "0ujtsYcgvSTl8PAuAdqWYSMnLOv");
        assert_eq!(parsed.successor().to_string(), "0ujtsYcgvSTl8PAuAdqWYSMnLOw");
    }

    #[test]
    fn smallest_and_largest_read_and_write() {
        assert_eq!(ItemId::MAX.to_string(), "aWgEPTl1tmebfsQzFP4bxwgy80V");
        assert_eq!(id("aWgEPTl1tmebfsQzFP4bxwgy80V"), ItemId::MAX);
        assert_eq!(id(&"0".repeat(27)), ItemId::MIN);
    }

    #[test]
    fn successor_carries_into_the_seconds() {
        let mut bytes = [0xff; 20];
        bytes[..4].copy_from_slice(&[0, 0, 0, 7]);
        assert_eq!(hex(ItemId::from_bytes(bytes).successor()), format!("00000008{}", "0".repeat(32)));
    }

    #[test]
    fn text_of_another_length_is_refused_with_the_known_words() {
        let refused = "abc".parse::<ItemId>().expect_err("too short");
        assert_eq!(refused.to_string(), "invalid storage id; 'abc': Valid encoded KSUIDs are 27 characters");
    }

    #[test]
    fn text_beyond_the_last_id_or_of_other_characters_is_refused() {
        for text in
            ["aWgEPTl1tmebfsQzFP4bxwgy80W", "zzzzzzzzzzzzzzzzzzzzzzzzzzz", "-jtsYcgvSTl8PAuAdqWYSMnLOvv"]
        {
            let refused = text.parse::<ItemId>().expect_err(text).to_string();
            assert_eq!(
                refused,
                format!(
                    "invalid storage id; '{text}': Valid encoded KSUIDs are bounded by \
                     000000000000000000000000000 and aWgEPTl1tmebfsQzFP4bxwgy80V"
                )
            );
        }
    }

    fn opened(epoch: u64, id_max: Option<ItemId>) -> Opened {
        Opened { takeover: Takeover { epoch, random: [7; 6] }, id_max, ..Opened::default() }
    }

    fn taken(epoch: u64, id_max: Option<ItemId>, seconds: i64) -> ItemIds {
        let now = Timestamp::from_millis((EPOCH_SECONDS + seconds) * 1_000);
        ItemIds::after(&opened(epoch, id_max), now).expect("ids are left")
    }

    #[test]
    fn id_is_seconds_epoch_random_bytes_and_counter() {
        let mut ids = taken(0x01_0203_0405, None, 9);
        assert_eq!(hex(ids.next()), "0000000901020304050707070707070000000000");
        assert_eq!(hex(ids.next()), "0000000901020304050707070707070000000001");
    }

    #[test]
    fn ids_start_above_what_is_stored_although_the_clock_went_back() {
        let stored = ItemId::random(Timestamp::from_millis(1_800_000_000_000));
        let mut ids = taken(1, Some(stored), 300_000_000);
        assert!(ids.next() > stored);
    }

    #[test]
    fn counter_that_is_full_carries_into_the_seconds() {
        let mut ids = ItemIds { counter: COUNTER_MAX, ..taken(1, None, 9) };
        let (last, first) = (ids.next(), ids.next());
        assert_eq!((last.seconds(), first.seconds()), (9, 10));
        assert!(first > last);
        assert_eq!(hex(first)[30..], *"0000000000");
    }

    #[test]
    fn owner_is_refused_whose_ids_would_wrap() {
        let refused = |opened: Opened| {
            let refused = ItemIds::after(&opened, Timestamp::EPOCH).expect_err("it would wrap");
            assert_eq!(refused.code(), "queue.store_unusable");
            refused.to_string()
        };
        assert!(ItemIds::after(&opened(EPOCH_MAX, None), Timestamp::MAX).is_ok());
        assert!(refused(opened(EPOCH_MAX + 1, None)).contains("move the items to a queue of another name"));
        assert!(refused(opened(1, Some(ItemId::MAX))).contains("delete this item in the store"));
    }

    proptest::proptest! {
        #[test]
        fn text_reads_back_and_keeps_the_order(one: [u8; 20], other: [u8; 20]) {
            let (one, other) = (ItemId::from_bytes(one), ItemId::from_bytes(other));
            proptest::prop_assert_eq!(id(one.text().as_str()), one);
            proptest::prop_assert_eq!(one.cmp(&other), one.to_string().cmp(&other.to_string()));
        }

        /// Of each owner: the clock it finds, how many ids it gives out, and how many items are left when it ends.
        #[test]
        fn no_id_comes_twice_and_each_is_above_what_is_stored(
            owners in proptest::collection::vec((0..4_i64, 0..6_usize, 0..20_usize), 1..30),
            oldest: Option<[u8; 16]>,
        ) {
            // Of another layout, in the middle of the clock's range.
            let mut stored: Vec<ItemId> = oldest.into_iter().map(|payload| {
                let mut bytes = [0, 0, 0, 2].to_vec();
                bytes.extend(payload);
                ItemId::from_bytes(bytes.try_into().expect("twenty bytes"))
            }).collect();
            let mut given = std::collections::HashSet::new();
            for (epoch, (seconds, len, kept)) in (1..).zip(owners) {
                let mut ids = taken(epoch, stored.iter().max().copied(), seconds);
                for _ in 0..len {
                    let id = ids.next();
                    proptest::prop_assert!(stored.iter().all(|stored| *stored < id));
                    proptest::prop_assert!(given.insert(id), "{} came twice", id);
                    stored.push(id);
                }
                // The newest are completed first: what is stored says least then.
                stored.truncate(kept);
            }
        }
    }
}
