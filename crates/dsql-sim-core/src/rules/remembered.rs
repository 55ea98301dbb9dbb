//! Texts that were parsed before. A client sends the same few texts over and over, on each of its connections.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

use super::{Parsed, Refusal, parse};

/// Longer texts are not remembered.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// Bytes of text in one generation. A parse tree may take two hundred times as much as its text.
const GENERATION_BYTES_MAX: usize = 256 << 10;

static MEMORY: LazyLock<Mutex<Memory>> = LazyLock::new(Mutex::default);

/// The statements of a text as [`parse`] finds them, from memory where it was parsed before.
pub(crate) fn statements(sql: &str) -> Result<Arc<[Arc<Parsed>]>, Refusal> {
    if let Some(known) = MEMORY.lock().get(sql) {
        return Ok(known);
    }
    let statements: Arc<[Arc<Parsed>]> = parse(sql)?.into_iter().map(Arc::new).collect();
    if sql.len() <= TEXT_BYTES_MAX {
        MEMORY.lock().insert(sql.to_owned(), statements.clone());
    }
    Ok(statements)
}

/// Two generations: what the older one holds and nobody asks for is forgotten when the younger one is full.
#[derive(Default)]
struct Memory {
    younger: HashMap<String, Arc<[Arc<Parsed>]>>,
    older: HashMap<String, Arc<[Arc<Parsed>]>>,
    younger_bytes: usize,
}

impl Memory {
    fn get(&mut self, sql: &str) -> Option<Arc<[Arc<Parsed>]>> {
        if let Some(known) = self.younger.get(sql) {
            return Some(known.clone());
        }
        let (text, known) = self.older.remove_entry(sql)?;
        self.insert(text, known.clone());
        Some(known)
    }

    fn insert(&mut self, sql: String, statements: Arc<[Arc<Parsed>]>) {
        if self.younger_bytes + sql.len() > GENERATION_BYTES_MAX {
            self.older = mem::take(&mut self.younger);
            self.younger_bytes = 0;
        }
        let bytes = sql.len();
        if self.younger.insert(sql, statements).is_none() {
            self.younger_bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_parsed_once() {
        let first = statements("SELECT 'text_is_parsed_once'").unwrap();
        assert!(Arc::ptr_eq(&first, &statements("SELECT 'text_is_parsed_once'").unwrap()));
    }

    #[test]
    fn refused_text_is_refused_again() {
        assert_eq!(statements("SELEC 1").unwrap_err(), statements("SELEC 1").unwrap_err());
    }

    #[test]
    fn memory_is_bounded_and_keeps_what_is_in_use() {
        let mut memory = Memory::default();
        let text = |number: usize| format!("{number:0>1000}");
        memory.insert(text(0), Arc::default());
        for number in 1..1000 {
            memory.insert(text(number), Arc::default());
            assert!(memory.get(&text(0)).is_some(), "forgotten after {number} others");
            let held: usize = memory.younger.keys().chain(memory.older.keys()).map(String::len).sum();
            assert!(held <= 2 * GENERATION_BYTES_MAX, "{held} bytes are held");
        }
        assert!(memory.get(&text(1)).is_none());
    }
}
