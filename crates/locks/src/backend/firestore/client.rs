//! The three calls of Google's API that locks need, each with its credentials and its limit in time.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gcp_auth::{CustomServiceAccount, TokenProvider};
use leasehold_core::{LockCode, Timestamp};
use parking_lot::Mutex;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Status};

use super::api::{
    BatchGetDocumentsRequest, CommitRequest, Document, FirestoreClient, Got, QueryType, RunQueryRequest,
    StructuredQuery, Version, Write,
};
use super::config::Target;
use super::{Config, errors};
use crate::{Error, Result};

const GOOGLE: &str = "https://firestore.googleapis.com";
const SCOPES: &[&str] = &["https://www.googleapis.com/auth/datastore"];
const CONNECT: &str = "connect";
/// A connection that answers no ping for so long is given up; the next call makes a new one.
const PING_TIMEOUT: Duration = Duration::from_secs(10);
const PING_INTERVAL: Duration = Duration::from_secs(30);

/// One connection that all calls share, side by side.
#[derive(Debug)]
pub(super) struct Client {
    endpoint: Endpoint,
    /// `None` after a silent one: the next call makes another, within a runtime.
    shared: Mutex<Option<Shared>>,
    credentials: Credentials,
    /// Google's front end finds the database by these.
    routing: [(&'static str, MetadataValue<Ascii>); 2],
    database: String,
    timeout: Duration,
}

/// The connection, and the number of calls that it has answered.
#[derive(Debug, Clone)]
struct Shared {
    grpc: FirestoreClient<Channel>,
    answers: Arc<AtomicU64>,
}

impl Shared {
    fn over(channel: Channel) -> Self {
        Shared { grpc: FirestoreClient::new(channel), answers: Arc::default() }
    }

    fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }
}

/// A call that replaces its connection if it is dropped before the connection has answered anything. Other calls in flight
/// keep the replaced one until they end.
pub(super) struct Suspect<'a> {
    client: &'a Client,
    asked: Shared,
    answers: u64,
    answered: bool,
}

impl Suspect<'_> {
    pub(super) fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for Suspect<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.client.replace_silent(&self.asked, self.answers);
        }
    }
}

/// What was read or written, and when by Firestore's clock.
#[derive(Debug)]
pub(super) struct Done<T> {
    pub(super) what: T,
    pub(super) at: Option<Timestamp>,
}

/// Documents in the order they were asked for.
pub(super) type Documents<const N: usize> = [Option<Document>; N];

enum Credentials {
    /// The emulator takes this for the owner of the project, to whom no rules apply.
    Owner,
    Google(Arc<dyn TokenProvider>),
}

