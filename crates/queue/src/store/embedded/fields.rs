//! Fields of records, one after the other. Reading is strict: what a release of ours cannot have written is an error.

use leasehold_core::Timestamp;

/// Why a record cannot be read.
pub(super) type Malformed = &'static str;

pub(super) fn put_timestamp(record: &mut Vec<u8>, timestamp: Timestamp) {
    record.extend_from_slice(&timestamp.as_micros().to_le_bytes());
}

/// Its length, seven bits a byte, the lowest first; then the text.
pub(super) fn put_text(record: &mut Vec<u8>, text: &str) {
    put_len(record, text.len());
    record.extend_from_slice(text.as_bytes());
}

pub(super) fn put_len(record: &mut Vec<u8>, mut len: usize) {
    while len >= 0x80 {
        record.push((len & 0x7f) as u8 | 0x80);
        len >>= 7;
    }
    record.push(len as u8);
}

/// Reads fields from the front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(record: &'a [u8]) -> Self {
        Fields { rest: record }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn end(&self) -> Result<(), Malformed> {
        self.rest.is_empty().then_some(()).ok_or("it is longer than it should be")
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or("it ends too early")?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const LEN: usize>(&mut self) -> Result<[u8; LEN], Malformed> {
        Ok(self.take(LEN)?.try_into().expect("as long as was taken"))
    }

    pub(super) fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn i32(&mut self) -> Result<i32, Malformed> {
        Ok(i32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(super) fn timestamp(&mut self) -> Result<Timestamp, Malformed> {
        Ok(Timestamp::from_micros(i64::from_le_bytes(self.array()?)))
    }

    pub(super) fn flag(&mut self) -> Result<bool, Malformed> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err("a flag is neither set nor unset"),
        }
    }

    pub(super) fn len(&mut self) -> Result<usize, Malformed> {
        let mut len = 0_usize;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.u8()?;
            len |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let is_shortest = byte != 0 || shift == 0;
                return is_shortest.then_some(len).ok_or("a length is longer than it need be");
            }
        }
        Err("a length is too large")
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Malformed> {
        let len = self.len()?;
        std::str::from_utf8(self.take(len)?).map_err(|_| "a text is not UTF-8")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_back_and_have_one_form() {
        for len in [0, 1, 127, 128, 300, 16_383, 16_384, 2_000_000, 4_000_000_000] {
            let mut record = Vec::new();
            put_len(&mut record, len);
            let mut fields = Fields::new(&record);
            assert_eq!(fields.len(), Ok(len));
            assert_eq!(fields.end(), Ok(()));
        }
        assert!(Fields::new(&[0x80, 0x00]).len().is_err(), "zero in two bytes");
        assert!(Fields::new(&[0xff; 6]).len().is_err(), "too large");
        assert!(Fields::new(&[0x80]).len().is_err(), "cut short");
    }

    #[test]
    fn text_that_is_cut_short_or_not_utf8_is_refused() {
        assert_eq!(Fields::new(&[2, b'a']).text(), Err("it ends too early"));
        assert_eq!(Fields::new(&[1, 0xff]).text(), Err("a text is not UTF-8"));
    }
}
