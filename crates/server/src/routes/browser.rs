//! What a browser must not be made to send. A page of any site can make it send requests to addresses that only its
//! machine reaches, and a page whose name is bound to another address (DNS rebinding) can read the responses too.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};

use crate::HostName;
use crate::refusal::Refusal;

/// Where the page is that makes a browser send a request.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// The names that the server is reached by.
pub(crate) struct Hosts {
    names: Vec<HostName>,
    is_tls: bool,
}

/// Where a request comes from and where it was sent to, as it says.
#[derive(Clone, Copy)]
pub(super) struct Envelope<'a> {
    pub(super) method: &'a Method,
    pub(super) uri: &'a Uri,
    pub(super) headers: &'a HeaderMap,
}

impl Hosts {
    pub(crate) fn new(names: Vec<HostName>, is_tls: bool) -> Self {
        Hosts { names, is_tls }
    }

    /// Refuses what a page of another origin makes a browser send, save for links that are followed. Clients other than
    /// browsers send neither header.
    pub(super) fn refuse_cross_site(&self, request: Envelope<'_>) -> Result<(), Refusal> {
        let Envelope { method, headers, .. } = request;
        let is_followed_link = (method == Method::GET || method == Method::HEAD)
            && headers.get(SEC_FETCH_MODE).is_some_and(|mode| mode == "navigate");
        let is_elsewhere = |site: &HeaderValue| site != "same-origin" && site != "none";
        let is_cross_site = !is_followed_link && headers.get_all(SEC_FETCH_SITE).iter().any(is_elsewhere);
        let is_foreign = |origin: &HeaderValue| !self.is_own(origin, request);
        match is_cross_site || headers.get_all(header::ORIGIN).iter().any(is_foreign) {
            true => Err(Refusal::CrossSite),
            false => Ok(()),
        }
    }

    /// Refuses a request that was sent to a name that may be anybody's: its sender may be a page of that name.
    pub(super) fn refuse_unknown(&self, request: Envelope<'_>) -> Result<(), Refusal> {
        let is_unknown =
            |host: &Option<&str>| !host.and_then(Host::parse).is_some_and(|host| self.is_known(host.name));
        let unknown = match request.hosts().next() {
            Some(_) => request.hosts().find(is_unknown),
            None => Some(None),
        };
        match unknown {
            Some(host) => Err(Refusal::HostNotAllowed { host: host.unwrap_or_default().to_owned() }),
            None => Ok(()),
        }
    }

    /// No page can have an address of numbers for its name, and `localhost` belongs to the machine.
    fn is_known(&self, name: &str) -> bool {
        let is_address = match name.strip_prefix('[') {
            // Addresses of one link name the link.
            Some(v6) => v6.split(['%', ']']).next().is_some_and(|v6| v6.parse::<Ipv6Addr>().is_ok()),
            None => name.parse::<Ipv4Addr>().is_ok(),
        };
        let is_name = |known: &str| known.eq_ignore_ascii_case(name);
        is_address || is_name("localhost") || self.names.iter().any(|known| is_name(known.as_str()))
    }

    /// Whether the origin is this server, by the name that the request was sent to.
    fn is_own(&self, origin: &HeaderValue, request: Envelope<'_>) -> bool {
        let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
        let Some((scheme, origin)) = origin else { return false };
        let default_port = match scheme {
            "https" => "443",
            // What ends TLS may be in front of the server, not behind it.
            "http" if !self.is_tls => "80",
            _ => return false,
        };
        let Some(origin) = Host::parse(origin) else { return false };
        let is_same = |host: Host<'_>| {
            host.name.eq_ignore_ascii_case(origin.name)
                && host.port.unwrap_or(default_port) == origin.port.unwrap_or(default_port)
        };
        let mut hosts = request.hosts().peekable();
        hosts.peek().is_some() && hosts.all(|host| host.and_then(Host::parse).is_some_and(is_same))
    }
}

impl<'a> Envelope<'a> {
    /// Every host that the request names: which of several was meant is unknown.
    fn hosts(self) -> impl Iterator<Item = Option<&'a str>> {
        let authority = self.uri.authority().map(|authority| Some(authority.as_str()));
        let headers = self.headers.get_all(header::HOST).iter().map(|host| host.to_str().ok());
        authority.into_iter().chain(headers)
    }
}

/// A host and the port after it.
struct Host<'a> {
    /// An IPv6 address with its brackets; a name without the dot that may end it.
    name: &'a str,
    port: Option<&'a str>,
}

