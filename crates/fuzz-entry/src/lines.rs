//! Files of items, a line of JSON each: what is produced from, exported to and imported from.

use std::fmt::Debug;
use std::io::Cursor;

use leasehold_api::queue::{QueueProduceItem, StorageItem};
use leasehold_client::ndjson::{Error, Reader, Room, Stored, whole_lines, write};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::seeds;

/// Small, so that a few lines are many batches.
const ROOM: Room = Room { items: 2, bytes: 60 };

pub(crate) fn ndjson(bytes: &[u8]) {
    as_items::<QueueProduceItem>(bytes);
    as_items::<Stored>(bytes);
    as_items::<StorageItem>(bytes);
    cut(bytes);
}

fn as_items<T: DeserializeOwned + Serialize + PartialEq + Debug>(bytes: &[u8]) {
    let lines_max = bytes.split(|byte| *byte == b'\n').count() as u64;
    let (mut offset, mut items) = (0, Vec::new());
    let mut lines = reader::<T>(bytes, 0).expect("nothing is passed over");
    let refused = loop {
        match lines.batch(ROOM) {
            Ok(Some(batch)) => {
                assert!((1..=ROOM.items).contains(&batch.items.len()));
                assert!(
                    batch.offset > offset && batch.offset <= lines_max,
                    "{} of {lines_max}",
                    batch.offset
                );
                goes_on_behind(&mut reader(bytes, offset).expect("has so many lines"), &batch.items);
                offset = batch.offset;
                items.extend(batch.items);
            }
            Ok(None) => break false,
            Err(Error::Line { line, .. }) => {
                assert!(line > offset && line <= lines_max, "line {line} of {lines_max}");
                break true;
            }
            // Not text.
            Err(_) => break true,
        }
    };
    let mut written = Vec::new();
    for item in &items {
        write(&mut written, item).expect("memory takes everything");
    }
    assert_eq!(written.iter().filter(|byte| **byte == b'\n').count(), items.len(), "a line each");
    let mut again = reader::<T>(&written, 0).expect("nothing is passed over");
    let room = Room { items: usize::MAX, bytes: usize::MAX };
    let read = again.batch(room).expect("is ours").map(|batch| batch.items).unwrap_or_default();
    assert_eq!(read, items, "refused: {refused}");
}

/// Whoever stops after a batch and comes again with its offset misses nothing and does nothing twice.
fn goes_on_behind<T: DeserializeOwned + PartialEq + Debug>(lines: &mut Reader<T>, expected: &[T]) {
    let found = lines.batch(ROOM).expect("was read before").expect("was read before");
    assert_eq!(found.items, expected);
}

fn reader<T: DeserializeOwned>(bytes: &[u8], offset: u64) -> Result<Reader<T>, Error> {
    Reader::over(Box::new(Cursor::new(bytes.to_vec())), "items".to_owned(), offset)
}

/// An export that is resumed keeps whole lines, and goes on behind the last of them.
fn cut(bytes: &[u8]) {
    let (whole, last) = whole_lines(bytes).expect("memory can be read");
    let (kept, half) = bytes.split_at(usize::try_from(whole).expect("is in memory"));
    assert!(!half.contains(&b'\n') && kept.ends_with(&last));
    assert_eq!(kept.is_empty(), last.is_empty());
}

pub(crate) fn ndjson_seeds() -> Vec<Vec<u8>> {
    seeds(&[
        "{\"utf8\":\"a\"}\n\n{\"utf8\":\"b\",\"kind\":\"order\"}\n{\"bytes\":\"aGk=\",\"reference\":\"r\"}",
        "{\"utf8\":\"later\",\"enqueue_at\":\"2026-11-15T07:05:51.25Z\",\"encoding\":\"json\"}\r\n",
        "{\"partition\":1,\"item\":{\"id\":\"3M8JduQhcTnqQaxswEiQu6xNDyA\",\"payload\":\"aGk=\",\"attempts\":2,\
         \"created_at\":\"2026-11-15T07:05:51Z\"}}\n{\"item\":{}}\n",
        "{\"id\":\"3M8JduQhcTnqQaxswEiQu6xNDyA\",\"is_leased\":true,\"lease_deadline\":\"2026-11-15T07:05:51Z\"}\n{\"ki",
    ])
}
