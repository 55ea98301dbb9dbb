//! The names that a server is reached by.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// Bytes of a name in the DNS.
const BYTES_MAX: usize = 253;

/// A name that clients may reach the server by: in lower case, with neither a port nor a dot at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName(String);

impl HostName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name that an address to listen on has, if it has one.
    pub(crate) fn of_address(address: &str) -> Option<Self> {
        address.rsplit_once(':').and_then(|(host, _port)| host.parse().ok())
    }
}

impl FromStr for HostName {
    type Err = Error;

    fn from_str(given: &str) -> Result<Self, Error> {
        let name = given.trim();
        let name = name.strip_suffix('.').unwrap_or(name);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        match (1..=BYTES_MAX).contains(&name.len()) && name.bytes().all(is_plain) {
            true => Ok(HostName(name.to_ascii_lowercase())),
            false => Err(Error::AllowedHost { given: given.to_owned() }),
        }
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_form_and_what_is_no_name_is_refused() {
        for (given, name) in
            [("Leasehold", "leasehold"), (" db.Example.com. ", "db.example.com"), ("a_b", "a_b")]
        {
            assert_eq!(given.parse::<HostName>().expect(given).as_str(), name);
        }
        for given in
            ["", ".", "leasehold:2319", "http://leasehold", "*", "*.example.com", "a b", "[::1]", "a,b", "ü"]
        {
            let refused = given.parse::<HostName>().expect_err(given);
            assert_eq!(refused.code(), "server.allowed_host");
        }
        assert_eq!(HostName::of_address("Localhost:2319").expect("has one").as_str(), "localhost");
        assert_eq!(HostName::of_address("[::1]:2319"), None);
    }
}
