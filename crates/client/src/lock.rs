//! The locks of a server, as a backend.

use std::time::Duration;

use async_trait::async_trait;
use leasehold_api::lock::{
    LockAcquireRequest, LockAcquireResponse, LockExtendRequest, LockExtendResponse, LockInfo,
    LockIsLockedRequest, LockIsLockedResponse, LockListRequest, LockListResponse, LockLookupRequest,
    LockReleaseRequest, LockReleaseResponse,
};
use leasehold_core::{Class, Fence, Key, LockCode, LockId, LockRecord, Refusal, TIME_TOLERANCE, Timestamp};
use leasehold_locks::backend::{Capabilities, TimeAuthority};
use leasehold_locks::{
    AcquireOutcome, AcquireRequest, Error as LockError, ExtendOutcome, ExtendRequest, Grant, ListRequest,
    LockBackend, LookupBy, ReleaseOutcome, Result as LockResult, Watch,
};

use crate::call::Caller;
use crate::lock_news::Questions;
use crate::{Endpoint, Error, Options, Result};

/// Locks through a server.
#[derive(Debug, Clone)]
pub struct HttpBackend {
    caller: Caller,
    questions: Questions,
}

impl HttpBackend {
    /// How long an operation may take.
    pub const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);

    /// Over a server. Connects when it is first used.
    pub fn new(endpoint: Endpoint) -> Self {
        HttpBackend::with_timeout(endpoint, HttpBackend::TIMEOUT_DEFAULT)
    }

    /// With another limit to how long an operation may take.
    pub fn with_timeout(endpoint: Endpoint, timeout: Duration) -> Self {
        HttpBackend::over(Caller::new(endpoint, timeout))
    }

    /// With an API key, a limit of time, certificates to trust.
    pub fn with_options(endpoint: Endpoint, options: &Options) -> Result<Self> {
        Ok(HttpBackend::over(Caller::with_options(endpoint, options)?))
    }

    fn over(caller: Caller) -> Self {
        HttpBackend { caller, questions: Questions::default() }
    }
}

#[async_trait]
impl LockBackend for HttpBackend {
    async fn acquire(&self, request: &AcquireRequest) -> LockResult<AcquireOutcome> {
        let question = LockAcquireRequest {
            key: request.key.as_str().to_owned(),
            ttl_ms: millis(request.ttl.as_millis()),
            lock_id: request.lock_id.as_str().to_owned(),
            request_timeout: String::new(),
        };
        let answer: LockAcquireResponse =
            self.caller.call("/v1/lock.acquire", &question).await.map_err(|error| refused(error, request))?;
        match answer.ok {
            false => Ok(AcquireOutcome::Held { free_in: None }),
            true => Ok(AcquireOutcome::Acquired(Grant {
                lock_id: read("acquire", LockId::parse(&answer.lock_id))?,
                fence: read("acquire", Fence::parse(&answer.fence))?,
                expires_at: Timestamp::from_millis(answer.expires_at_ms),
            })),
        }
    }

    async fn extend(&self, request: &ExtendRequest) -> LockResult<ExtendOutcome> {
        let question = LockExtendRequest {
            lock_id: request.lock_id.as_str().to_owned(),
            ttl_ms: millis(request.ttl.as_millis()),
        };
        let answer: LockExtendResponse =
            self.caller.call("/v1/lock.extend", &question).await.map_err(wrote("extend"))?;
        Ok(match answer.ok {
            true => ExtendOutcome::Extended { expires_at: Timestamp::from_millis(answer.expires_at_ms) },
            false => ExtendOutcome::Refused(refusal(&answer.reason)),
        })
    }

    async fn release(&self, lock_id: &LockId) -> LockResult<ReleaseOutcome> {
        let question = LockReleaseRequest { lock_id: lock_id.as_str().to_owned() };
        let answer: LockReleaseResponse =
            self.caller.call("/v1/lock.release", &question).await.map_err(wrote("release"))?;
        Ok(match answer.ok {
            true => ReleaseOutcome::Released,
            false => ReleaseOutcome::Refused(refusal(&answer.reason)),
        })
    }

