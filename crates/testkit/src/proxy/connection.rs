//! Carries one connection, both directions in one task, so that the order of events is the order of bytes.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
};

use super::{
    Action, Shared,
    rulebook::{Direction, Notice, Rulebook, Verdict, Wait},
    window::Window,
};

const CHUNK_BYTES: usize = 16 * 1024;

/// How one direction ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The sender has no more to say; the other direction goes on.
    Half,
    /// Both sides are to be closed.
    Both,
}

/// What the two directions of a connection tell each other.
#[derive(Debug, Default)]
struct Link {
    /// Set once a request went through whose reply must not.
    losing_reply: Mutex<Option<Notice>>,
    dark: AtomicBool,
}

impl Link {
    fn lose_reply(&self, notice: Notice) {
        *self.losing_reply.lock().unwrap_or_else(PoisonError::into_inner) = Some(notice);
    }

    fn take_losing_reply(&self) -> Option<Notice> {
        self.losing_reply.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn is_dark(&self) -> bool {
        self.dark.load(Ordering::SeqCst)
    }
}

/// Connects to the server and carries bytes until both sides are done or a rule ends it.
pub(super) async fn serve(mut client: TcpStream, verdict: Verdict, shared: &Shared) {
    let link = Link::default();
    wait(verdict.waits).await;
    match verdict.last {
        Some((Action::Cut, notice)) => return notice.tell(),
        Some((Action::Blackhole, notice)) => {
            notice.tell();
            return swallow(&mut client).await;
        }
        Some((Action::CutAfterForward, notice)) => {
            // Whether or not the server could be reached, the connection ends here.
            let _ = TcpStream::connect(shared.upstream).await;
            return notice.tell();
        }
        Some((Action::DropReply, notice)) => link.lose_reply(notice),
        Some((Action::Delay(_) | Action::Hold, _)) | None => {}
    }
    let Ok(mut server) = TcpStream::connect(shared.upstream).await else {
        let _ = client.set_zero_linger();
        return;
    };
    // The proxy must not add the kernel's own delays to those of the rules.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (client_read, client_write) = client.split();
    let (server_read, server_write) = server.split();
    let requests = pump(Direction::Request, client_read, server_write, &link, &shared.rules);
    let replies = pump(Direction::Reply, server_read, client_write, &link, &shared.rules);
    tokio::pin!(requests, replies);
    tokio::select! {
        biased;
        end = &mut requests => if end == End::Half { replies.await; },
        end = &mut replies => if end == End::Half { requests.await; },
    }
}

async fn pump(
    direction: Direction,
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    link: &Link,
    rules: &Rulebook,
) -> End {
    let mut window = Window::default();
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let Ok(length) = from.read(&mut buffer).await else { return lost(link) };
        let chunk = &buffer[..length];
        if link.is_dark() {
            if chunk.is_empty() {
                return End::Half;
            }
            continue;
        }
        if direction == Direction::Reply
            && let Some(notice) = link.take_losing_reply()
        {
            notice.tell();
            return End::Both;
        }
        if chunk.is_empty() {
            let _ = to.shutdown().await;
            return End::Half;
        }
        let verdict = rules.on_chunk(direction, &mut window, chunk);
        wait(verdict.waits).await;
        // It may have gone dark meanwhile.
        if link.is_dark() {
            continue;
        }
        let action = verdict.last.as_ref().map(|(action, _)| *action);
        if !discards(action, direction) && to.write_all(chunk).await.is_err() {
            return lost(link);
        }
        let Some((action, notice)) = verdict.last else { continue };
        match action {
            // No await between the write above and this: the reply cannot slip through.
            Action::DropReply if direction == Direction::Request => link.lose_reply(notice),
            Action::Blackhole => {
                link.dark.store(true, Ordering::SeqCst);
                notice.tell();
            }
            _ => {
                notice.tell();
                return End::Both;
            }
        }
    }
}

/// Whether the chunk itself goes no further.
fn discards(action: Option<Action>, direction: Direction) -> bool {
    match action {
        Some(Action::Cut | Action::Blackhole) => true,
        Some(Action::DropReply) => direction == Direction::Reply,
        Some(Action::CutAfterForward | Action::Delay(_) | Action::Hold) | None => false,
    }
}

/// A side broke; in the dark the other one must not learn of it. A reply that was to be dropped will not come.
fn lost(link: &Link) -> End {
    if let Some(notice) = link.take_losing_reply() {
        notice.tell();
    }
    if link.is_dark() { End::Half } else { End::Both }
}

async fn wait(waits: Vec<(Wait, Notice)>) {
    for (wait, notice) in waits {
        notice.tell();
        match wait {
            Wait::For(delay) => tokio::time::sleep(delay).await,
            // An error: nobody is left who could let it go.
            Wait::Until(mut gate) => drop(gate.wait_for(|open| *open).await),
        }
    }
}

async fn swallow(client: &mut TcpStream) {
    let mut buffer = vec![0; CHUNK_BYTES];
    while matches!(client.read(&mut buffer).await, Ok(length) if length > 0) {}
}
