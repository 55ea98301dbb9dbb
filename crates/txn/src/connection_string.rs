//! Connection strings: `key=value` pairs and URLs, read into one canonical form.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::tls::SslMode;
use crate::url;
use crate::{Error, Result};

/// The parameters understood. Others are refused: a misspelt `sslmode` must not connect in the clear.
const KEYS: [&str; 22] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "load_balance_hosts",
    "options",
    "password",
    "pooler",
    "port",
    "region",
    "sslmode",
    "sslnegotiation",
    "sslrootcert",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// Longer input is not a connection string.
const BYTES_MAX: usize = 8 * 1024;

/// How to reach a database.
///
/// Reads `host=… user=…` pairs, `postgres://…`, `postgresql://…` and `dsql://…`. Two spellings of the same
/// parameters are equal. Neither `Display` nor `Debug` shows the password.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ConnectionString {
    /// Invariant: keys are of [`KEYS`], and the driver accepts those that are its own.
    pairs: BTreeMap<String, String>,
    dsql: bool,
}

impl ConnectionString {
    /// Reads a connection string.
    ///
    /// # Errors
    /// [`Error::BadConfig`]. It names the key or the position, never a value: a stray space can make a part of a
    /// password look like anything else.
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() > BYTES_MAX {
            return Err(bad(format!("has {} bytes, at most {BYTES_MAX} are allowed", text.len())));
        }
        let (pairs, dsql) = match text.split_once("://") {
            Some(("postgres" | "postgresql", rest)) => (url::pairs(rest)?, false),
            Some(("dsql", rest)) => (url::pairs(rest)?, true),
            Some((scheme, _)) if !scheme.contains('=') => {
                return Err(bad("the scheme must be postgres, postgresql or dsql".to_owned()));
            }
            _ => (key_value_pairs(text)?, false),
        };
        let mut known = BTreeMap::new();
        for (position, (key, value)) in (1..).zip(pairs) {
            if !KEYS.contains(&key.as_str()) {
                return Err(bad(format!("parameter number {position} has an unknown key")));
            }
            known.insert(key, value);
        }
        if dsql {
            for (key, value) in [("user", "admin"), ("dbname", "postgres"), ("sslmode", "verify-full")] {
                known.entry(key.to_owned()).or_insert_with(|| value.to_owned());
            }
        } else if known.contains_key("region") {
            return Err(Error::BadConfig { field: "region", reason: "is only for dsql://".to_owned() });
        }
        match known.get("pooler").map(String::as_str) {
            None => (),
            Some(_) if dsql => {
                return Err(Error::BadConfig { field: "pooler", reason: "is not for dsql://".to_owned() });
            }
            Some("none" | "session" | "transaction") => (),
            Some(_) => {
                let reason = "must be none, session or transaction".to_owned();
                return Err(Error::BadConfig { field: "pooler", reason });
            }
        }
        let parsed = Self { pairs: known, dsql };
        if !parsed.pairs.contains_key("host") && !parsed.pairs.contains_key("hostaddr") {
            return Err(Error::BadConfig { field: "host", reason: "is missing".to_owned() });
        }
        let encrypted = !matches!(parsed.ssl_mode()?, SslMode::Disable | SslMode::Prefer);
        if dsql && !encrypted && !parsed.is_loopback() {
            return Err(Error::BadConfig {
                field: "sslmode",
                reason: "must be require, verify-ca or verify-full for dsql:// but on a loopback address"
                    .to_owned(),
            });
        }
        parsed.driver_config()?;
        Ok(parsed)
    }

    /// Whether the scheme was `dsql`.
    #[must_use]
    pub const fn is_dsql(&self) -> bool {
        self.dsql
    }

    /// The first host, as written.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.value("host").and_then(|hosts| hosts.split(',').next())
    }

    /// Whether every host is this machine: a simulator, whose token nobody can read on the way.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        let loopback = |host: &str| {
            let address = host.trim_start_matches('[').trim_end_matches(']');
            host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        };
        let mut hosts = ["host", "hostaddr"].into_iter().filter_map(|key| self.value(key));
        hosts.all(|hosts| hosts.split(',').all(loopback))
    }

    /// The user to connect as.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.value("user")
    }

    /// The AWS region of a DSQL cluster, if the string names one.
    #[must_use]
    pub fn region(&self) -> Option<&str> {
        self.value("region")
    }

    /// Whether the string carries a password.
    #[must_use]
    pub fn has_password(&self) -> bool {
        self.pairs.contains_key("password")
    }

    /// Whether the string says that a pooler stands in between which gives each transaction another session. One that
    /// gives each connection its own session is like the server itself.
    #[must_use]
    pub fn is_behind_pooler(&self) -> bool {
        self.value("pooler") == Some("transaction")
    }

    /// How connections are encrypted, in libpq's words.
    #[must_use]
    pub fn sslmode(&self) -> &str {
        self.value("sslmode").unwrap_or("prefer")
    }

    pub(crate) fn ssl_mode(&self) -> Result<SslMode> {
        SslMode::parse(self.sslmode())
    }

    /// `system` means the certificates the machine trusts, as it does for libpq.
    pub(crate) fn ssl_root_cert(&self) -> Option<PathBuf> {
        self.value("sslrootcert").filter(|path| *path != "system").map(PathBuf::from)
    }

    /// Whether certificates were named at all.
    pub(crate) fn has_ssl_root_cert(&self) -> bool {
        self.pairs.contains_key("sslrootcert")
    }

    pub(crate) fn negotiates_directly(&self) -> bool {
        self.value("sslnegotiation") == Some("direct")
    }

    /// The driver's form of everything but TLS trust, which it does not know.
    pub(crate) fn driver_config(&self) -> Result<tokio_postgres::Config> {
        let mut whole = String::new();
        for key in
            KEYS.into_iter().filter(|key| !matches!(*key, "pooler" | "region" | "sslmode" | "sslrootcert"))
        {
            let Some(value) = self.value(key) else { continue };
            let pair = format!("{key}={} ", quoted(value));
            // The driver's refusal of the whole would not say which key it is about.
            tokio_postgres::Config::from_str(&pair).map_err(|_| Error::BadConfig {
                field: key,
                reason: "has a value that does not fit".to_owned(),
            })?;
            whole.push_str(&pair);
        }
        let mut config = tokio_postgres::Config::from_str(&whole)
            .map_err(|_| bad("the parameters do not fit together".to_owned()))?;
        let (hosts, ports) =
            (config.get_hosts().len().max(config.get_hostaddrs().len()), config.get_ports().len());
        if ports > 1 && ports != hosts {
            return Err(Error::BadConfig {
                field: "port",
                reason: format!("{ports} ports for {hosts} hosts"),
            });
        }
        config.ssl_mode(self.ssl_mode()?.for_driver());
        // A server that vanished without a word must be noticed in minutes, not after the default two hours.
        for (key, set) in [
            ("keepalives_idle", tokio_postgres::Config::keepalives_idle as fn(&mut _, _) -> &mut _),
            ("keepalives_interval", tokio_postgres::Config::keepalives_interval),
        ] {
            if self.value(key).is_none() {
                set(&mut config, Duration::from_secs(30));
            }
        }
        Ok(config)
    }

    fn value(&self, key: &str) -> Option<&str> {
        self.pairs.get(key).map(String::as_str)
    }
}

