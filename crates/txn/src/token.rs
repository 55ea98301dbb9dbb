//! DSQL takes a signed request in place of a password. It is checked only when a connection opens.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use leasehold_core::{Clock, SystemClock};
use secrecy::{ExposeSecret, SecretString};

use crate::credentials::Credentials;
use crate::sigv4::{EMPTY_PAYLOAD, Request, Signer, presigned};
use crate::{ConnectionString, Error, Result};

/// How long a token is good for, unless told.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// DSQL's own limits.
const LIFETIME_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A token is replaced when less than this part of its life is left, so that a slow handshake cannot outlive it.
const RENEWAL: u32 = 5;

/// Where the key pair comes from. Asked anew for every token, because profiles and sessions are rotated.
pub trait CredentialsSource: Send + Sync {
    /// The key pair to sign with now.
    ///
    /// # Errors
    /// Whatever keeps the source from having one; [`Error::CredentialsMissing`] as a rule.
    fn credentials(&self) -> Result<Credentials>;
}

/// The environment and the profile files, as [`Credentials::from_environment`] reads them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Environment;

impl CredentialsSource for Environment {
    fn credentials(&self) -> Result<Credentials> {
        Credentials::from_environment()
    }
}

impl CredentialsSource for Credentials {
    fn credentials(&self) -> Result<Credentials> {
        Ok(self.clone())
    }
}

/// Makes tokens for one user of one cluster, and keeps the current one.
pub struct TokenProvider {
    host: String,
    region: String,
    action: &'static str,
    lifetime: Duration,
    source: Box<dyn CredentialsSource>,
    clock: Arc<dyn Clock>,
    current: Mutex<Option<Token>>,
}

struct Token {
    text: SecretString,
    renew_at: Instant,
}

impl TokenProvider {
    /// Tokens for the host and user of a connection string.
    ///
    /// The region is the string's `region`, else the one in a host of the form `….dsql.<region>.on.aws`, else
    /// `AWS_REGION` or `AWS_DEFAULT_REGION`. The user `admin` has an action of its own.
    ///
    /// # Errors
    /// [`Error::BadConfig`] when the string has no host or no region can be found.
    pub fn new(connection: &ConnectionString, source: impl CredentialsSource + 'static) -> Result<Self> {
        let bad = |field, reason: &str| Error::BadConfig { field, reason: reason.to_owned() };
        let host = connection.host().ok_or_else(|| bad("host", "is missing"))?;
        let environment =
            || ["AWS_REGION", "AWS_DEFAULT_REGION"].into_iter().find_map(|name| std::env::var(name).ok());
        let region = connection
            .region()
            .or_else(|| region_of(host))
            .map(str::to_owned)
            .or_else(environment)
            .filter(|region| !region.is_empty())
            .ok_or_else(|| bad("region", "is neither given, nor in the host, nor in AWS_REGION"))?;
        Ok(Self {
            host: host.to_owned(),
            region,
            action: if connection.user() == Some("admin") { "DbConnectAdmin" } else { "DbConnect" },
            lifetime: LIFETIME,
            source: Box::new(source),
            clock: Arc::new(SystemClock),
            current: Mutex::new(None),
        })
    }

    /// Tokens that live this long; 15 minutes unless told.
    ///
    /// # Errors
    /// [`Error::BadConfig`] when it is not 10 seconds to one week, DSQL's own limit.
    pub fn with_lifetime(mut self, lifetime: Duration) -> Result<Self> {
        if lifetime < Duration::from_secs(10) || lifetime > LIFETIME_MAX {
            return Err(Error::BadConfig {
                field: "token lifetime",
                reason: format!("must be 10s to {LIFETIME_MAX:?}, is {lifetime:?}"),
            });
        }
        self.lifetime = lifetime;
        Ok(self)
    }

    /// Takes the time from elsewhere.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// A token with life left in it.
    ///
    /// # Errors
    /// As the source of credentials has it.
    pub fn token(&self) -> Result<SecretString> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.instant();
        if let Some(token) = current.as_ref().filter(|token| now < token.renew_at) {
            return Ok(token.text.clone());
        }
        let text = SecretString::from(self.signed(&self.source.credentials()?)?);
        *current =
            Some(Token { text: text.clone(), renew_at: now + (self.lifetime - self.lifetime / RENEWAL) });
        Ok(text)
    }

    /// Drops a token that the server refused, unless another call has replaced it already.
    pub(crate) fn forget(&self, refused: &SecretString) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|token| token.text.expose_secret() == refused.expose_secret()) {
            *current = None;
        }
    }

    fn signed(&self, credentials: &Credentials) -> Result<String> {
        let time = jiff::Timestamp::from_microsecond(self.clock.now().as_micros())
            .map_err(|error| Error::BadConfig { field: "clock", reason: error.to_string() })?;
        let timestamp = time.strftime("%Y%m%dT%H%M%SZ").to_string();
        Ok(presigned(
            &Request {
                host: &self.host,
                path: "/",
                query: &[("Action", self.action)],
                region: &self.region,
                service: "dsql",
                timestamp: &timestamp,
                expires_seconds: self.lifetime.as_secs(),
                payload: EMPTY_PAYLOAD,
            },
            &Signer {
                access_key_id: credentials.access_key_id(),
                secret_access_key: credentials.secret_access_key(),
                session_token: credentials.session_token(),
            },
        ))
    }
}

