//! What an owner keeps, where it is Temporal's own. Blobs are the caller's, so anything else is no error: it tells nothing.

use crate::Blob;

/// The bytes of a message of Temporal's.
pub(super) fn of_temporal(blob: &Blob) -> Option<&[u8]> {
    blob.encoding().eq_ignore_ascii_case("proto3").then(|| blob.data())
}
