//! What a pool is made from.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::connect::Connector;
use crate::token::{CredentialsSource, Environment, TokenProvider};
use crate::{ConnectionString, Credentials, Dialect, Error, Result, tls};

/// More connections than this belong behind a pooler of their own.
pub const SIZE_MAX: usize = 1_000;

/// DSQL ends every connection after 60 minutes; ours leave before that.
const DSQL_LIFETIME_MAX: Duration = Duration::from_secs(50 * 60);

/// The settings of a pool. [`Config::new`] has a default for all but the target.
#[derive(Clone)]
pub struct Config {
    pub(crate) connection: ConnectionString,
    pub(crate) dialect: Dialect,
    pub(crate) size_max: usize,
    pub(crate) wait_timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) lifetime_max: Option<Duration>,
    pub(crate) lifetime_spread: f64,
    pub(crate) statements_max: usize,
    pub(crate) behind_pooler: bool,
    pub(crate) application_name: String,
    pub(crate) credentials: Arc<dyn CredentialsSource>,
}

impl Config {
    /// Ten connections to the target. A `dsql://` target gets the DSQL dialect and 50 minutes per connection;
    /// without a password it gets signed tokens.
    #[must_use]
    pub fn new(connection: ConnectionString) -> Self {
        let dsql = connection.is_dsql();
        let behind_pooler = connection.is_behind_pooler();
        Self {
            connection,
            dialect: if dsql { Dialect::DSQL } else { Dialect::POSTGRES },
            size_max: 10,
            wait_timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            lifetime_max: dsql.then_some(DSQL_LIFETIME_MAX),
            lifetime_spread: 0.1,
            statements_max: 400,
            behind_pooler,
            application_name: "leasehold".to_owned(),
            credentials: Arc::new(Environment),
        }
    }

    /// How transactions begin and which failures are conflicts.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// How many connections may be open at once.
    #[must_use]
    pub fn size_max(mut self, size_max: usize) -> Self {
        self.size_max = size_max;
        self
    }

    /// How long a call waits for a connection to come free.
    #[must_use]
    pub fn wait_timeout(mut self, wait_timeout: Duration) -> Self {
        self.wait_timeout = wait_timeout;
        self
    }

    /// How long one attempt to connect may take, handshake and sign-in included.
    #[must_use]
    pub fn connect_timeout(mut self, connect_timeout: Duration) -> Self {
        self.connect_timeout = connect_timeout;
        self
    }

    /// How old a connection may get; each is replaced up to a tenth earlier, at random.
    #[must_use]
    pub fn lifetime_max(mut self, lifetime_max: Duration) -> Self {
        self.lifetime_max = Some(lifetime_max);
        self
    }

    /// How many statements a connection keeps prepared. Beyond it the rarely used are prepared for each use, or sent
    /// unprepared where their types are known. The server spends some 50 KB on each, per connection.
    #[must_use]
    pub fn statements_max(mut self, statements_max: usize) -> Self {
        self.statements_max = statements_max;
        self
    }

    /// The target is a pooler that gives each transaction another session (PgBouncer's transaction mode): nothing is
    /// set per session and nothing is prepared. Only [`Pipeline`](crate::Pipeline) works there in one round trip. As the
    /// connection string's `pooler` says, unless told.
    #[must_use]
    pub fn behind_pooler(mut self, behind_pooler: bool) -> Self {
        self.behind_pooler = behind_pooler;
        self
    }

    /// The name the server shows for our sessions, unless the connection string has one.
    #[must_use]
    pub fn application_name(mut self, name: impl Into<String>) -> Self {
        self.application_name = name.into();
        self
    }

    /// Who signs DSQL tokens; the environment's credentials unless told.
    #[must_use]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Arc::new(credentials);
        self
    }

    pub(crate) fn check(&self) -> Result<()> {
        let bad = |field, reason| Err(Error::BadConfig { field, reason });
        let Self { size_max, wait_timeout, connect_timeout, lifetime_max, statements_max, .. } = self;
        if *size_max == 0 || *size_max > SIZE_MAX {
            return bad("size_max", format!("must be 1 to {SIZE_MAX}, is {size_max}"));
        }
        for (field, timeout) in [("wait_timeout", wait_timeout), ("connect_timeout", connect_timeout)] {
            if timeout.is_zero() || *timeout > Duration::from_secs(3_600) {
                return bad(field, format!("must be more than 0s and at most 3600s, is {timeout:?}"));
            }
        }
        if let Some(lifetime) = lifetime_max
            && *lifetime < Duration::from_secs(1)
        {
            return bad("lifetime_max", format!("must be at least 1s, is {lifetime:?}"));
        }
        if *statements_max == 0 {
            return bad("statements_max", "must be at least 1, is 0".to_owned());
        }
        let name_bytes = self.application_name.len();
        if name_bytes > 63 || self.application_name.bytes().any(|byte| byte == 0) {
            return bad(
                "application_name",
                format!("must have at most 63 bytes, none of them zero, has {name_bytes}"),
            );
        }
        Ok(())
    }

    pub(crate) fn connector(&self) -> Result<Connector> {
        let mut driver = self.connection.driver_config()?;
        if driver.get_application_name().is_none() {
            driver.application_name(self.application_name.as_str());
        }
        let signs = matches!(self.dialect, Dialect::Dsql { .. }) && !self.connection.has_password();
        let tokens = signs
            .then(|| TokenProvider::new(&self.connection, SharedSource(Arc::clone(&self.credentials))))
            .transpose()?;
        Ok(Connector {
            driver,
            tls: tls::connector(&self.connection)?,
            tokens,
            session_setup: self.dialect.session_setup().filter(|_| !self.behind_pooler),
            connect_timeout: self.connect_timeout,
            statements_max: self.statements_max,
        })
    }
}

struct SharedSource(Arc<dyn CredentialsSource>);

impl CredentialsSource for SharedSource {
    fn credentials(&self) -> Result<Credentials> {
        self.0.credentials()
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("connection", &self.connection)
            .field("dialect", &self.dialect)
            .field("size_max", &self.size_max)
            .field("wait_timeout", &self.wait_timeout)
            .field("connect_timeout", &self.connect_timeout)
            .field("lifetime_max", &self.lifetime_max)
            .field("statements_max", &self.statements_max)
            .field("behind_pooler", &self.behind_pooler)
            .field("application_name", &self.application_name)
            .finish_non_exhaustive()
    }
}