    async fn is_locked(&self, key: &Key) -> LockResult<bool> {
        let question = LockIsLockedRequest { key: key.as_str().to_owned() };
        let answer: LockIsLockedResponse =
            self.caller.call("/v1/lock.isLocked", &question).await.map_err(only_read("is_locked"))?;
        Ok(answer.locked)
    }

    async fn lookup(&self, by: LookupBy<'_>) -> LockResult<Option<LockRecord>> {
        let mut question = LockLookupRequest { raw: true, ..LockLookupRequest::default() };
        match by {
            LookupBy::Key(key) => question.key = key.as_str().to_owned(),
            LookupBy::LockId(lock_id) => question.lock_id = lock_id.as_str().to_owned(),
        }
        let answer: LockInfo =
            self.caller.call("/v1/lock.lookup", &question).await.map_err(only_read("lookup"))?;
        if answer == LockInfo::default() {
            return Ok(None);
        }
        read("lookup", LockRecord::try_from(&answer)).map(Some)
    }

    async fn list(&self, request: &ListRequest) -> LockResult<Vec<LockRecord>> {
        let question = LockListRequest {
            after: request.after.as_ref().map(|key| key.as_str().to_owned()).unwrap_or_default(),
            limit: i32::try_from(request.page_len()).unwrap_or(i32::MAX),
            raw: true,
        };
        let answer: LockListResponse =
            self.caller.call("/v1/lock.list", &question).await.map_err(only_read("list"))?;
        answer.locks.iter().map(|info| read("list", LockRecord::try_from(info))).collect()
    }

    async fn watch(&self, key: &Key) -> Watch {
        self.questions.watch(&self.caller, key)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            backend: "http",
            time_authority: TimeAuthority::Server,
            tolerance: TIME_TOLERANCE,
            durable: true,
        }
    }
}

/// Ttls are capped far below this.
fn millis(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX)
}

fn refusal(reason: &str) -> Refusal {
    match reason {
        "expired" => Refusal::Expired,
        _ => Refusal::NotFound,
    }
}

/// An answer with a word that is none of ours.
fn read<T>(operation: &'static str, word: leasehold_core::Result<T>) -> LockResult<T> {
    word.map_err(|error| LockError::Store { operation, lock_code: LockCode::Internal, source: error.into() })
}

/// What only an acquire can be told, or the failure of a write.
fn refused(error: Error, request: &AcquireRequest) -> LockError {
    let in_use = LockError::LockIdInUse { lock_id_hash: request.lock_id.lock_id_hash() };
    match &error {
        Error::Answered { details, .. } if details.get("error").is_some_and(|code| code == in_use.code()) => {
            in_use
        }
        _ => wrote("acquire")(error),
    }
}

/// A lost answer leaves the outcome of a write unknown …
fn wrote(operation: &'static str) -> impl Fn(Error) -> LockError {
    move |error| match error.class() {
        Class::Indeterminate => LockError::Indeterminate { operation, source: error.into() },
        _ => failed(operation, error),
    }
}

/// … and that of a read is simply no answer.
fn only_read(operation: &'static str) -> impl Fn(Error) -> LockError {
    move |error| failed(operation, error)
}

fn failed(operation: &'static str, error: Error) -> LockError {
    let lock_code = match &error {
        Error::Answered { details, .. } => {
            let code = details.get("code").map(String::as_str).unwrap_or_default();
            LockCode::ALL.into_iter().find(|known| known.as_str() == code).unwrap_or(LockCode::Internal)
        }
        Error::Endpoint { .. }
        | Error::ApiKey
        | Error::CaFile { .. }
        | Error::Certificate { .. }
        | Error::TraceParent => LockCode::InvalidArgument,
        Error::Connect { .. } | Error::Lost { .. } => LockCode::ServiceUnavailable,
        Error::Unreadable { .. } => LockCode::Internal,
    };
    LockError::Store { operation, lock_code, source: error.into() }
}