impl FromStr for ConnectionString {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl fmt::Display for ConnectionString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.dsql { "dsql:" } else { "postgres:" })?;
        for key in ["host", "hostaddr", "port", "user", "dbname", "sslmode"] {
            if let Some(value) = self.value(key) {
                write!(f, " {key}={value}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ConnectionString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectionString({self})")
    }
}

fn bad(reason: String) -> Error {
    Error::BadConfig { field: "connection string", reason }
}

fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Reads `key = value` pairs. A value in single quotes may hold spaces; a backslash takes the next character as
/// it is, in quotes or out of them.
fn key_value_pairs(text: &str) -> Result<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let position = pairs.len() + 1;
        let Some((key, after)) = rest.split_once('=') else {
            return Err(bad(format!("parameter number {position} has no value")));
        };
        let (value, after) = take_value(after.trim_start())
            .ok_or_else(|| bad(format!("parameter number {position} ends inside its value")))?;
        pairs.push((key.trim().to_owned(), value));
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// The value at the start of `text` and what follows it; `None` when a quote or an escape stays open.
fn take_value(text: &str) -> Option<(String, &str)> {
    let (quote, body) = match text.strip_prefix('\'') {
        Some(body) => (true, body),
        None => (false, text),
    };
    let mut value = String::new();
    let mut characters = body.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => value.push(characters.next()?.1),
            '\'' if quote => return Some((value, &body[at + 1..])),
            space if !quote && space.is_whitespace() => return Some((value, &body[at..])),
            other => value.push(other),
        }
    }
    (!quote).then_some((value, ""))
}

#[cfg(test)]
mod tests {
    use super::ConnectionString;
    use crate::tls::SslMode;

