//! Laws that hold for all inputs.
#![allow(clippy::unwrap_used, reason = "a generator that breaks its own promise fails the test")]

use std::collections::HashSet;
use std::time::Duration;

use leasehold_core::redis::{KeyPrefix, ReservedKeys};
use leasehold_core::{
    Error, Fence, Key, KeyHash, LockId, StorageKey, StorageKeySpace, TIME_TOLERANCE, Timestamp, Ttl,
    duration, firestore, is_live, postgres,
};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

/// Text rich in what normalisation changes: marks that compose and reorder, jamo, characters that shrink to one
/// byte or grow; and in what key derivation looks at.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => any::<char>().prop_map(String::from),
        4 => proptest::sample::select(vec![
            "a", "e", "q", "\u{301}", "\u{323}", "\u{307}", "\u{338}", "=", "<", "\u{1100}", "\u{1161}", "\u{11a8}",
            "\u{ac00}", "\u{212a}", "\u{1fef}", "\u{958}", "\u{1d160}", "\u{2f800}", "\u{1f512}", "\0", "/", ".",
        ]).prop_map(String::from),
        1 => proptest::sample::select(vec![":", "id:", "fence:", "syncguard:", "__"]).prop_map(String::from),
    ];
    prop_oneof![
        4 => proptest::collection::vec(piece.clone(), 0..24).prop_map(|pieces| pieces.concat()),
        1 => (piece, 100_usize..700).prop_map(|(piece, times)| piece.repeat(times)),
    ]
}

fn key() -> impl Strategy<Value = Key> {
    text().prop_filter_map("a key", |text| Key::parse(&text).ok())
}

/// A prefix under which no key is ever hashed: it stands once as given and once normalised in a fence key.
fn short_prefix() -> impl Strategy<Value = KeyPrefix> {
    let short = |text: &str| text.len().max(text.nfc().map(char::len_utf8).sum()) <= 227;
    prop_oneof![Just(String::new()), Just("syncguard".into()), Just("{tag}:".into()), text()]
        .prop_filter("short", move |text| short(text))
        .prop_filter_map("a prefix", |text| KeyPrefix::parse(&text).ok())
}

fn lock_id() -> impl Strategy<Value = LockId> {
    "[A-Za-z0-9_-]{22}".prop_map(|text| LockId::parse(&text).unwrap())
}

