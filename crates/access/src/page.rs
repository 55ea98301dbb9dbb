//! Which part of a list is wanted.

/// Records that one call returns when it does not say how many.
const LIMIT_DEFAULT: usize = 1_000;

/// Where a list starts and how long it may be. The default is the first thousand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The first key, or the one before it if it is not there; blank for the start.
    pub pivot: String,
    /// How many; 0 is 1,000, below zero is none.
    pub limit: i32,
}

impl Page {
    /// Where to start.
    pub(crate) fn pivot(&self) -> &str {
        if self.pivot.trim().is_empty() { "" } else { &self.pivot }
    }

    /// How many; none if nothing is wanted.
    pub(crate) fn limit(&self) -> Option<usize> {
        match self.limit {
            0 => Some(LIMIT_DEFAULT),
            limit => usize::try_from(limit).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_a_thousand_and_below_is_nothing() {
        for (limit, wanted) in
            [(0, Some(1_000)), (1, Some(1)), (5_000, Some(5_000)), (-1, None), (i32::MIN, None)]
        {
            assert_eq!(Page { limit, ..Page::default() }.limit(), wanted);
        }
    }

    #[test]
    fn blank_pivot_is_the_start() {
        for (pivot, start) in [("", ""), (" \t\u{2003}", ""), (" a", " a")] {
            assert_eq!(Page { pivot: pivot.to_owned(), limit: 0 }.pivot(), start);
        }
    }
}
