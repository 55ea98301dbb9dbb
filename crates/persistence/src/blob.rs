//! What a caller stores: bytes and the name of their encoding.

use bytes::Bytes;
use leasehold_txn::tokio_postgres::Row;

use crate::{Error, Result};

/// The longest name of an encoding that the tables can keep.
pub const ENCODING_LEN_MAX: usize = 16;

/// Bytes that no store looks into, and how whoever wrote them encoded them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Blob {
    data: Bytes,
    encoding: String,
}

impl Blob {
    /// A blob.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the name of the encoding is longer than [`ENCODING_LEN_MAX`] characters or has a zero
    /// byte in it.
    pub fn new(data: impl Into<Bytes>, encoding: impl Into<String>) -> Result<Self> {
        let encoding = encoding.into();
        let len = encoding.chars().count();
        if len > ENCODING_LEN_MAX || encoding.contains('\0') {
            return Err(Error::invalid(
                "encoding",
                format!("must have at most {ENCODING_LEN_MAX} characters and no zero byte, has {len}"),
            ));
        }
        Ok(Self { data: data.into(), encoding })
    }

    /// A blob in the encoding of nearly all of them, `Proto3`.
    #[must_use]
    pub fn proto3(data: impl Into<Bytes>) -> Self {
        Self { data: data.into(), encoding: "Proto3".to_owned() }
    }

    /// The bytes.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The name of the encoding.
    #[must_use]
    pub fn encoding(&self) -> &str {
        &self.encoding
    }

    /// From the columns `data` and `data_encoding`.
    pub(crate) fn of(row: &Row) -> Result<Self> {
        Self::of_columns(row, "data", "data_encoding")
    }

    pub(crate) fn of_columns(row: &Row, data: &str, encoding: &str) -> Result<Self> {
        let bytes: Vec<u8> = crate::sql::column(row, data)?;
        // Some tables allow it to be absent.
        let encoding: Option<String> = crate::sql::column(row, encoding)?;
        Ok(Self { data: bytes.into(), encoding: encoding.unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_is_bounded_by_its_column() {
        assert!(Blob::new(vec![1], "é".repeat(16)).is_ok());
        for encoding in ["x".repeat(17), "a\0".to_owned()] {
            let error = Blob::new(vec![1], encoding).expect_err("too long");
            assert_eq!(error.code(), "state.invalid_request");
        }
    }
}