impl<'a> Host<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let name_len = match text.starts_with('[') {
            true => text.find(']')? + 1,
            false => text.find(':').unwrap_or(text.len()),
        };
        let (name, port) = text.split_at(name_len);
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            None => return None,
            Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => Some(digits),
            Some(_) => return None,
        };
        Some(Host {
            name: name.strip_suffix('.').unwrap_or(name),
            port: port.filter(|port| !port.is_empty()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sent {
        method: Method,
        uri: Uri,
        headers: HeaderMap,
    }

    impl Sent {
        fn post(uri: &str, headers: &[(&'static str, &str)]) -> Self {
            let mut sent =
                Sent { method: Method::POST, uri: uri.parse().expect("a uri"), headers: HeaderMap::new() };
            for (name, value) in headers {
                sent.headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).expect("a value"));
            }
            sent
        }

        fn envelope(&self) -> Envelope<'_> {
            Envelope { method: &self.method, uri: &self.uri, headers: &self.headers }
        }
    }

    fn hosts() -> Hosts {
        Hosts::new(vec!["Leasehold.".parse().expect("a name")], false)
    }

    fn is_known(hosts_of_it: &[&str]) -> bool {
        let headers: Vec<_> = hosts_of_it.iter().map(|host| ("host", *host)).collect();
        hosts().refuse_unknown(Sent::post("/v1/queue.stats", &headers).envelope()).is_ok()
    }

    #[test]
    fn addresses_localhost_and_configured_names_are_known() {
        for host in [
            "127.0.0.1:2319",
            "127.0.0.1",
            "10.0.0.7:1",
            "127.0.0.1.:2319",
            "[::1]:2319",
            "[::1]",
            "[fe80::1%25eth0]:2319",
            "localhost:2319",
            "LocalHost",
            "localhost.:2319",
            "leasehold:2319",
            "LEASEHOLD.",
            "leasehold:",
        ] {
            assert!(is_known(&[host]), "{host}");
        }
        assert!(is_known(&["localhost", "127.0.0.1"]), "several of them");
    }

    #[test]
    fn everything_else_is_unknown() {
        for host in [
            "",
            "evil.example",
            "evil.example:2319",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "leasehold.evil",
            "evil-leasehold",
            "leasehold..",
            "::1",
            "[evil.example]",
            "[::1]evil",
            "[::1",
            "127.0.0.1:2319@evil.example",
            "localhost:80:evil",
            "user@localhost",
            "2130706433",
            "0x7f.1",
            "127.1",
            "\u{e9}",
        ] {
            assert!(!is_known(&[host]), "{host}");
        }
        assert!(
            !is_known(&["localhost", "evil.example"]) && !is_known(&["evil.example", "localhost"]),
            "several"
        );
        assert!(!is_known(&[]), "none");
        // As HTTP/2 and proxies send it.
        for (uri, known) in [("http://localhost:1/x", true), ("http://evil.example/x", false)] {
            let sent = Sent::post(uri, &[]);
            assert_eq!(hosts().refuse_unknown(sent.envelope()).is_ok(), known, "{uri}");
            let sent = Sent::post(uri, &[("host", "localhost:1")]);
            assert_eq!(hosts().refuse_unknown(sent.envelope()).is_ok(), known, "{uri} and a host");
        }
    }

    fn is_cross_site(headers: &[(&'static str, &str)]) -> bool {
        hosts().refuse_cross_site(Sent::post("/v1/queue.stats", headers).envelope()).is_err()
    }

    #[test]
    fn own_origin_is_the_host_that_the_request_was_sent_to() {
        for (host, origin, own) in [
            ("localhost:2319", "http://localhost:2319", true),
            ("LOCALHOST.:2319", "http://localhost:2319", true),
            ("[::1]:2319", "http://[::1]:2319", true),
            ("leasehold.example", "https://leasehold.example", true),
            ("leasehold.example:443", "https://leasehold.example", true),
            ("leasehold.example", "http://leasehold.example:80", true),
            ("localhost:2319", "http://localhost:3000", false),
            ("localhost:2319", "http://127.0.0.1:2319", false),
            ("localhost:2319", "http://evil.example", false),
            ("localhost:2319", "http://evil.example:2319", false),
            ("localhost:2319", "null", false),
            ("localhost:2319", "", false),
            ("localhost:2319", "file://", false),
            ("localhost:2319", "chrome-extension://localhost:2319", false),
        ] {
            assert_eq!(is_cross_site(&[("host", host), ("origin", origin)]), !own, "{origin} to {host}");
        }
        assert!(is_cross_site(&[("origin", "http://localhost")]), "without a host");
        let two = [("host", "localhost"), ("host", "other"), ("origin", "http://localhost")];
        assert!(!is_cross_site(&two[..1]) && is_cross_site(&two), "sent to both");
        let behind_tls = Hosts::new(Vec::new(), true);
        let sent = Sent::post("/x", &[("host", "a:443"), ("origin", "http://a:443")]);
        assert!(behind_tls.refuse_cross_site(sent.envelope()).is_err(), "a page in clear text");
    }

    #[test]
    fn only_own_pages_and_people_send_requests_and_anybody_follows_links() {
        for (site, refused) in [
            ("same-origin", false),
            ("none", false),
            ("same-site", true),
            ("cross-site", true),
            ("new", true),
        ] {
            assert_eq!(is_cross_site(&[("sec-fetch-site", site)]), refused, "{site}");
        }
        assert!(!is_cross_site(&[]), "no browser");
        let link = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert!(is_cross_site(&link), "a form");
        let link = Sent { method: Method::GET, ..Sent::post("/api", &link) };
        assert!(hosts().refuse_cross_site(link.envelope()).is_ok());
        let read = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")];
        let read = Sent { method: Method::GET, ..Sent::post("/metrics", &read) };
        assert!(hosts().refuse_cross_site(read.envelope()).is_err());
    }
}
