//! Columns the simulator adds to what a statement returns, and takes away again before the client sees the rows.

use bytes::{BufMut, Bytes, BytesMut};

use crate::{
    backend::{Outcome, columns},
    catalogue::RowName,
    intents::{Intent, Strength},
};

/// What is added, in this order: the bytes of the row where they are counted, then names of rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Capture {
    bytes: Option<String>,
    rows: Vec<(Strength, RowName)>,
    /// Whether the client gets rows at all.
    client_rows: bool,
}

/// What was taken away.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Captured {
    pub(crate) bytes: u64,
    pub(crate) intents: Vec<Intent>,
}

impl Capture {
    /// For a statement whose rows go to the client, or have none of their own.
    pub(super) fn new(client_rows: bool) -> Capture {
        Capture { client_rows, ..Capture::default() }
    }

    pub(super) fn bytes(mut self, expression: String) -> Capture {
        self.bytes = Some(expression);
        self
    }

    pub(super) fn rows(mut self, strength: Strength, names: Vec<RowName>) -> Capture {
        self.rows.extend(names.into_iter().map(|name| (strength, name)));
        self
    }

    /// The expressions to add; none when there is nothing to capture.
    pub(super) fn expressions(&self) -> Option<String> {
        let names = self.rows.iter().map(|(_, name)| name.expression.clone());
        let all: Vec<String> = self.bytes.iter().cloned().chain(names).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// The result formats of a client, for rows with more columns than it knows of.
    pub(crate) fn formats(&self, formats: &[i16]) -> Vec<i16> {
        let mut formats = formats.to_vec();
        if formats.len() > 1 {
            formats.extend(std::iter::repeat_n(0, self.added()));
        }
        formats
    }

    /// Takes away what was added. `formats` are the client's.
    pub(crate) fn take(&self, outcome: &mut Outcome, formats: &[i16]) -> Captured {
        let mut captured = Captured::default();
        if self.added() == 0 {
            return captured;
        }
        for row in &mut outcome.rows {
            let values = columns(row);
            let kept = values.len().saturating_sub(self.added());
            self.read(&values[kept..], formats == [1], &mut captured);
            *row = first(row, kept);
        }
        if self.client_rows {
            outcome.description =
                outcome.description.as_ref().map(|description| first_fields(description, self.added()));
        } else {
            outcome.description = None;
            outcome.rows.clear();
        }
        captured
    }

    fn added(&self) -> usize {
        usize::from(self.bytes.is_some()) + self.rows.len()
    }

    fn read(&self, values: &[Option<Bytes>], is_binary: bool, captured: &mut Captured) {
        let mut values = values.iter();
        if self.bytes.is_some() {
            let value = values.next().and_then(Option::as_ref);
            captured.bytes += value.and_then(|value| number(value, is_binary)).unwrap_or(0);
        }
        for ((strength, name), value) in self.rows.iter().zip(values) {
            if let Some(value) = value {
                let row = format!("{}={}", name.prefix, String::from_utf8_lossy(value));
                captured.intents.push(Intent { row, strength: *strength });
            }
        }
    }
}

fn number(value: &[u8], is_binary: bool) -> Option<u64> {
    if is_binary {
        return Some(u64::from_be_bytes(value.try_into().ok()?));
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// A DataRow with only the first `kept` values.
fn first(row: &Bytes, kept: usize) -> Bytes {
    let mut end = 2;
    for value in columns(row).iter().take(kept) {
        end += 4 + value.as_ref().map_or(0, Bytes::len);
    }
    let mut short = BytesMut::with_capacity(end);
    short.put_u16(u16::try_from(kept).unwrap_or(u16::MAX));
    short.put_slice(&row[2..end]);
    short.freeze()
}

/// A RowDescription without its last `removed` fields.
fn first_fields(description: &Bytes, removed: usize) -> Bytes {
    let count = description.get(..2).map_or(0, |bytes| usize::from(u16::from_be_bytes([bytes[0], bytes[1]])));
    let kept = count.saturating_sub(removed);
    let mut end = 2;
    for _ in 0..kept {
        let name = description[end..].iter().position(|byte| *byte == 0).unwrap_or(0);
        end += name + 1 + FIELD_BYTES;
    }
    let mut short = BytesMut::with_capacity(end);
    short.put_u16(u16::try_from(kept).unwrap_or(u16::MAX));
    short.put_slice(&description[2..end]);
    short.freeze()
}

/// What follows the name of a field: table, column, type, length, modifier, format.
const FIELD_BYTES: usize = 18;

#[cfg(test)]
mod tests {
    use super::{Capture, FIELD_BYTES, first_fields};
    use crate::{
        backend::Outcome,
        catalogue::RowName,
        intents::{Intent, Strength},
    };
    use bytes::Bytes;

    fn capture(client_rows: bool) -> Capture {
        let name = RowName { prefix: "7(id)".into(), expression: "x".into() };
        Capture::new(client_rows).bytes("y".into()).rows(Strength::Key, vec![name])
    }

    fn row() -> Outcome {
        let rows = vec![Bytes::from_static(b"\0\x03\0\0\0\x01a\0\0\0\x0230\0\0\0\x03(1)")];
        Outcome { rows, ..Outcome::tagged("DELETE 1") }
    }

    #[test]
    fn client_sees_its_own_columns_only() {
        let mut outcome = row();
        let captured = capture(true).take(&mut outcome, &[]);
        assert_eq!(outcome.rows, [Bytes::from_static(b"\0\x01\0\0\0\x01a")]);
        assert_eq!(captured.bytes, 30);
        assert_eq!(captured.intents, [Intent { row: "7(id)=(1)".into(), strength: Strength::Key }]);
    }

    #[test]
    fn statement_without_rows_shows_none() {
        let mut outcome = row();
        capture(false).take(&mut outcome, &[]);
        assert_eq!(outcome, Outcome::tagged("DELETE 1"));
    }

    #[test]
    fn formats_of_each_column_are_kept_and_added_ones_are_text() {
        assert_eq!(capture(true).formats(&[1]), [1]);
        assert_eq!(capture(true).formats(&[1, 0]), [1, 0, 0, 0]);
        assert_eq!(capture(true).formats(&[]), [0_i16; 0]);
    }

    #[test]
    fn description_loses_the_last_fields() {
        let field = |name: &str| [name.as_bytes(), &[0], &[9; FIELD_BYTES]].concat();
        let description = Bytes::from([&[0, 2][..], &field("a"), &field("bytes")].concat());
        assert_eq!(first_fields(&description, 1), Bytes::from([&[0, 1][..], &field("a")].concat()));
    }
}
