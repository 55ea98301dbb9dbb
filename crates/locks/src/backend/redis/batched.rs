//! Fewer, larger writes.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// From how many commands in flight on writes wait for each other. With fewer, client and server would take turns
/// where they could have worked at the same time: at 32 it cost a third of the rate.
const CROWD: usize = 64;

/// Commands that wait for their answers.
#[derive(Clone, Default)]
pub(super) struct InFlight(Arc<AtomicUsize>);

/// One of them, for as long as it lives.
pub(super) struct Counted<'a>(&'a AtomicUsize);

impl InFlight {
    pub(super) fn count(&self) -> Counted<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(&self.0)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A socket that lets other tasks run once before each write, if there are many.
///
/// The driver writes as soon as it has one command. Those who are about to send theirs then each cost a system call,
/// although they are ready: given their turn first, one call carries all of them.
pub(super) struct Batched<S> {
    socket: S,
    in_flight: InFlight,
    /// Others had their turn since the last write.
    waited: bool,
}

impl<S> Batched<S> {
    pub(super) fn new(socket: S, in_flight: InFlight) -> Self {
        Batched { socket, in_flight, waited: false }
    }

    fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.waited || self.in_flight.0.load(Ordering::Relaxed) < CROWD {
            return Poll::Ready(());
        }
        self.waited = true;
        // Woken while it runs, a task is put behind those that wait already.
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Batched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_turn(context));
        let written = ready!(Pin::new(&mut self.socket).poll_write(context, bytes));
        self.waited = false;
        Poll::Ready(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_turn(context));
        let written = ready!(Pin::new(&mut self.socket).poll_write_vectored(context, parts));
        self.waited = false;
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Batched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::{future, poll};
    use tokio::io::AsyncWriteExt;

    use super::*;

    /// Remembers each write.
    #[derive(Default)]
    struct Writes(Vec<usize>);

    impl AsyncWrite for Writes {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.0.push(bytes.len());
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn few_commands_are_written_at_once() {
        let in_flight = InFlight::default();
        let _few: Vec<_> = (1..CROWD).map(|_| in_flight.count()).collect();
        let mut socket = Batched::new(Writes::default(), in_flight.clone());
        assert!(poll!(pin!(socket.write_all(b"abc"))).is_ready());
        assert_eq!(socket.socket.0, [3]);
    }

    #[tokio::test]
    async fn others_have_their_turn_before_each_write_and_it_still_comes() {
        let in_flight = InFlight::default();
        let _crowd: Vec<_> = (0..CROWD).map(|_| in_flight.count()).collect();
        let mut socket = Batched::new(Writes::default(), in_flight.clone());
        for round in 1..3 {
            {
                let mut writing = pin!(socket.write_all(b"abc"));
                assert!(poll!(&mut writing).is_pending(), "round {round}");
                // Nobody wakes it but itself.
                writing.await.expect("is written");
            }
            assert_eq!(socket.socket.0.len(), round);
        }
    }

    #[test]
    fn ended_commands_do_not_count() {
        let in_flight = InFlight::default();
        drop((0..CROWD).map(|_| in_flight.count()).collect::<Vec<_>>());
        let mut socket = Batched::new(Writes::default(), in_flight);
        let turn = future::poll_fn(|context| Poll::Ready(socket.poll_turn(context)));
        assert!(futures_util::FutureExt::now_or_never(turn).is_some_and(|turn| turn.is_ready()));
    }
}
