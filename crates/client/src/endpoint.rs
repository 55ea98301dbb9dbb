use std::fmt;
use std::str::FromStr;

use http::Uri;
use http::uri::Scheme;

use crate::{Error, Result};

/// Where a server answers: `http://HOST[:PORT]` or `https://HOST[:PORT]`.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    scheme: Scheme,
    authority: String,
}

impl Endpoint {
    pub(crate) fn uri(&self, path: &str) -> Uri {
        let uri = Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.as_str())
            .path_and_query(path)
            .build();
        uri.expect("an authority that was parsed and a path of ours make a URI")
    }

    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }
}

impl FromStr for Endpoint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refused = |reason| Error::Endpoint { reason };
        let uri: Uri = text.parse().map_err(|_| refused("it is not a URL"))?;
        let known = uri.scheme().filter(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme));
        let scheme = known.ok_or_else(|| refused("it does not begin with http:// or https://"))?.clone();
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(refused("it has a path"));
        }
        let authority = uri.authority().ok_or_else(|| refused("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(refused("it has a user or a password, which servers do not take there"));
        }
        Ok(Endpoint { scheme, authority: authority.to_string() })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://{}", self.scheme, self.authority)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_port_are_taken_with_and_without_a_slash() {
        for text in ["http://127.0.0.1:2319", "https://queues.example", "http://[::1]:2319"] {
            for written in [text.to_owned(), format!("{text}/")] {
                assert_eq!(written.parse::<Endpoint>().unwrap().to_string(), text);
            }
        }
    }

    #[test]
    fn what_is_not_an_endpoint_is_refused_without_repeating_it() {
        for text in
            ["", "localhost", "ftp://x", "http://", "http://h/path", "http://h?q", "http://u:hunter2@h"]
        {
            let refused = text.parse::<Endpoint>().unwrap_err();
            assert_eq!(refused.code(), "client.endpoint", "{text}");
            assert!(!refused.to_string().contains("hunter2"), "{refused}");
        }
    }
}
