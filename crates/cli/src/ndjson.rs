//! Items as lines of JSON, in and out.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use leasehold_api::queue::StorageItem;

use crate::failure::Failure;

/// An item as it was stored, and in which partition: a line of `queue export`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stored {
    #[serde(default)]
    pub(crate) partition: i32,
    pub(crate) item: StorageItem,
}

/// What one request may carry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) items: usize,
    pub(crate) bytes: usize,
}

/// Under the limits of a server that nobody configured: 1,000 items and 5,000,000 bytes.
pub(crate) const PRODUCE_ROOM: Room = Room { items: 1_000, bytes: 4_500_000 };

/// Lines that go together, and the lines before the first that does not.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    pub(crate) items: Vec<T>,
    pub(crate) offset: u64,
}

/// Reads lines of JSON in batches. Empty lines are counted and skipped.
pub(crate) struct Reader<T> {
    lines: Box<dyn BufRead + Send>,
    name: String,
    /// Lines read.
    offset: u64,
    /// Read, but the batch was full.
    held: Option<(T, usize)>,
    line: String,
}

impl<T: DeserializeOwned> Reader<T> {
    /// From a file, or from stdin where it is `-`; the first `offset` lines are passed over.
    pub(crate) fn open(path: &Path, offset: u64) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let lines: Box<dyn BufRead + Send> = match name.as_str() {
            "-" => Box::new(BufReader::new(io::stdin())),
            _ => Box::new(BufReader::new(File::open(path).map_err(|error| Failure::file(&name, error))?)),
        };
        Reader::over(lines, name, offset)
    }

    fn over(lines: Box<dyn BufRead + Send>, name: String, offset: u64) -> Result<Self, Failure> {
        let mut reader = Reader { lines, name, offset: 0, held: None, line: String::new() };
        while reader.offset < offset {
            if !reader.read_line()? {
                return Err(Failure::input(format!("{} has only {} lines", reader.name, reader.offset)));
            }
        }
        Ok(reader)
    }

    fn read_line(&mut self) -> Result<bool, Failure> {
        self.line.clear();
        let read = self.lines.read_line(&mut self.line).map_err(|error| Failure::file(&self.name, error))?;
        self.offset += u64::from(read > 0);
        Ok(read > 0)
    }

    fn next(&mut self) -> Result<Option<(T, usize)>, Failure> {
        if let Some(held) = self.held.take() {
            return Ok(Some(held));
        }
        loop {
            if !self.read_line()? {
                return Ok(None);
            }
            let text = self.line.trim();
            if !text.is_empty() {
                let item = leasehold_api::from_json(text.as_bytes()).map_err(|error| {
                    Failure::input(format!("{}, line {}: {error}", self.name, self.offset))
                })?;
                return Ok(Some((item, text.len())));
            }
        }
    }

    /// As many lines as there is room for; a line that is too long for any batch is one of its own, for the server to
    /// judge. None at the end.
    pub(crate) fn batch(&mut self, room: Room) -> Result<Option<Batch<T>>, Failure> {
        let (mut items, mut bytes) = (Vec::new(), 0);
        while items.len() < room.items {
            let Some((item, len)) = self.next()? else { break };
            if !items.is_empty() && bytes + len > room.bytes {
                self.held = Some((item, len));
                break;
            }
            bytes += len;
            items.push(item);
        }
        let offset = self.offset - u64::from(self.held.is_some());
        Ok(if items.is_empty() { None } else { Some(Batch { items, offset }) })
    }
}

/// How many items a file has behind so many lines; nothing for stdin, which can be read only once.
pub(crate) fn count_behind(path: &Path, offset: u64) -> Option<u64> {
    if path == Path::new("-") {
        return None;
    }
    let lines = BufReader::new(File::open(path).ok()?).split(b'\n');
    let lines = lines.skip(usize::try_from(offset).ok()?).map_while(Result::ok);
    u64::try_from(lines.filter(|line| !line.trim_ascii().is_empty()).count()).ok()
}