impl Client {
    pub(super) async fn connect(config: &Config, database: &str) -> Result<Client> {
        if config.timeout.is_zero() || config.timeout > Config::TIMEOUT_MAX {
            let reason = format!(
                "timeout: must be more than 0s and at most {:?}, is {:?}",
                Config::TIMEOUT_MAX,
                config.timeout
            );
            return Err(Error::Store {
                operation: CONNECT,
                lock_code: LockCode::InvalidArgument,
                source: reason.into(),
            });
        }
        let (endpoint, credentials) = match &config.target {
            Target::Emulator(address) => {
                (Endpoint::from_shared(format!("http://{address}")), Credentials::Owner)
            }
            Target::Google { credentials_file } => {
                let provider: Arc<dyn TokenProvider> = match credentials_file {
                    Some(path) => Arc::new(CustomServiceAccount::from_file(path).map_err(no_credentials)?),
                    // It asks the machine it runs on, if that is one of Google's, and waits for the answer for ever.
                    None => tokio::time::timeout(config.timeout, gcp_auth::provider())
                        .await
                        .map_err(refused(LockCode::NetworkTimeout))?
                        .map_err(no_credentials)?,
                };
                (google(), Credentials::Google(provider))
            }
        };
        let endpoint = endpoint
            .map_err(refused(LockCode::InvalidArgument))?
            .connect_timeout(config.timeout)
            .http2_keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_TIMEOUT)
            .tcp_nodelay(true);
        let channel = endpoint.connect().await.map_err(refused(LockCode::ServiceUnavailable))?;
        Ok(Client {
            endpoint,
            shared: Mutex::new(Some(Shared::over(channel))),
            credentials,
            routing: [
                ("google-cloud-resource-prefix", header(database)?),
                (
                    "x-goog-request-params",
                    header(&format!("project_id={}&database_id={}", config.project, config.database))?,
                ),
            ],
            database: database.to_owned(),
            timeout: config.timeout,
        })
    }

    /// Reads documents at one time, the latest. Locks nothing.
    pub(super) async fn get<const N: usize>(&self, names: [&str; N]) -> Result<Done<Documents<N>>, Status> {
        let asked = BatchGetDocumentsRequest {
            database: self.database.clone(),
            documents: names.iter().map(|name| (*name).to_owned()).collect(),
            mask: None,
            consistency_selector: None,
        };
        let shared = self.shared();
        self.timed(&shared, async {
            let request = self.request(asked).await?;
            let mut answers = shared.grpc.clone().batch_get_documents(request).await?.into_inner();
            let mut read = Done { what: [const { None }; N], at: None };
            while let Some(answer) = answers.message().await? {
                read.at = answer.read_time.map(timestamp).or(read.at);
                if let Some(Got::Found(document)) = answer.result {
                    let slot = names.iter().position(|name| *name == document.name);
                    let slot =
                        slot.ok_or_else(|| Status::internal("a document was found that was not asked for"))?;
                    read.what[slot] = Some(document);
                }
            }
            Ok(read)
        })
        .await
    }

    /// Finds documents below `parent`, as of now. Locks nothing.
    pub(super) async fn query(
        &self,
        parent: &str,
        query: StructuredQuery,
    ) -> Result<Done<Vec<Document>>, Status> {
        let asked = RunQueryRequest {
            parent: parent.to_owned(),
            query_type: Some(QueryType::StructuredQuery(query)),
            ..RunQueryRequest::default()
        };
        let shared = self.shared();
        self.timed(&shared, async {
            let request = self.request(asked).await?;
            let mut answers = shared.grpc.clone().run_query(request).await?.into_inner();
            let mut found = Done { what: Vec::new(), at: None };
            while let Some(answer) = answers.message().await? {
                found.at = answer.read_time.map(timestamp).or(found.at);
                found.what.extend(answer.document);
            }
            Ok(found)
        })
        .await
    }

    /// Does all the writes or none: each has its condition. Gives the new version of each document.
    pub(super) async fn commit(&self, writes: Vec<Write>) -> Result<Done<Vec<Option<Version>>>, Status> {
        let asked = CommitRequest { database: self.database.clone(), writes, ..CommitRequest::default() };
        let shared = self.shared();
        self.timed(&shared, async {
            let request = self.request(asked).await?;
            let answer = shared.grpc.clone().commit(request).await?.into_inner();
            let versions = answer.write_results.into_iter().map(|result| result.update_time).collect();
            Ok(Done { what: versions, at: answer.commit_time.map(timestamp) })
        })
        .await
    }

    /// An answer to a call over the connection, within the limit in time. A connection that is silent for so long is replaced.
    async fn timed<T>(
        &self,
        shared: &Shared,
        call: impl Future<Output = Result<T, Status>>,
    ) -> Result<T, Status> {
        let answers = shared.answers();
        let Ok(answer) = tokio::time::timeout(self.timeout, call).await else {
            self.replace_silent(shared, answers);
            return Err(Status::deadline_exceeded(format!("no answer within {:?}", self.timeout)));
        };
        shared.answers.fetch_add(1, Ordering::Relaxed);
        answer
    }

    fn shared(&self) -> Shared {
        let mut shared = self.shared.lock();
        shared.get_or_insert_with(|| Shared::over(self.endpoint.connect_lazy())).clone()
    }

    /// Before a call whose caller may leave because the answer takes too long.
    pub(super) fn suspect(&self) -> Suspect<'_> {
        let asked = self.shared();
        Suspect { client: self, answers: asked.answers(), asked, answered: false }
    }

    /// Later calls take a new connection if this one is still theirs and has answered nothing since.
    fn replace_silent(&self, silent: &Shared, answers: u64) {
        let is_silent = silent.answers() == answers;
        self.shared.lock().take_if(|shared| is_silent && Arc::ptr_eq(&shared.answers, &silent.answers));
    }

    async fn request<T>(&self, message: T) -> Result<Request<T>, Status> {
        let mut request = Request::new(message);
        let metadata = request.metadata_mut();
        metadata.insert("authorization", self.credentials.header().await?);
        for (name, value) in &self.routing {
            metadata.insert(*name, value.clone());
        }
        Ok(request)
    }
}

