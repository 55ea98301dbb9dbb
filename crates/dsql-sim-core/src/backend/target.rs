//! Where the stock PostgreSQL is.

use std::{fmt, str::FromStr};

use tokio_postgres::config::{Config, Host};

/// A `postgres://` URL of the database behind the simulator.
#[derive(Clone, PartialEq, Eq)]
pub struct BackingUrl {
    config: Config,
}

/// Why a text is no URL of a backing database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackingUrlError {
    /// Not of the form at all.
    #[error("backing is not a postgres:// URL")]
    Unreadable,
    /// Nothing to connect to.
    #[error("backing names no host")]
    NoHost,
}

impl FromStr for BackingUrl {
    type Err = BackingUrlError;

    fn from_str(text: &str) -> Result<BackingUrl, BackingUrlError> {
        // The driver's message may repeat the text, and with it a password.
        let config: Config = text.parse().map_err(|_| BackingUrlError::Unreadable)?;
        if config.get_hosts().is_empty() {
            return Err(BackingUrlError::NoHost);
        }
        Ok(BackingUrl { config })
    }
}

impl fmt::Debug for BackingUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Without the password.
impl fmt::Display for BackingUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = match self.host() {
            Host::Tcp(host) => host.clone(),
            Host::Unix(folder) => folder.display().to_string(),
        };
        write!(f, "postgres://{}@{host}:{}/{}", self.user(), self.port(), self.database())
    }
}

impl BackingUrl {
    pub(crate) fn host(&self) -> &Host {
        &self.config.get_hosts()[0]
    }

    pub(crate) fn port(&self) -> u16 {
        self.config.get_ports().first().copied().unwrap_or(5432)
    }

    pub(crate) fn user(&self) -> &str {
        self.config.get_user().unwrap_or("postgres")
    }

    pub(crate) fn database(&self) -> &str {
        self.config.get_dbname().unwrap_or_else(|| self.user())
    }

    pub(crate) fn password(&self) -> &[u8] {
        self.config.get_password().unwrap_or_default()
    }

    pub(crate) fn options(&self) -> &str {
        self.config.get_options().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{BackingUrl, BackingUrlError};

    #[test]
    fn password_is_not_shown() {
        let url: BackingUrl = "postgres://app:secret@db:7/orders".parse().unwrap();
        assert_eq!(url.to_string(), "postgres://app@db:7/orders");
        assert!(!format!("{url:?}").contains("secret"));
    }

    #[test]
    fn what_is_no_url_is_refused() {
        assert_eq!("mysql://x/y".parse::<BackingUrl>(), Err(BackingUrlError::Unreadable));
        assert_eq!("user=me".parse::<BackingUrl>(), Err(BackingUrlError::NoHost));
    }
}
