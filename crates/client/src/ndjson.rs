//! Items as lines of JSON, in and out: what `queue produce --file`, `queue export` and `queue import` read and write.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use leasehold_api::queue::StorageItem;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Why lines cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot use the file {name}: {source}")]
    File {
        /// The file.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// A line is not an item.
    #[error("{name}, line {line}: {source}")]
    Line {
        /// The file.
        name: String,
        /// Its number; the first is 1.
        line: u64,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// More lines were to be passed over than there are.
    #[error("{name} has only {lines} lines")]
    Short {
        /// The file.
        name: String,
        /// How many it has.
        lines: u64,
    },
}

/// A result of this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An item as it was stored, and in which partition: a line of `queue export`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// The partition; the first where none is named.
    #[serde(default)]
    pub partition: i32,
    /// The item.
    pub item: StorageItem,
}

/// What one request may carry.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Items.
    pub items: usize,
    /// Bytes of their lines.
    pub bytes: usize,
}

/// Under the limits of a server that nobody configured: 1,000 items and 5,000,000 bytes.
pub const PRODUCE_ROOM: Room = Room { items: 1_000, bytes: 4_500_000 };

/// Lines that go together, and the lines before the first that does not.
#[derive(Debug)]
pub struct Batch<T> {
    /// What they hold.
    pub items: Vec<T>,
    /// Where to go on.
    pub offset: u64,
}

/// Reads lines of JSON in batches. Empty lines are counted and skipped.
pub struct Reader<T> {
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
    ///
    /// # Errors
    /// It cannot be read, or has fewer lines.
    pub fn open(path: &Path, offset: u64) -> Result<Self> {
        let name = path.display().to_string();
        let lines: Box<dyn BufRead + Send> = match name.as_str() {
            "-" => Box::new(BufReader::new(io::stdin())),
            _ => match File::open(path) {
                Ok(file) => Box::new(BufReader::new(file)),
                Err(source) => return Err(Error::File { name, source }),
            },
        };
        Reader::over(lines, name, offset)
    }

    /// From what is open already, under a name for messages; the first `offset` lines are passed over.
    ///
    /// # Errors
    /// It cannot be read, or has fewer lines.
    pub fn over(lines: Box<dyn BufRead + Send>, name: String, offset: u64) -> Result<Self> {
        let mut reader = Reader { lines, name, offset: 0, held: None, line: String::new() };
        while reader.offset < offset {
            if !reader.read_line()? {
                return Err(Error::Short { name: reader.name, lines: reader.offset });
            }
        }
        Ok(reader)
    }

    fn read_line(&mut self) -> Result<bool> {
        self.line.clear();
        let read = self.lines.read_line(&mut self.line);
        let read = read.map_err(|source| Error::File { name: self.name.clone(), source })?;
        self.offset += u64::from(read > 0);
        Ok(read > 0)
    }

    fn next(&mut self) -> Result<Option<(T, usize)>> {
        if let Some(held) = self.held.take() {
            return Ok(Some(held));
        }
        loop {
            if !self.read_line()? {
                return Ok(None);
            }
            let text = self.line.trim();
            if !text.is_empty() {
                let item = leasehold_api::from_json(text.as_bytes()).map_err(|source| Error::Line {
                    name: self.name.clone(),
                    line: self.offset,
                    source,
                })?;
                return Ok(Some((item, text.len())));
            }
        }
    }

    /// As many lines as there is room for; a line that is too long for any batch is one of its own, for the server to
    /// judge. None at the end.
    ///
    /// # Errors
    /// A line is not an item; those before it are lost with it.
    pub fn batch(&mut self, room: Room) -> Result<Option<Batch<T>>> {
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
pub fn count_behind(path: &Path, offset: u64) -> Option<u64> {
    if path == Path::new("-") {
        return None;
    }
    let lines = BufReader::new(File::open(path).ok()?).split(b'\n');
    let lines = lines.skip(usize::try_from(offset).ok()?).map_while(io::Result::ok);
    u64::try_from(lines.filter(|line| !line.trim_ascii().is_empty()).count()).ok()
}

/// Writes one line.
///
/// # Errors
/// It cannot be written.
pub fn write(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// What an export that was cut has left: the bytes of its whole lines, and the last of them, which may be empty. What
/// comes behind is half a line.
///
/// # Errors
/// It cannot be read.
pub fn whole_lines(mut lines: impl BufRead) -> io::Result<(u64, Vec<u8>)> {
    let (mut whole, mut last, mut line) = (0, Vec::new(), Vec::new());
    loop {
        line.clear();
        let read = lines.read_until(b'\n', &mut line)?;
        if read == 0 || line.last() != Some(&b'\n') {
            return Ok((whole, last));
        }
        whole += read as u64;
        std::mem::swap(&mut last, &mut line);
    }
}

#[cfg(test)]
mod tests {
    use leasehold_api::queue::QueueProduceItem;

    use super::*;

    fn reader(text: &'static str, offset: u64) -> Result<Reader<QueueProduceItem>> {
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
        let refused = reader(FOUR, 6).err().expect("is past the end").to_string();
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
    fn bad_line_is_named() {
        for text in ["{\"utf8\":\"a\"}\nnonsense\n", "{}\n{\"bogus\":1}\n", "{}\n[]\n"] {
            let refused = reader(text, 0).expect("opens").batch(PRODUCE_ROOM).expect_err(text).to_string();
            assert!(refused.contains("items, line 2"), "{refused}");
        }
    }
}
