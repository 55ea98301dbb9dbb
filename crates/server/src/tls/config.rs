use std::path::PathBuf;
use std::time::Duration;

use leasehold_core::duration;
use serde::Deserialize;

use crate::{Error, Result};

/// How the server speaks TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsConfig {
    /// The certificate and those between it and the root (PEM).
    pub certificate_file: PathBuf,
    /// Its private key (PEM).
    pub key_file: PathBuf,
    /// Who signs the certificates of clients (PEM), if they are asked for one.
    pub client_ca_file: Option<PathBuf>,
    /// Whether clients must have one.
    pub client_auth: ClientAuth,
    /// The oldest version that is spoken.
    pub min_version: TlsVersion,
    /// How often the files are looked at.
    pub reload_interval: Duration,
}

/// Whether clients show a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientAuth {
    /// They are not asked.
    #[default]
    None,
    /// One that is shown must be signed by the CA.
    Optional,
    /// Who shows none is not served.
    Required,
}

impl ClientAuth {
    /// As files name it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ClientAuth::None => "none",
            ClientAuth::Optional => "optional",
            ClientAuth::Required => "required",
        }
    }
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum TlsVersion {
    /// For clients that cannot do better.
    #[serde(rename = "1.2")]
    Tls12,
    /// What is spoken unless something else is said.
    #[default]
    #[serde(rename = "1.3")]
    Tls13,
}

impl TlsVersion {
    /// As files name it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            TlsVersion::Tls12 => "1.2",
            TlsVersion::Tls13 => "1.3",
        }
    }
}

/// `tls:` of the file, and what flags say of the same.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TlsOptions {
    /// As in [`TlsConfig`].
    pub certificate_file: Option<PathBuf>,
    /// As in [`TlsConfig`].
    pub key_file: Option<PathBuf>,
    /// As in [`TlsConfig`].
    pub client_ca_file: Option<PathBuf>,
    /// As in [`TlsConfig`]; required where there is a CA for clients.
    pub client_auth: Option<ClientAuth>,
    /// As in [`TlsConfig`].
    pub min_version: Option<TlsVersion>,
    /// As in [`TlsConfig`]: a duration such as 10s.
    pub reload_interval: Option<String>,
}

impl TlsOptions {
    /// Each of these, or else the other's.
    #[must_use]
    pub fn or(self, other: TlsOptions) -> Self {
        TlsOptions {
            certificate_file: self.certificate_file.or(other.certificate_file),
            key_file: self.key_file.or(other.key_file),
            client_ca_file: self.client_ca_file.or(other.client_ca_file),
            client_auth: self.client_auth.or(other.client_auth),
            min_version: self.min_version.or(other.min_version),
            reload_interval: self.reload_interval.or(other.reload_interval),
        }
    }

    /// None if neither a certificate nor a key is named: then clear text is spoken.
    pub(crate) fn config(self) -> Result<Option<TlsConfig>> {
        let (certificate_file, key_file) = match (self.certificate_file, self.key_file) {
            (Some(certificate_file), Some(key_file)) => (certificate_file, key_file),
            (None, None) if self.client_ca_file.is_none() && self.client_auth.is_none() => return Ok(None),
            _ => return Err(Error::TlsIncomplete { missing: "both tls.certificate-file and tls.key-file" }),
        };
        let client_auth = match (self.client_auth, &self.client_ca_file) {
            (None, Some(_)) => ClientAuth::Required,
            (None | Some(ClientAuth::None), _) => ClientAuth::None,
            (Some(_), None) => return Err(Error::TlsIncomplete { missing: "tls.client-ca-file" }),
            (Some(client_auth), Some(_)) => client_auth,
        };
        let field = "tls.reload-interval";
        let reload_interval = match self.reload_interval {
            None => Duration::from_secs(10),
            Some(given) => match duration::parse(&given).ok().filter(|interval| !interval.is_zero()) {
                Some(interval) => interval,
                None => return Err(Error::Timeout { field, given }),
            },
        };
        Ok(Some(TlsConfig {
            certificate_file,
            key_file,
            client_ca_file: self.client_ca_file,
            client_auth,
            min_version: self.min_version.unwrap_or_default(),
            reload_interval,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> TlsOptions {
        serde_saphyr::from_str(text).expect(text)
    }

    const PAIR: &str = "certificate-file: c.pem\nkey-file: k.pem\n";

    #[test]
    fn certificate_and_key_are_enough_and_nothing_is_clear_text() {
        assert_eq!(TlsOptions::default().config().expect("is valid"), None);
        let config = options(PAIR).config().expect("is valid").expect("is TLS");
        assert_eq!((config.client_auth, config.min_version), (ClientAuth::None, TlsVersion::Tls13));
        assert_eq!(config.reload_interval, Duration::from_secs(10));
    }

    #[test]
    fn certificates_of_clients_are_required_unless_said_otherwise() {
        for (said, expected) in [
            ("", ClientAuth::Required),
            ("client-auth: optional\n", ClientAuth::Optional),
            ("client-auth: none\n", ClientAuth::None),
        ] {
            let text = format!("{PAIR}client-ca-file: ca.pem\n{said}");
            let config = options(&text).config().expect("is valid").expect("is TLS");
            assert_eq!(config.client_auth, expected, "{said}");
        }
    }

    #[test]
    fn versions_are_read_with_and_without_quotes() {
        for (said, expected) in
            [("1.2", TlsVersion::Tls12), ("\"1.2\"", TlsVersion::Tls12), ("1.3", TlsVersion::Tls13)]
        {
            let config = options(&format!("{PAIR}min-version: {said}\n")).config().expect("is valid");
            assert_eq!(config.expect("is TLS").min_version, expected, "{said}");
        }
        serde_saphyr::from_str::<TlsOptions>("min-version: 1.1\n").expect_err("too old");
    }

    #[test]
    fn half_a_configuration_is_refused_by_what_it_lacks() {
        for (text, lacks) in [
            ("certificate-file: c\n", "tls.key-file"),
            ("key-file: k\n", "tls.certificate-file"),
            ("client-ca-file: ca\n", "tls.certificate-file"),
            ("certificate-file: c\nkey-file: k\nclient-auth: required\n", "tls.client-ca-file"),
            ("certificate-file: c\nkey-file: k\nreload-interval: never\n", "tls.reload-interval"),
        ] {
            let refused = options(text).config().expect_err(text);
            assert!(refused.to_string().contains(lacks), "{text}: {refused}");
        }
    }

    #[test]
    fn flags_are_over_the_file_one_by_one() {
        let flags = TlsOptions { key_file: Some("other.pem".into()), ..TlsOptions::default() };
        let config = flags.or(options(PAIR)).config().expect("is valid").expect("is TLS");
        assert_eq!(config.certificate_file, PathBuf::from("c.pem"));
        assert_eq!(config.key_file, PathBuf::from("other.pem"));
    }
}