/// Writes one line. A reader that went away, such as `head`, ends the command without an error.
pub(crate) fn write(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use leasehold_api::queue::QueueProduceItem;

    use super::*;

    fn reader(text: &'static str, offset: u64) -> Result<Reader<QueueProduceItem>, Failure> {
        Reader::over(Box::new(text.as_bytes()), "items".to_owned(), offset)
    }

    fn texts(batch: &Batch<QueueProduceItem>) -> Vec<&str> {
        batch.items.iter().map(|item| item.utf8.as_str()).collect()
    }

    const FOUR: &str = "{\"utf8\":\"a\"}\n\n{\"utf8\":\"b\"}\n{\"utf8\":\"c\"}\n{\"utf8\":\"d\"}";

    #[test]
    fn batches_end_where_there_is_no_room_and_say_how_many_lines_came_before() {
        let mut lines = reader(FOUR, 0).expect("opens");
        let room = Room { items: 3, bytes: 30 };
        let first = lines.batch(room).expect("reads").expect("has some");
        assert_eq!((texts(&first), first.offset), (vec!["a", "b"], 3));
        let second = lines.batch(room).expect("reads").expect("has some");
        assert_eq!((texts(&second), second.offset), (vec!["c", "d"], 5));
        assert!(lines.batch(room).expect("reads").is_none());
    }

    #[test]
    fn offset_goes_on_where_a_batch_ended() {
        let mut lines = reader(FOUR, 3).expect("opens");
        let rest = lines.batch(PRODUCE_ROOM).expect("reads").expect("has some");
        assert_eq!(texts(&rest), ["c", "d"]);
        let refused = reader(FOUR, 6).err().expect("is past the end").line();
        assert!(refused.contains("only 5 lines"), "{refused}");
    }

    #[test]
    fn items_behind_an_offset_are_counted_without_empty_lines() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("items");
        std::fs::write(&path, FOUR).expect("writes");
        assert_eq!(
            [0, 2, 4, 9].map(|offset| count_behind(&path, offset)),
            [Some(4), Some(3), Some(1), Some(0)]
        );
        assert_eq!(count_behind(Path::new("-"), 0), None);
        assert_eq!(count_behind(Path::new("/no/such/file"), 0), None);
    }

    #[test]
    fn line_too_long_for_any_batch_is_one_of_its_own() {
        let mut lines = reader(FOUR, 0).expect("opens");
        let first = lines.batch(Room { items: 3, bytes: 1 }).expect("reads").expect("has some");
        assert_eq!(texts(&first), ["a"]);
    }

    #[test]
    fn any_bytes_are_items_or_a_refusal() {
        let good = b"{\"partition\":1,\"item\":{\"id\":\"a\",\"payload\":\"aGk=\",\"created_at\":\"2026-11-15T07:05:51Z\"}}\n\n{\"item\":{}}\n";
        let mut number = 0x2319_2319_u32;
        let mut random = |below: usize| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (number >> 8) as usize % below
        };
        for _ in 0..5_000 {
            let mut bytes = good.to_vec();
            for _ in 0..=random(3) {
                let at = random(bytes.len());
                match random(3) {
                    0 => bytes[at] = u8::try_from(random(256)).expect("a byte"),
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, b"\n\"{}[]\xff"[random(7)]),
                }
            }
            let lines = Reader::<Stored>::over(Box::new(io::Cursor::new(bytes)), "items".to_owned(), 0);
            let mut lines = lines.expect("opens");
            // Ends: each batch is a line at the least, and a refusal is the end.
            while let Ok(Some(batch)) = lines.batch(Room { items: 1, bytes: 1 }) {
                assert_eq!(batch.items.len(), 1);
                assert!(batch.offset <= 8, "{}", batch.offset);
            }
        }
    }

    #[test]
    fn bad_line_is_named() {
        for text in ["{\"utf8\":\"a\"}\nnonsense\n", "{}\n{\"bogus\":1}\n", "{}\n[]\n"] {
            let refused = reader(text, 0).expect("opens").batch(PRODUCE_ROOM).expect_err(text).line();
            assert!(refused.contains("items, line 2"), "{refused}");
        }
    }
}