impl Credentials {
    async fn header(&self) -> Result<MetadataValue<Ascii>, Status> {
        let unusable =
            |error: &(dyn std::error::Error + 'static)| Status::unauthenticated(errors::chain(error));
        let Credentials::Google(provider) = self else {
            return Ok(MetadataValue::from_static("Bearer owner"));
        };
        let token = provider.token(SCOPES).await.map_err(|error| unusable(&error))?;
        let mut header = MetadataValue::try_from(format!("Bearer {}", token.as_str()))
            .map_err(|error| unusable(&error))?;
        header.set_sensitive(true);
        Ok(header)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Credentials::Owner => "Owner",
            Credentials::Google(_) => "Google",
        })
    }
}

fn google() -> Result<Endpoint, tonic::transport::Error> {
    Endpoint::from_static(GOOGLE).tls_config(ClientTlsConfig::new().with_native_roots())
}

fn header(text: &str) -> Result<MetadataValue<Ascii>> {
    MetadataValue::try_from(text).map_err(refused(LockCode::InvalidArgument))
}

fn no_credentials(error: gcp_auth::Error) -> Error {
    refused(LockCode::AuthFailed)(error)
}

fn refused<E: std::error::Error + Send + Sync + 'static>(lock_code: LockCode) -> impl FnOnce(E) -> Error {
    move |source| Error::Store { operation: CONNECT, lock_code, source: Box::new(source) }
}

/// Microseconds are as fine as Firestore's clock.
fn timestamp(at: Version) -> Timestamp {
    Timestamp::from_micros(at.seconds.saturating_mul(1_000_000).saturating_add(i64::from(at.nanos) / 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn google_is_reached_with_the_systems_certificates() {
        google().expect("ring is the provider and the roots can be read");
    }

    #[tokio::test]
    async fn absent_credentials_file_is_an_authentication_failure() {
        let config = Config::new("p").credentials_file("/nonexistent/key.json");
        let error = Client::connect(&config, "projects/p/databases/(default)").await.unwrap_err();
        assert_eq!(error.code(), "lock.auth_failed");
    }

    #[tokio::test]
    async fn nobody_listening_is_unavailable() {
        let config = Config::new("p").emulator("127.0.0.1:1");
        let error = Client::connect(&config, "projects/p/databases/(default)").await.unwrap_err();
        assert_eq!(error.code(), "lock.unavailable");
    }

    #[tokio::test]
    async fn timeout_beyond_its_limits_is_rejected() {
        for timeout in [Duration::ZERO, Duration::MAX, Config::TIMEOUT_MAX + Duration::from_nanos(1)] {
            let config = Config::new("p").emulator("127.0.0.1:1").timeout(timeout);
            let error = Client::connect(&config, "projects/p/databases/(default)").await.unwrap_err();
            assert_eq!(error.code(), "lock.rejected", "{timeout:?}");
        }
    }

    #[tokio::test]
    async fn address_that_is_none_is_rejected() {
        let config = Config::new("p").emulator("not an address");
        let error = Client::connect(&config, "projects/p/databases/(default)").await.unwrap_err();
        assert_eq!(error.code(), "lock.rejected");
    }
}
