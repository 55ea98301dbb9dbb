//! How much one write of a turn may hold.

/// A limit is not cut below these: such a write is as short as one can be.
const ITEMS_MIN: usize = 1;
const BYTES_MIN: usize = 64 << 10;

/// What the next write of a kind may hold beside its first request, where that is less than any write may.
///
/// A write that takes too long is cut and its outcome unknown. Repeated as it was it would be cut again, so the next one is
/// half as large. Each write that succeeds doubles the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WriteLimit {
    pub(super) items: usize,
    pub(super) bytes: usize,
}

impl Default for WriteLimit {
    fn default() -> Self {
        WriteLimit { items: usize::MAX, bytes: usize::MAX }
    }
}

impl WriteLimit {
    /// The outcome of a write of this size is unknown.
    pub(super) fn halve(&mut self, items: usize, bytes: usize) {
        self.items = (items / 2).max(ITEMS_MIN);
        self.bytes = (bytes / 2).max(BYTES_MIN);
    }

    /// A write succeeded.
    pub(super) fn double(&mut self) {
        self.items = self.items.saturating_mul(2);
        self.bytes = self.bytes.saturating_mul(2);
    }
}

/// Of each kind of write.
#[derive(Debug, Default)]
pub(super) struct WriteLimits {
    pub(super) produce: WriteLimit,
    pub(super) lease: WriteLimit,
    pub(super) change: WriteLimit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_half_of_what_was_lost_and_doubles_with_each_success() {
        let mut limit = WriteLimit::default();
        limit.double();
        assert_eq!(limit, WriteLimit::default());
        limit.halve(1_000, 4 << 20);
        assert_eq!(limit, WriteLimit { items: 500, bytes: 2 << 20 });
        limit.double();
        assert_eq!(limit, WriteLimit { items: 1_000, bytes: 4 << 20 });
        limit.halve(1, 10);
        assert_eq!(limit, WriteLimit { items: ITEMS_MIN, bytes: BYTES_MIN });
    }
}
