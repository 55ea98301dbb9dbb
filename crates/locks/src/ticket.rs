//! Whether a request that waits to be sent is still wanted: those who wait in a line before the store may leave it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const WAITING: u8 = 0;
#[cfg(feature = "postgres")]
const SENT: u8 = 1;
const LEFT: u8 = 2;

tokio::task_local! {
    static CURRENT: Ticket;
}

/// A request in such a line. Either it is sent or its caller leaves, whichever comes first, and never both. Clones are of the
/// same request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ticket(Arc<AtomicU8>);

impl Ticket {
    /// Asks a backend so that it can tell whether the caller has left.
    pub(crate) async fn hold<T>(self, asking: impl Future<Output = T>) -> T {
        CURRENT.scope(self, asking).await
    }

    /// Of the request that is being asked, or one that nobody leaves early.
    #[cfg(feature = "postgres")]
    pub(crate) fn current() -> Self {
        CURRENT.try_with(Ticket::clone).unwrap_or_default()
    }

    /// Whether it may be sent, and from now on is. May be asked again: a backend that wraps another may repeat itself.
    #[cfg(feature = "postgres")]
    pub(crate) fn send(&self) -> bool {
        self.0.compare_exchange(WAITING, SENT, Ordering::AcqRel, Ordering::Acquire) != Err(LEFT)
    }

    /// Whether the caller left before it was sent: then it never is.
    pub(crate) fn leave(&self) -> bool {
        self.0.compare_exchange(WAITING, LEFT, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;

    #[test]
    fn request_is_sent_or_left_and_never_both() {
        let (sent, left) = (Ticket::default(), Ticket::default());
        assert!(sent.send() && !sent.leave() && sent.send());
        assert!(left.leave() && !left.send());
    }

    #[tokio::test]
    async fn ticket_is_that_of_the_request_being_asked() {
        let ticket = Ticket::default();
        let asked = ticket.clone().hold(async { Ticket::current() }).await;
        assert!(ticket.leave() && !asked.send());
        assert!(Ticket::current().send(), "nobody leaves");
    }
}
