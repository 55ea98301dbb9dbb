//! Whether a request that waits to be sent is still wanted: those who wait in a line before the store may leave it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// No backend has said whether it waits in a line: it may be sent already.
const ASKED: u8 = 0;
const WAITING: u8 = 1;
#[cfg(feature = "postgres")]
const SENT: u8 = 2;
const LEFT: u8 = 3;

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

    /// Of the request that is being asked, or one that no caller leaves early. From now on it waits in a line.
    #[cfg(feature = "postgres")]
    pub(crate) fn current() -> Self {
        let ticket = CURRENT.try_with(Ticket::clone).unwrap_or_default();
        let _ = ticket.0.compare_exchange(ASKED, WAITING, Ordering::AcqRel, Ordering::Acquire);
        ticket
    }

    /// Whether it may be sent, and from now on is. May be asked again: a backend that wraps another may repeat itself.
    #[cfg(feature = "postgres")]
    pub(crate) fn send(&self) -> bool {
        let waits = |state| (state != LEFT).then_some(SENT);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, waits).is_ok()
    }

    /// Whether the caller left before it was sent: then it never is. False also where no backend can tell.
    pub(crate) fn leave(&self) -> bool {
        let waits = |state| matches!(state, ASKED | WAITING).then_some(LEFT);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, waits) == Ok(WAITING)
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;

    #[test]
    fn request_is_sent_or_left_and_never_both() {
        let (sent, left) = (Ticket::current(), Ticket::current());
        assert!(sent.send() && !sent.leave() && sent.send());
        assert!(left.leave() && !left.send());
    }

    #[test]
    fn request_that_no_line_has_taken_may_be_sent() {
        let unknown = Ticket::default();
        assert!(!unknown.leave() && !unknown.send());
    }

    #[tokio::test]
    async fn ticket_is_that_of_the_request_being_asked() {
        let ticket = Ticket::default();
        let asked = ticket.clone().hold(async { Ticket::current() }).await;
        assert!(ticket.leave() && !asked.send());
        assert!(Ticket::current().send(), "nobody leaves");
    }
}
