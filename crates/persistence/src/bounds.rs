//! What the names in a request are held to.

use crate::{Error, Result};

/// The longest name that the tables can keep, in characters.
pub const NAME_LEN_MAX: usize = 255;

/// A name that its column can keep.
pub(crate) fn name(field: &'static str, name: &str) -> Result<()> {
    let len = name.chars().count();
    if len == 0 || len > NAME_LEN_MAX || name.contains('\0') {
        return Err(Error::invalid(
            field,
            format!("must have 1 to {NAME_LEN_MAX} characters and no zero byte, has {len}"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_their_column() {
        assert!(name("name", &"é".repeat(255)).is_ok());
        for bad in ["", &"x".repeat(256), "a\0b"] {
            let error = name("queue_name", bad).expect_err("a bad name");
            assert!(matches!(error, Error::InvalidRequest { field: "queue_name", .. }), "{error:?}");
        }
    }
}
