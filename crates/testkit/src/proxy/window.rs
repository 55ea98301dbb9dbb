//! One direction of a connection as a stream: finds patterns across reads.

use std::collections::HashMap;

use super::Rule;

/// The past of a stream, as much of it as a pattern can reach back into.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// The newest bytes of the past, followed by the chunk being judged.
    bytes: Vec<u8>,
    /// How many of them are past.
    past: usize,
    /// Position in the stream of the first byte kept.
    start: u64,
    /// By rule: where in the stream its last occurrence ended. Occurrences do not overlap, so that their number
    /// does not depend on where the stream was split.
    ends: HashMap<u64, u64>,
}

impl Window {
    /// Moves on to the next chunk.
    pub(super) fn advance(&mut self, chunk: &[u8]) {
        let excess = self.bytes.len().saturating_sub(Rule::PATTERN_BYTES_MAX - 1);
        self.bytes.drain(..excess);
        self.start += excess as u64;
        self.past = self.bytes.len();
        self.bytes.extend_from_slice(chunk);
    }

    /// How often `pattern` ends within the present chunk, for this rule.
    pub(super) fn occurrences(&mut self, rule: u64, pattern: &[u8]) -> u64 {
        let end = self.ends.entry(rule).or_insert(0);
        let reach = self.past.saturating_sub(pattern.len() - 1);
        let unclaimed = usize::try_from(end.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let mut at = reach.max(unclaimed);
        let mut count = 0;
        while let Some(rest) = self.bytes.get(at..)
            && let Some(offset) = rest.windows(pattern.len()).position(|part| part == pattern)
        {
            at += offset + pattern.len();
            *end = self.start + at as u64;
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::{Rule, Window};

    /// Occurrences per chunk.
    fn counts(pattern: &[u8], chunks: &[&[u8]]) -> Vec<u64> {
        let mut window = Window::default();
        let judge = |chunk: &&[u8]| {
            window.advance(chunk);
            window.occurrences(1, pattern)
        };
        chunks.iter().map(judge).collect()
    }

    #[test]
    fn pattern_split_over_reads_is_found_where_it_ends() {
        assert_eq!(counts(b"COMMIT", &[b"xCOM", b"MI", b"T", b"COMMIT"]), [0, 0, 1, 1]);
    }

    #[test]
    fn occurrence_is_counted_once() {
        assert_eq!(counts(b"ab", &[b"ab", b"c", b"ab"]), [1, 0, 1]);
    }

    #[test]
    fn number_of_occurrences_does_not_depend_on_the_split() {
        let stream = b"aaaaaaa";
        for split in 0..=stream.len() {
            let (left, right) = stream.split_at(split);
            assert_eq!(counts(b"aa", &[left, right]).iter().sum::<u64>(), 3, "split at {split}");
        }
    }

    #[test]
    fn longest_pattern_is_found_byte_by_byte() {
        let pattern: Vec<u8> = (0..Rule::PATTERN_BYTES_MAX).map(|i| u8::try_from(i % 251).unwrap()).collect();
        let chunks: Vec<&[u8]> = std::iter::repeat_n(&b"noise"[..], 3_000).chain(pattern.chunks(1)).collect();
        let counts = counts(&pattern, &chunks);
        assert_eq!(counts.iter().sum::<u64>(), 1);
        assert_eq!(counts.last(), Some(&1));
    }

    #[test]
    fn rules_count_apart() {
        let mut window = Window::default();
        window.advance(b"abab");
        assert_eq!(window.occurrences(1, b"ab"), 2);
        assert_eq!(window.occurrences(2, b"ba"), 1);
        assert_eq!(window.occurrences(1, b"ab"), 0);
    }
}
