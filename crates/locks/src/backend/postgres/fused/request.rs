//! The two kinds of requests that are fused.

use async_trait::async_trait;
use leasehold_core::LockId;

use crate::backend::LockBackend;
use crate::backend::postgres::{PostgresBackend, acquire, release};
use crate::{AcquireOutcome, AcquireRequest, ReleaseOutcome, Result};

#[async_trait]
pub(super) trait Request: Sized + Sync {
    const OPERATION: &str;
    type Outcome: Send;

    async fn ask(&self, backend: &PostgresBackend) -> Result<Self::Outcome>;

    async fn ask_many(requests: &[Self], backend: &PostgresBackend) -> Result<Vec<Result<Self::Outcome>>>;
}

#[async_trait]
impl Request for AcquireRequest {
    const OPERATION: &str = acquire::OPERATION;
    type Outcome = AcquireOutcome;

    async fn ask(&self, backend: &PostgresBackend) -> Result<AcquireOutcome> {
        backend.acquire(self).await
    }

    async fn ask_many(requests: &[Self], backend: &PostgresBackend) -> Result<Vec<Result<AcquireOutcome>>> {
        backend.acquire_many(requests).await
    }
}

/// A release.
#[async_trait]
impl Request for LockId {
    const OPERATION: &str = release::OPERATION;
    type Outcome = ReleaseOutcome;

    async fn ask(&self, backend: &PostgresBackend) -> Result<ReleaseOutcome> {
        backend.release(self).await
    }

    async fn ask_many(lock_ids: &[Self], backend: &PostgresBackend) -> Result<Vec<Result<ReleaseOutcome>>> {
        backend.release_many(lock_ids).await
    }
}
