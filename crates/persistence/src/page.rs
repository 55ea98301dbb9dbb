//! Lists that come in pages.

use std::ops::Range;

use crate::{Error, Result};

/// The most that a page holds.
pub const PAGE_SIZE_MAX: u16 = 1000;

/// How many of a list are asked for at once: 1 to [`PAGE_SIZE_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageSize(u16);

impl PageSize {
    /// As many as a page can hold.
    pub const MAX: Self = Self(PAGE_SIZE_MAX);

    /// A size.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when it is 0 or more than [`PAGE_SIZE_MAX`].
    pub fn new(size: usize) -> Result<Self> {
        match u16::try_from(size) {
            Ok(size @ 1..=PAGE_SIZE_MAX) => Ok(Self(size)),
            _ => Err(Error::invalid("page_size", format!("must be 1 to {PAGE_SIZE_MAX}, is {size}"))),
        }
    }

    pub(crate) fn limit(self) -> i64 {
        i64::from(self.0)
    }

    fn is_reached_by(self, len: usize) -> bool {
        len >= usize::from(self.0)
    }
}

/// Where the next page begins. Its bytes are nobody's business but the store's, and good for the same list only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageToken(Vec<u8>);

impl PageToken {
    /// A token that came from [`as_bytes`](Self::as_bytes), perhaps in another process.
    #[must_use]
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes, to be kept or sent.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Eight bytes each, the lowest first, as Temporal's own tokens of task ids are.
    pub(crate) fn of_numbers<const N: usize>(numbers: [i64; N]) -> Self {
        Self(numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
    }

    pub(crate) fn numbers<const N: usize>(&self) -> Result<[i64; N]> {
        let (numbers, rest) = self.0.as_chunks::<8>();
        match <[[u8; 8]; N]>::try_from(numbers) {
            Ok(numbers) if rest.is_empty() => Ok(numbers.map(i64::from_le_bytes)),
            _ => Err(Self::malformed()),
        }
    }

    /// For a list that goes by id through a range: the id next to the last; nothing when that is not in it any more.
    pub(crate) fn after_id(last: i64, ids: &Range<i64>) -> Option<Self> {
        let next = last.checked_add(1).filter(|next| *next < ids.end)?;
        Some(Self::of_numbers([next]))
    }

    /// Where such a list goes on.
    pub(crate) fn id_in(&self, ids: &Range<i64>) -> Result<i64> {
        let [next] = self.numbers()?;
        if ids.contains(&next) { Ok(next) } else { Err(Self::malformed()) }
    }

    pub(crate) fn malformed() -> Error {
        Error::invalid("page_token", "is not one of this list".to_owned())
    }
}

/// A part of a list, and where the next part begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The part, in the order of the list.
    pub items: Vec<T>,
    /// Where to go on; nothing at the end of the list. What it leads to may be empty.
    pub next: Option<PageToken>,
}

impl<T> Page<T> {
    /// There may be more where a page is full, and only there.
    pub(crate) fn new(items: Vec<T>, size: PageSize, after: impl FnOnce(&T) -> Option<PageToken>) -> Self {
        let next = items.last().filter(|_| size.is_reached_by(items.len())).and_then(after);
        Self { items, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_bounded() {
        assert_eq!(PageSize::new(1).expect("a size").limit(), 1);
        assert_eq!(PageSize::new(1000).expect("a size"), PageSize::MAX);
        for size in [0, 1001, usize::MAX] {
            assert!(matches!(PageSize::new(size), Err(Error::InvalidRequest { field: "page_size", .. })));
        }
    }

    #[test]
    fn numbers_read_back_and_nothing_else_is_taken() {
        let token = PageToken::of_numbers([7, i64::MIN]);
        assert_eq!(token.as_bytes()[..8], [7, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(token.numbers::<2>().expect("two numbers"), [7, i64::MIN]);
        assert!(token.numbers::<1>().is_err());
        for len in [0, 1, 15, 17, 24] {
            assert!(PageToken::from_bytes(vec![0; len]).numbers::<2>().is_err(), "{len}");
        }
    }

    #[test]
    fn list_by_id_goes_on_behind_the_last_within_its_range() {
        let token = PageToken::after_id(5, &(1..7)).expect("more");
        assert_eq!(token.as_bytes(), [6, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(token.id_in(&(1..7)).expect("an id"), 6);
        assert!(token.id_in(&(1..6)).is_err() && token.id_in(&(7..9)).is_err());
        assert_eq!(PageToken::after_id(6, &(1..7)), None);
        assert_eq!(PageToken::after_id(i64::MAX, &(1..i64::MAX)), None);
    }

    #[test]
    fn page_that_is_not_full_is_the_last() {
        let size = PageSize::new(2).expect("a size");
        let token = |last: &i64| Some(PageToken::of_numbers([*last]));
        assert_eq!(Page::new(vec![5], size, token).next, None);
        assert_eq!(Page::new(vec![], size, token).next, None);
        assert_eq!(Page::new(vec![5, 6], size, token).next, Some(PageToken::of_numbers([6])));
    }
}
