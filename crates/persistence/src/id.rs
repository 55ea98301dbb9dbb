//! Ids: the 16 bytes of a UUID, each kind a type of its own.

use std::error::Error as StdError;
use std::fmt;
use std::str::FromStr;

use leasehold_txn::tokio_postgres::types::private::BytesMut;
use leasehold_txn::tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

use crate::Error;

macro_rules! id {
    ($(#[$doc:meta] $name:ident, $field:literal;)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name([u8; 16]);

        impl $name {
            /// From the bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_uuid(f, &self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_uuid(f, &self.0)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                let bytes = parse_uuid(text)
                    .ok_or_else(|| Error::invalid($field, "must be a UUID such as 6ba7b810-9dad-11d1-80b4-00c04fd430c8".to_owned()))?;
                Ok(Self(bytes))
            }
        }

        // Sixteen bytes are the same on the wire for `bytea`, as PostgreSQL keeps ids, and for `uuid`, as DSQL must.
        impl ToSql for $name {
            fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
                out.extend_from_slice(&self.0);
                Ok(IsNull::No)
            }

            accepts!(BYTEA, UUID);
            to_sql_checked!();
        }

        impl<'a> FromSql<'a> for $name {
            fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
                Ok(Self(raw.try_into()?))
            }

            accepts!(BYTEA, UUID);
        }
    )*};
}

id! {
    /// A namespace.
    NamespaceId, "namespace_id";
    /// A run of a workflow.
    RunId, "run_id";
    /// The history of an execution, with all its branches.
    TreeId, "tree_id";
    /// One branch of a history.
    BranchId, "branch_id";
    /// A host of the cluster.
    HostId, "host_id";
    /// A Nexus endpoint.
    EndpointId, "endpoint_id";
}

/// Where a UUID has its dashes, in bytes.
const DASHES: [usize; 4] = [4, 6, 8, 10];

fn write_uuid(f: &mut fmt::Formatter<'_>, bytes: &[u8; 16]) -> fmt::Result {
    for (at, byte) in bytes.iter().enumerate() {
        if DASHES.contains(&at) {
            f.write_str("-")?;
        }
        write!(f, "{byte:02x}")?;
    }
    Ok(())
}

fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let text = text.as_bytes();
    if text.len() != 36 {
        return None;
    }
    let mut bytes = [0; 16];
    let mut from = 0;
    for (at, byte) in bytes.iter_mut().enumerate() {
        if DASHES.contains(&at) {
            if text[from] != b'-' {
                return None;
            }
            from += 1;
        }
        let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        *byte = digit(text[from])? << 4 | digit(text[from + 1])?;
        from += 2;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "deadbeef-0123-4567-89ab-cdef00112233";

    #[test]
    fn text_reads_back() {
        let id: RunId = TEXT.parse().expect("a UUID");
        assert_eq!(id.to_string(), TEXT);
        assert_eq!(id.as_bytes()[..4], [0xde, 0xad, 0xbe, 0xef]);
        assert_eq!(TEXT.to_uppercase().parse::<RunId>().expect("a UUID"), id);
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for text in [
            "",
            "deadbeef",
            "deadbeef-0123-4567-89ab-cdef0011223g",
            "deadbeef00123-4567-89ab-cdef00112233",
            "é".repeat(18).as_str(),
        ] {
            let error = text.parse::<NamespaceId>().expect_err("no UUID");
            assert!(error.to_string().contains("namespace_id"), "{error}");
        }
    }
}
