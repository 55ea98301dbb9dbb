//! Room for so many bytes: what takes part of it, and what must wait for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::reply::Reply;

/// How long whoever finds no room waits for others to be done.
pub(super) const ROOM_TIMEOUT: Duration = Duration::from_secs(5);

/// What a permit stands for.
const UNIT_BYTES: usize = 1_024;

/// Room for so many bytes.
#[derive(Clone)]
pub(super) struct Room {
    semaphore: Arc<Semaphore>,
    units: u32,
}

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        let units = units(bytes).min(u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX));
        Room { semaphore: Arc::new(Semaphore::new(units as usize)), units }
    }

    /// As much as `bytes` need, or all of it for what is larger.
    pub(super) async fn take(&self, bytes: usize, wait: Duration) -> Result<OwnedSemaphorePermit, Reply> {
        self.take_units(units(bytes), wait).await
    }

    /// One of so many equal parts.
    pub(super) async fn take_part(&self, parts: u32, wait: Duration) -> Result<OwnedSemaphorePermit, Reply> {
        self.take_units((self.units / parts).max(1), wait).await
    }

    async fn take_units(&self, wanted: u32, wait: Duration) -> Result<OwnedSemaphorePermit, Reply> {
        let wanted = self.semaphore.clone().acquire_many_owned(wanted.min(self.units));
        let taken = timeout(wait, wanted).await.map_err(|_| Reply::overloaded())?;
        Ok(taken.expect("nobody closes it"))
    }

    /// As much as `bytes` need in place of what was taken. What is more must be free now.
    pub(super) fn resize(
        &self,
        mut taken: OwnedSemaphorePermit,
        bytes: usize,
    ) -> Result<OwnedSemaphorePermit, Reply> {
        let wanted = units(bytes).min(self.units) as usize;
        if let Some(over) = taken.num_permits().checked_sub(wanted) {
            drop(taken.split(over));
            return Ok(taken);
        }
        let lacking = u32::try_from(wanted - taken.num_permits()).unwrap_or(u32::MAX);
        let more = self.semaphore.clone().try_acquire_many_owned(lacking);
        taken.merge(more.map_err(|_| Reply::overloaded())?);
        Ok(taken)
    }
}

pub(super) fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX)
}
