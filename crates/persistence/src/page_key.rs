//! Tokens of lists that are ordered by an id or by a name: the last one of the page before.

use crate::{PageToken, Result, bounds};

impl PageToken {
    /// The id that the page before ended with.
    pub(crate) fn id(&self) -> Result<[u8; 16]> {
        self.as_bytes().try_into().map_err(|_| Self::malformed())
    }

    /// The name that the page before ended with.
    pub(crate) fn name(&self) -> Result<&str> {
        let name = std::str::from_utf8(self.as_bytes()).map_err(|_| Self::malformed())?;
        bounds::name("page_token", name)?;
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_of_another_list_is_refused() {
        for len in [0, 8, 15, 17] {
            let error = PageToken::from_bytes(vec![1; len]).id().expect_err("no id");
            assert_eq!(error.code(), "state.invalid_request");
        }
        assert_eq!(PageToken::from_bytes([7; 16]).id().expect("an id"), [7; 16]);
        for bytes in [vec![0xff], vec![], vec![0], vec![b'x'; 256]] {
            let error = PageToken::from_bytes(bytes).name().expect_err("no name");
            assert_eq!(error.code(), "state.invalid_request");
        }
        assert_eq!(PageToken::from_bytes("orders").name().expect("a name"), "orders");
    }
}