impl fmt::Debug for TokenProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenProvider")
            .field("host", &self.host)
            .field("region", &self.region)
            .field("action", &self.action)
            .finish_non_exhaustive()
    }
}

fn region_of(host: &str) -> Option<&str> {
    let (_, rest) = host.split_once(".dsql.")?;
    rest.strip_suffix(".on.aws").filter(|region| !region.is_empty() && !region.contains('.'))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use leasehold_core::{ManualClock, Timestamp};
    use secrecy::ExposeSecret;

    use super::{TokenProvider, region_of};
    use crate::{ConnectionString, Credentials};

    fn clock() -> ManualClock {
        ManualClock::new(Timestamp::from_millis(1_724_716_800_000))
    }

    fn provider(url: &str, clock: ManualClock) -> TokenProvider {
        let credentials = Credentials::new("akid", "secret", Some("token".to_owned()));
        TokenProvider::new(&ConnectionString::parse(url).unwrap(), credentials)
            .unwrap()
            .with_lifetime(Duration::from_secs(450))
            .unwrap()
            .with_clock(clock)
    }

    /// Signatures that AWS's own token generators give for the same key pair, host and time.
    #[test]
    fn tokens_equal_those_of_the_aws_tools() {
        for (url, action, signature) in [
            (
                "dsql://app@peccy.dsql.us-east-1.on.aws",
                "DbConnect",
                "9fdb9de7ca6822832943d5a4e1b02411d302a2b8204bd7e8193aa4875fbd5a58",
            ),
            (
                "dsql://peccy.dsql.us-east-1.on.aws",
                "DbConnectAdmin",
                "dd5373133b347f82a6e8a710e5fbd367f5e1d84824dc148b96d5f45089cb47f0",
            ),
        ] {
            let token = provider(url, clock()).token().unwrap();
            assert_eq!(
                token.expose_secret(),
                format!(
                    "peccy.dsql.us-east-1.on.aws/?Action={action}&X-Amz-Algorithm=AWS4-HMAC-SHA256\
                     &X-Amz-Credential=akid%2F20240827%2Fus-east-1%2Fdsql%2Faws4_request\
                     &X-Amz-Date=20240827T000000Z&X-Amz-Expires=450&X-Amz-Security-Token=token\
                     &X-Amz-SignedHeaders=host&X-Amz-Signature={signature}"
                )
            );
        }
    }

    #[test]
    fn token_is_kept_and_replaced_before_it_expires() {
        let clock = clock();
        let provider = provider("dsql://peccy.dsql.us-east-1.on.aws", clock.clone());
        let text = || provider.token().unwrap().expose_secret().to_owned();
        let first = text();
        clock.advance(Duration::from_secs(359));
        assert_eq!(text(), first);
        clock.advance(Duration::from_secs(1));
        let second = text();
        assert_ne!(second, first);
        assert!(second.contains("X-Amz-Date=20240827T000600Z"), "{second}");
    }

    #[test]
    fn refused_token_is_forgotten_but_not_its_successor() {
        let clock = clock();
        let provider = provider("dsql://peccy.dsql.us-east-1.on.aws", clock.clone());
        let refused = provider.token().unwrap();
        clock.advance(Duration::from_secs(1));
        provider.forget(&refused);
        let fresh = provider.token().unwrap();
        assert_ne!(fresh.expose_secret(), refused.expose_secret());
        clock.advance(Duration::from_secs(1));
        provider.forget(&refused);
        assert_eq!(provider.token().unwrap().expose_secret(), fresh.expose_secret());
    }

    #[test]
    fn region_comes_from_the_host_or_is_asked_for() {
        assert_eq!(region_of("abc.dsql.eu-west-2.on.aws"), Some("eu-west-2"));
        for host in ["abc.dsql.on.aws", "abc.wrong.us-east-1.on.aws", "abc.dsql.us-east-1.wrong", "localhost"]
        {
            assert_eq!(region_of(host), None, "{host}");
        }
        let named = provider("dsql://gateway.internal?region=eu-west-2", clock());
        assert!(named.token().unwrap().expose_secret().contains("%2Feu-west-2%2F"));
    }

    #[test]
    fn lifetime_has_limits() {
        for seconds in [9, 7 * 24 * 60 * 60 + 1] {
            let provider = provider("dsql://peccy.dsql.us-east-1.on.aws", clock());
            let error = provider.with_lifetime(Duration::from_secs(seconds)).unwrap_err();
            assert!(error.to_string().starts_with("token lifetime: must be 10s to 604800s"), "{error}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let provider = provider("dsql://peccy.dsql.us-east-1.on.aws", clock());
        let token = provider.token().unwrap();
        let shown = format!("{provider:?} {token:?}");
        assert!(!shown.contains("Signature=") && !shown.contains("secret\""), "{shown}");
    }
}
