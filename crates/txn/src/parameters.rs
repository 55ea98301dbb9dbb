//! How many values a statement takes.

/// The largest `$n` of a statement outside of comments: how many values it takes, from the first.
#[must_use]
pub fn parameters_in(sql: &str) -> usize {
    let code = sql.lines().filter(|line| !line.trim_start().starts_with("--"));
    let numbers = code.flat_map(|line| line.split('$').skip(1)).filter_map(|behind| {
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        behind[..digits].parse().ok()
    });
    numbers.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::parameters_in;

    #[test]
    fn values_are_taken_up_to_the_last_one_named() {
        assert_eq!(parameters_in("SELECT 1"), 0);
        assert_eq!(parameters_in("-- $9 in a comment\nSELECT $1, $12::text[] FROM t WHERE id = $2"), 12);
    }
}