    fn parse(text: &str) -> ConnectionString {
        ConnectionString::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn refusal(text: &str) -> String {
        let error = ConnectionString::parse(text).expect_err("must be refused");
        assert_eq!(error.code(), "txn.bad_config");
        error.to_string()
    }

    #[test]
    fn both_spellings_of_a_target_are_equal() {
        let pairs = parse("user=me password='a b\\'c' host=db port=5433 dbname=app sslmode=require");
        let url = parse("postgres://me:a%20b%27c@db:5433/app?sslmode=require");
        assert_eq!(pairs, url);
        assert_eq!(url.driver_config().unwrap().get_password(), Some(b"a b'c".as_slice()));
    }

    #[test]
    fn several_hosts_and_socket_folders_are_read() {
        let config = parse("postgresql://a:1,b:2,[::1]:3/x").driver_config().unwrap();
        assert_eq!((config.get_hosts().len(), config.get_ports()), (3, [1, 2, 3].as_slice()));
        let socket = parse("postgres://me@%2Frun%2Fpostgres/x");
        assert_eq!(socket.host(), Some("/run/postgres"));
        assert_eq!(parse("postgres:///x?host=/run/postgres").host(), Some("/run/postgres"));
    }

    #[test]
    fn every_sslmode_is_known() {
        for (text, mode) in [
            ("disable", SslMode::Disable),
            ("allow", SslMode::Prefer),
            ("prefer", SslMode::Prefer),
            ("require", SslMode::Require),
            ("verify-ca", SslMode::VerifyCa),
            ("verify-full", SslMode::VerifyFull),
        ] {
            assert_eq!(parse(&format!("host=h sslmode={text}")).ssl_mode().unwrap(), mode);
        }
        assert_eq!(parse("host=h").ssl_mode().unwrap(), SslMode::Prefer);
        assert!(refusal("host=h sslmode=always").starts_with("sslmode: "));
    }

    #[test]
    fn pooler_that_shares_sessions_is_told_apart_from_others() {
        for (text, shares) in [
            ("postgres://h/x?pooler=transaction", true),
            ("postgres://h/x?pooler=session", false),
            ("host=h pooler=none", false),
            ("host=h", false),
        ] {
            let parsed = parse(text);
            assert_eq!(parsed.is_behind_pooler(), shares, "{text}");
            parsed.driver_config().expect("the driver is not told");
        }
    }

    #[test]
    fn dsql_gets_the_defaults_of_a_cluster() {
        let cluster = parse("dsql://abc.dsql.us-east-1.on.aws");
        assert!(cluster.is_dsql() && !cluster.has_password());
        assert_eq!(cluster.user(), Some("admin"));
        assert_eq!(cluster.ssl_mode().unwrap(), SslMode::VerifyFull);
        assert_eq!(cluster.driver_config().unwrap().get_dbname(), Some("postgres"));
        assert_ne!(cluster, parse("postgres://admin@abc.dsql.us-east-1.on.aws/postgres?sslmode=verify-full"));
    }

    #[test]
    fn dsql_is_encrypted_but_on_this_machine() {
        for (host, mode) in [
            ("abc.dsql.us-east-1.on.aws", "require"),
            ("abc.dsql.us-east-1.on.aws", "verify-ca"),
            ("127.0.0.1:5432", "disable"),
            ("[::1]:5432", "prefer"),
            ("localhost", "disable"),
        ] {
            parse(&format!("dsql://{host}?sslmode={mode}"));
        }
        for (host, mode) in [
            ("abc.dsql.us-east-1.on.aws", "disable"),
            ("abc.dsql.us-east-1.on.aws", "prefer"),
            ("127.0.0.1.example.com", "disable"),
            ("127.0.0.1,example.com", "disable"),
            ("%2Frun%2Fpostgres", "disable"),
        ] {
            assert!(refusal(&format!("dsql://{host}?sslmode={mode}")).starts_with("sslmode: "), "{host}");
        }
    }

    #[test]
    fn refusals_name_the_key_or_the_position() {
        for (text, message) in [
            ("", "host: is missing"),
            ("user=me", "host: is missing"),
            ("mysql://h/x", "connection string: the scheme must be postgres, postgresql or dsql"),
            ("host=h port=many", "port: has a value that does not fit"),
            ("host=h port=1,2", "port: 2 ports for 1 hosts"),
            ("host=h connect_timeout=soon", "connect_timeout: has a value that does not fit"),
            ("host=h colour=blue", "connection string: parameter number 2 has an unknown key"),
            ("host=h user", "connection string: parameter number 2 has no value"),
            ("host=h user='me", "connection string: parameter number 2 ends inside its value"),
            ("host=h region=us-east-1", "region: is only for dsql://"),
            ("host=h pooler=statement", "pooler: must be none, session or transaction"),
            ("dsql://h.on.aws?pooler=transaction", "pooler: is not for dsql://"),
            ("postgres://h/x?sslmode", "connection string: parameter number 1 of the URL has no value"),
            ("postgres://h/%zz", "connection string: the URL has a bad percent escape"),
            ("postgres://[::1/x", "connection string: the URL has an open bracket"),
        ] {
            assert_eq!(refusal(text), message, "{text}");
        }
        assert!(refusal(&format!("host={}", "h".repeat(9000))).contains("at most 8192"));
    }

    #[test]
    fn no_refusal_and_no_form_shows_the_password() {
        for text in [
            "host=h password=hunter2 hunter2=x",
            "host=h password='hunter2",
            "host=h password=x hunter2",
            "postgres://me:hunter2@h:port/x",
            "postgres://me:hunter2%zz@h/x",
            "hunter2://me@h",
        ] {
            assert!(!refusal(text).contains("hunter2"), "{text}");
        }
        let shown = parse("postgres://me:hunter2@h/x?options=-c%20a%3Dhunter2");
        assert!(
            !format!("{shown} {shown:?} {:?}", shown.driver_config().unwrap().get_user()).contains("hunter2")
        );
    }
}
