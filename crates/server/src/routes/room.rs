//! Room for so many bytes: what takes part of it, and what must wait for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
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
    /// Held by one who looks for the last time, and gives back what it had.
    giving_up: Arc<Mutex<()>>,
}

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        let units = units(bytes).min(u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX));
        Room { semaphore: Arc::new(Semaphore::new(units as usize)), units, giving_up: Arc::default() }
    }

    /// As much as `bytes` need, or all of it for what is larger, with what was taken already. Who has part of it and finds
    /// no more gives it back, one after the other: what one gives back may be all that the next lacks.
    pub(super) async fn grow(
        &self,
        taken: Option<OwnedSemaphorePermit>,
        bytes: usize,
        wait: Duration,
    ) -> Result<OwnedSemaphorePermit, Reply> {
        let has = taken.as_ref().map_or(0, |taken| u32::try_from(taken.num_permits()).unwrap_or(u32::MAX));
        let lacking = units(bytes).min(self.units).saturating_sub(has);
        let more = match timeout(wait, self.semaphore.clone().acquire_many_owned(lacking)).await {
            Ok(more) => more.expect("nobody closes it"),
            Err(_elapsed) => {
                let _giving_up = self.giving_up.lock().await;
                let Ok(more) = self.semaphore.clone().try_acquire_many_owned(lacking) else {
                    drop(taken);
                    return Err(Reply::overloaded());
                };
                more
            }
        };
        Ok(match taken {
            None => more,
            Some(mut taken) => {
                taken.merge(more);
                taken
            }
        })
    }

    /// Whether the permit is a part of it.
    pub(super) fn is_of(&self, permit: &OwnedSemaphorePermit) -> bool {
        Arc::ptr_eq(permit.semaphore(), &self.semaphore)
    }

    /// Whether nobody has any of it.
    #[cfg(test)]
    pub(super) fn is_free(&self) -> bool {
        self.semaphore.available_permits() == self.units as usize
    }

    /// One of so many equal parts.
    pub(super) async fn take_part(&self, parts: u32, wait: Duration) -> Result<OwnedSemaphorePermit, Reply> {
        let wanted = (self.units / parts).max(1).min(self.units);
        let wanted = self.semaphore.clone().acquire_many_owned(wanted);
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
        taken.merge(self.take_units_now(lacking)?);
        Ok(taken)
    }

    /// As much as `bytes` need, or all of it for what is larger, of what is free now.
    pub(super) fn take_now(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Reply> {
        self.take_units_now(units(bytes).min(self.units))
    }

    fn take_units_now(&self, wanted: u32) -> Result<OwnedSemaphorePermit, Reply> {
        self.semaphore.clone().try_acquire_many_owned(wanted).map_err(|_| Reply::overloaded())
    }
}

pub(super) fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinSet;

    use super::*;

    /// All of them have half of what they need, and nobody has more to give.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_more_give_up_than_must() {
        const HOLDERS: usize = 8;
        let room = Room::new(HOLDERS * UNIT_BYTES);
        let mut growing = JoinSet::new();
        let mut halves = Vec::new();
        for _ in 0..HOLDERS {
            halves.push(room.grow(None, UNIT_BYTES, Duration::ZERO).await.expect("there is room"));
        }
        for half in halves {
            let room = room.clone();
            growing
                .spawn(async move { room.grow(Some(half), 2 * UNIT_BYTES, Duration::from_millis(50)).await });
        }
        let grown = growing.join_all().await;
        let served: Vec<_> = grown.into_iter().flatten().map(|whole| whole.num_permits()).collect();
        assert_eq!(served, [2; HOLDERS / 2]);
        assert!(room.is_free(), "all of it was given back");
    }
}