proptest! {
    #[test]
    fn normalisation_is_deterministic_and_idempotent(key in key()) {
        prop_assert_eq!(Key::parse(key.as_str()), Ok(key.clone()));
        prop_assert_eq!(Key::parse(&key.as_str().nfd().collect::<String>()), Ok(key));
    }

    #[test]
    fn length_is_judged_after_normalisation(text in text()) {
        let len = text.nfc().map(char::len_utf8).sum();
        let wanted = match len {
            0 => Err(Error::KeyEmpty),
            1..=512 => Ok(len),
            _ => Err(Error::KeyTooLong { len, limit: 512 }),
        };
        prop_assert_eq!(Key::parse(&text).map(|key| key.as_str().len()), wanted);
    }

    #[test]
    fn equal_looking_texts_have_equal_hashes(text in text()) {
        let hash = KeyHash::of(&text);
        prop_assert_eq!(KeyHash::of(&text.nfc().collect::<String>()), hash);
        prop_assert_eq!(KeyHash::of(&text.nfd().collect::<String>()), hash);
        prop_assert_eq!(KeyHash::of_utf16(text.encode_utf16()), hash);
        prop_assert_eq!(hash.to_string().len(), 24);
    }

    #[test]
    fn derived_key_never_exceeds_limit_less_reserve(
        prefix in text(), text in text(), limit in 0_usize..1800, reserve in 0_usize..40,
    ) {
        if let Ok(key) = StorageKey::derive(&prefix, &text, limit, reserve) {
            prop_assert!(key.as_str().len() + reserve <= limit);
        }
    }

    #[test]
    fn space_gives_every_key_what_derivation_gives(
        prefix in text(), key in key(), lock_id in lock_id(), limit in 22_usize..1800, reserve in 0_usize..40,
    ) {
        let derive = |text: &str| StorageKey::derive(&prefix, text, limit, reserve);
        match StorageKeySpace::new(&prefix, limit, reserve) {
            Ok(space) => {
                let lock = derive(key.as_str())?;
                prop_assert_eq!(derive(&format!("fence:{}", lock.as_str())), Ok(space.fence(&key)));
                prop_assert_eq!(derive(&format!("id:{}", lock_id.as_str())), Ok(space.index(&lock_id)));
                prop_assert_eq!(space.lock(&key), lock);
            }
            Err(error) => {
                prop_assert_eq!(error.code(), "key_prefix.too_long");
                prop_assert!(derive(&"k".repeat(limit + 1)).is_err(), "hashed form had room");
            }
        }
    }

    #[test]
    fn lock_fence_and_index_keys_never_meet(
        prefix in short_prefix(), a in key(), b in key(), lock_id in lock_id(),
    ) {
        let space = StorageKeySpace::redis(&prefix);
        // Keys made to collide: what the other key's entries are called, less the prefix.
        let odd = [format!("fence:{}", space.lock(&b).as_str()), format!("id:{}", lock_id.as_str())];
        let odd = odd.iter().filter_map(|text| Key::parse(text).ok());
        for a in odd.chain([a]).filter(|key| ReservedKeys::Refuse.admit(key).is_ok()) {
            prop_assert_ne!(space.lock(&a), space.fence(&b));
            prop_assert_ne!(space.lock(&a), space.index(&lock_id));
            prop_assert_ne!(space.fence(&a), space.index(&lock_id));
            prop_assert_eq!(space.lock(&a) == space.lock(&b), a == b);
            prop_assert_eq!(space.fence(&a) == space.fence(&b), a == b);
        }
    }

    #[test]
    fn postgres_and_firestore_keep_keys_unhashed(key in key()) {
        for space in [StorageKeySpace::postgres(), StorageKeySpace::firestore()] {
            prop_assert_eq!(space.lock(&key).as_str().to_owned(), key.as_str());
            prop_assert_eq!(space.fence(&key).as_str().to_owned(), format!("fence:{}", key.as_str()));
        }
    }

    #[test]
    fn key_rules_of_stores_never_panic(key in key()) {
        prop_assert_eq!(postgres::admit(&key).is_err(), key.as_str().contains('\0'));
        let plain = firestore::NestedKeys::Refuse.admit(&key);
        prop_assert!(!key.as_str().contains('/') || plain.is_err());
        prop_assert!(plain.is_err() || firestore::NestedKeys::Allow.admit(&key).is_ok());
    }

    #[test]
    fn fence_text_order_is_numeric_order(a in 1..=Fence::MAX.as_u64(), b in 1..=Fence::MAX.as_u64(), near in 0_u64..3) {
        for b in [b, (a + near).min(Fence::MAX.as_u64())] {
            let (x, y) = (Fence::from_counter(a)?, Fence::from_counter(b)?);
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(x.to_string().cmp(&y.to_string()), a.cmp(&b));
        }
    }

    #[test]
    fn fence_survives_its_text(value in 0_u64..=999_999_999_999_999) {
        let fence = Fence::try_from(value)?;
        prop_assert_eq!(fence.to_string().len(), Fence::DIGITS);
        prop_assert_eq!(Fence::parse(&fence.to_string()), Ok(fence));
    }

    #[test]
    fn fences_above_the_maximum_are_never_handed_out(above in Fence::MAX.as_u64() + 1..) {
        prop_assert_eq!(Fence::from_counter(above).map_err(|error| error.code()), Err("fence.overflow"));
    }

    #[test]
    fn lock_id_survives_its_text(lock_id in lock_id()) {
        prop_assert_eq!(LockId::parse(lock_id.as_str()), Ok(lock_id));
    }

    #[test]
    fn duration_survives_its_text(nanos in prop_oneof![0..=i64::MAX.cast_unsigned(), 0_u64..5_000_000_000]) {
        let duration = Duration::from_nanos(nanos);
        prop_assert_eq!(duration::parse(&duration::format(duration)), Ok(duration));
    }

    #[test]
    fn any_text_is_a_duration_or_refused(text in "[-+]?([0-9.]{0,22}(ns|us|µs|ms|s|m|h|d| )?){0,4}") {
        if let Ok(duration) = duration::parse(&text) {
            prop_assert!(duration <= Duration::from_nanos(i64::MAX.cast_unsigned()));
        }
    }

    #[test]
    fn ttl_survives_its_forms(millis in prop_oneof![1..=Ttl::MAX.as_millis(), 1_u64..100_000]) {
        let ttl = Ttl::from_millis(millis)?;
        prop_assert_eq!(ttl.as_millis(), millis);
        prop_assert_eq!(Ttl::try_from(ttl.as_duration()), Ok(ttl));
        if ttl.as_duration() <= Duration::from_nanos(i64::MAX.cast_unsigned()) {
            prop_assert_eq!(ttl.to_string().parse(), Ok(ttl));
        }
    }

    #[test]
    fn expiry_of_any_ttl_is_exact_in_a_double(now in 0_i64..=100_000_000_000_000, millis in 1..=Ttl::MAX.as_millis()) {
        let expires_at = Timestamp::from_millis(now).checked_add(Ttl::from_millis(millis)?.as_duration());
        let expires_at = expires_at.expect("in range").as_millis();
        prop_assert_eq!(expires_at, now + millis.cast_signed());
        prop_assert!(expires_at < 1 << 53);
    }

    #[test]
    fn timestamp_arithmetic_never_panics_nor_wraps(micros: i64, seconds: u64, nanos in 0_u32..1_000_000_000) {
        let (at, by) = (Timestamp::from_micros(micros), Duration::new(seconds, nanos));
        let exact = |sum: i128| i64::try_from(sum).ok().map(Timestamp::from_micros);
        let by_micros = by.as_micros().cast_signed();
        prop_assert_eq!(at.checked_add(by), exact(i128::from(micros) + by_micros));
        prop_assert_eq!(at.checked_sub(by), exact(i128::from(micros) - by_micros));
        prop_assert_eq!(at.saturating_add(by), at.checked_add(by).unwrap_or(Timestamp::MAX));
        prop_assert_eq!(at.saturating_sub(by), at.checked_sub(by).unwrap_or(Timestamp::MIN));
        prop_assert!(at.saturating_add(by) >= at && at.saturating_sub(by) <= at);
        let _ = (Timestamp::from_millis(micros), at.as_millis(), at.saturating_since(Timestamp::MIN));
    }

    #[test]
    fn liveness_in_microseconds_agrees_with_milliseconds(now in 0_i64..4_000_000, expires_at in 0_i64..4_000) {
        let tolerance = 1000;
        let in_millis = expires_at > now.div_euclid(1000) - tolerance;
        let (expires_at, now) = (Timestamp::from_millis(expires_at), Timestamp::from_micros(now));
        prop_assert_eq!(is_live(expires_at, now, TIME_TOLERANCE), in_millis);
    }
}

#[test]
fn generated_lock_ids_are_unique_and_parse() {
    let ids: HashSet<LockId> = (0..10_000).map(|_| LockId::generate().unwrap()).collect();
    assert_eq!(ids.len(), 10_000);
    assert!(ids.iter().all(|id| id.as_str().len() == 22 && LockId::parse(id.as_str()) == Ok(*id)));
}

/// Why the guard exists: without it these keys are each other's entries.
#[test]
fn reserved_keys_meet_other_entries_on_redis() {
    let space = StorageKeySpace::redis(&KeyPrefix::default());
    let lock_id = LockId::parse("AAAAAAAAAAAAAAAAAAAAAA").unwrap();
    let index = Key::parse("id:AAAAAAAAAAAAAAAAAAAAAA").unwrap();
    let counter = Key::parse("fence:syncguard:foo").unwrap();
    assert_eq!(space.lock(&index), space.index(&lock_id));
    assert_eq!(space.lock(&counter), space.fence(&Key::parse("foo").unwrap()));
    for key in [index, counter] {
        assert_eq!(ReservedKeys::default().admit(&key).unwrap_err().code(), "key.reserved");
    }
}
