//! Opening a connection: pauses between attempts, a password that may be a token, and a session set up.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::connection::Connection;
use crate::{DatabaseError, Error, Result, TokenProvider};

/// What is waited before each attempt. A server that is starting, or full for a moment, is met again; a caller
/// with less time has a deadline.
const PAUSES: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
    Duration::from_millis(800),
];

/// A connection that its owner drives.
pub(crate) type Driven =
    tokio_postgres::Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Opens the connections of one pool.
pub(crate) struct Connector {
    pub(crate) driver: tokio_postgres::Config,
    pub(crate) tls: MakeRustlsConnect,
    pub(crate) tokens: Option<TokenProvider>,
    /// What a new connection is told before its first use.
    pub(crate) session_setup: Option<&'static str>,
    pub(crate) connect_timeout: Duration,
    pub(crate) statements_max: usize,
}

impl Connector {
    /// A connection that is ready for use. Dropping the call abandons the attempt under way.
    pub(crate) async fn connect(&self) -> Result<Connection> {
        let mut last = Error::PoolClosed;
        for (attempt, pause) in (1..).zip(PAUSES) {
            tokio::time::sleep(pause).await;
            match self.attempt(attempt).await {
                Ok(connection) => return Ok(connection),
                Err(error) if is_passing(&error) => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// One attempt at a session outside the pool, for notifications; with the password as configured, since no
    /// database that wants tokens has notifications.
    pub(crate) async fn connect_unpooled(&self) -> Result<(Client, Driven)> {
        match tokio::time::timeout(self.connect_timeout, self.driver.connect(self.tls.clone())).await {
            Ok(opened) => opened.map_err(|error| refusal(error.into(), 1)),
            Err(_) => Err(Error::ConnectTimeout { attempts: 1, timeout: self.connect_timeout }),
        }
    }

    async fn attempt(&self, attempt: u32) -> Result<Connection> {
        let Some(tokens) = &self.tokens else { return self.open(attempt, None).await };
        let token = tokens.token()?;
        match self.open(attempt, Some(&token)).await {
            // The server's clock may have found it expired: a fresh one gets one chance.
            Err(Error::AccessDenied { .. }) => {
                tokens.forget(&token);
                self.open(attempt, Some(&tokens.token()?)).await
            }
            other => other,
        }
    }

    async fn open(&self, attempts: u32, token: Option<&SecretString>) -> Result<Connection> {
        let mut driver = self.driver.clone();
        if let Some(token) = token {
            driver.password(token.expose_secret());
        }
        let opening = async {
            let (client, connection) = driver.connect(self.tls.clone()).await?;
            let task = tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(error = %DatabaseError::from(error), "connection ended");
                }
            });
            let connection = Connection::new(client, task, self.statements_max);
            if let Some(setup) = self.session_setup {
                connection.batch_execute(setup).await?;
            }
            Ok::<_, tokio_postgres::Error>(connection)
        };
        match tokio::time::timeout(self.connect_timeout, opening).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(error)) => Err(refusal(error.into(), attempts)),
            Err(_) => Err(Error::ConnectTimeout { attempts, timeout: self.connect_timeout }),
        }
    }
}

fn refusal(source: DatabaseError, attempts: u32) -> Error {
    match source.sqlstate() {
        Some("53300" | "53400") => Error::ConnectionLimit { source },
        Some(sqlstate) if sqlstate.starts_with("28") || sqlstate == "3D000" => Error::AccessDenied { source },
        Some(_) => Error::ConnectFailed { attempts, source },
        None if is_tls(&source) => Error::TlsFailed { source },
        None => Error::ConnectFailed { attempts, source },
    }
}

/// The handshake itself was refused, as opposed to the network failing under it. A server without TLS is
/// reported by the driver with no cause that could be looked at.
fn is_tls(source: &DatabaseError) -> bool {
    match source.io() {
        Some(io) => io.get_ref().is_some_and(|cause| cause.is::<rustls::Error>()),
        None => source.driver().to_string() == "error performing TLS handshake",
    }
}

/// Whether another attempt may meet something else.
fn is_passing(error: &Error) -> bool {
    match error {
        Error::ConnectionLimit { .. } | Error::ConnectTimeout { .. } => true,
        Error::ConnectFailed { source, .. } => match source.sqlstate() {
            Some(sqlstate) => sqlstate.starts_with("57P0") || sqlstate.starts_with("08"),
            None => source.is_disconnect(),
        },
        _ => false,
    }
}
