//! Nodes of the tree of components that an execution may keep.

use std::error::Error as StdError;
use std::fmt;

use leasehold_txn::tokio_postgres::types::private::BytesMut;
use leasehold_txn::tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

use crate::{Blob, Error, Result};

/// The longest path that both databases can keep in a key: DSQL has no bytes there, and in hexadecimal it is twice as long.
const PATH_LEN_MAX: usize = 255;

/// Where in the tree a node is, in the encoding of whoever wrote it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChasmPath(Vec<u8>);

impl ChasmPath {
    /// A path.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when it has more than 255 bytes.
    pub fn new(path: impl Into<Vec<u8>>) -> Result<Self> {
        let path = path.into();
        if path.len() > PATH_LEN_MAX {
            let reason = format!("must have at most {PATH_LEN_MAX} bytes, has {}", path.len());
            return Err(Error::invalid("chasm_path", reason));
        }
        Ok(Self(path))
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for ChasmPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.escape_ascii().fmt(f)
    }
}

impl ToSql for ChasmPath {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        if *kind == Type::BYTEA {
            out.extend_from_slice(&self.0);
        } else {
            for byte in &self.0 {
                fmt::Write::write_fmt(out, format_args!("{byte:02x}"))?;
            }
        }
        Ok(IsNull::No)
    }

    accepts!(BYTEA, TEXT, VARCHAR);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for ChasmPath {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        if *kind == Type::BYTEA {
            return Ok(Self(raw.to_vec()));
        }
        let digit = |digit: u8| char::from(digit).to_digit(16);
        let byte = |pair: &[u8]| match *pair {
            [high, low] => u8::try_from(digit(high)? << 4 | digit(low)?).ok(),
            _ => None,
        };
        let path: Option<_> = raw.chunks(2).map(byte).collect();
        Ok(Self(path.ok_or("a path is not hexadecimal")?))
    }

    accepts!(BYTEA, TEXT, VARCHAR);
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChasmNode {
    /// What the tree knows of it.
    pub metadata: Blob,
    /// What the component keeps in it, if anything.
    pub data: Option<Blob>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_reads_back_from_either_database() {
        let path = ChasmPath::new(vec![0, 0xff, b'/', 0x0a]).expect("a path");
        for (kind, stored) in [(Type::BYTEA, &path.0[..]), (Type::VARCHAR, &b"00ff2f0a"[..])] {
            let mut out = BytesMut::new();
            let _ = path.to_sql(&kind, &mut out).expect("a value");
            assert_eq!(out, stored);
            assert_eq!(ChasmPath::from_sql(&kind, &out).expect("a path"), path);
        }
        for stored in ["0", "0g", "é"] {
            assert!(ChasmPath::from_sql(&Type::TEXT, stored.as_bytes()).is_err(), "{stored}");
        }
        assert!(ChasmPath::new(vec![0; 255]).is_ok());
        assert!(ChasmPath::new(vec![0; 256]).is_err());
    }
}
