//! The one connection that news come and go on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use leasehold_core::KeyHash;
use leasehold_txn::tokio_postgres::types::{ToSql, Type};
use leasehold_txn::tokio_postgres::{self, Notification};
use leasehold_txn::{Listener, Pool};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use super::Announcement;
use super::wanted::{WANTED_FOR, Wanted};
use crate::WatchHub;

/// Pauses between attempts to connect double from the first to the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// How often waiters repeat what they want; two may be lost.
const REPEAT_EVERY: Duration = Duration::from_millis(WANTED_FOR.as_millis() as u64 * 2 / 5);

/// Announcements that travel in one statement.
const TOGETHER_MAX: usize = 256;

const ANNOUNCE: &str =
    "SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS said (channel, payload)";

/// Said in place of a key by one who has just begun to listen: whoever waits says so again.
const WHO_WAITS: &str = "?";

const IDENTIFY: &str = "SELECT to_regclass($1)::oid, pg_backend_pid()";

/// The task behind the news: connects, listens, passes on, and starts again when the connection breaks.
pub(super) struct Listening {
    pub(super) pool: Pool,
    /// Quoted. Its identity names the channels, so that only those who share it hear each other.
    pub(super) table: String,
    pub(super) hub: Arc<WatchHub>,
    pub(super) wanted: Arc<Wanted>,
    pub(super) pending: mpsc::Receiver<Announcement>,
}

/// A connection that listens.
struct Session {
    listener: Listener,
    /// The server's process, by which we know our own voice: waiters of this process hear of releases at once.
    process_id: i32,
    wanted: String,
    freed: String,
}

impl Listening {
    /// Ends when its backend is gone.
    pub(super) async fn run(mut self) {
        let mut pause = PAUSE_FIRST;
        loop {
            if let Some(session) = self.connect().await {
                pause = PAUSE_FIRST;
                // Whatever happened before, nobody here heard of it.
                self.hub.all_freed();
                if self.serve(session).await.is_none() {
                    return;
                }
            }
            if self.wait(pause).await.is_none() {
                return;
            }
            pause = PAUSE_MAX.min(pause * 2);
        }
    }

    /// `None` while there is no server, or no table yet.
    async fn connect(&self) -> Option<Session> {
        let listener = Listener::connect(&self.pool)
            .await
            .inspect_err(|error| tracing::debug!(code = error.code(), "no connection for notifications"))
            .ok()?;
        let rows = listener.client().query_typed(IDENTIFY, &[(&self.table, Type::TEXT)]).await.ok()?;
        let table: u32 = rows.first()?.try_get(0).ok()?;
        let process_id = rows.first()?.try_get(1).ok()?;
        let (wanted, freed) = (format!("leasehold_wanted_{table}"), format!("leasehold_freed_{table}"));
        listener.batch_execute(&format!("LISTEN {wanted}; LISTEN {freed}")).await.ok()?;
        Some(Session { listener, process_id, wanted, freed })
    }

    /// Passes news on until the connection breaks; `None` when nobody is there to pass them to.
    async fn serve(&mut self, mut session: Session) -> Option<()> {
        let mut repeat = tokio::time::interval_at((Instant::now() + REPEAT_EVERY).into(), REPEAT_EVERY);
        repeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        if session.ask_who_waits().await.is_err() {
            return Some(());
        }
        // Asked for before the connection was there.
        let mut wanted = self.hub.watched();
        let mut freed = Vec::new();
        let mut said = Vec::new();
        loop {
            if session.say(&wanted, &freed).await.is_err() {
                return Some(());
            }
            said.clear();
            wanted.clear();
            freed.clear();
            tokio::select! {
                heard = session.listener.next() => {
                    let Some(heard) = heard else { return Some(()) };
                    if heard.payload() == WHO_WAITS {
                        wanted = self.hub.watched();
                    }
                    freed.extend(self.hear(&session, &heard));
                }
                count = async {
                    let mut together = Vec::new();
                    let count = self.pending.recv_many(&mut together, TOGETHER_MAX).await;
                    for announcement in together {
                        match announcement {
                            Announcement::Wanted(key_hash, answer) => {
                                wanted.push(key_hash);
                                said.push(answer);
                            }
                            Announcement::Freed(key_hash) => freed.push(key_hash),
                        }
                    }
                    count
                } => if count == 0 { return None },
                _ = repeat.tick() => wanted = self.hub.watched(),
            }
        }
    }

    /// Takes a notification in; the key to free if it is one that is wanted and was just released here.
    fn hear(&self, session: &Session, heard: &Notification) -> Option<KeyHash> {
        let key_hash =
            KeyHash::parse(heard.payload()).filter(|_| heard.process_id() != session.process_id)?;
        if heard.channel() == session.freed {
            self.hub.freed(key_hash);
            return None;
        }
        self.wanted.is_wanted(key_hash, Instant::now()).then_some(key_hash)
    }

    /// Lets time pass; what is to be announced meanwhile is dropped, so that nobody waits for it. `None` when the
    /// backend is gone.
    async fn wait(&mut self, pause: Duration) -> Option<()> {
        let until = tokio::time::Instant::now() + pause;
        loop {
            match tokio::time::timeout_at(until, self.pending.recv()).await {
                Ok(announcement) => drop(announcement?),
                Err(_passed) => return Some(()),
            }
        }
    }
}

impl Session {
    async fn ask_who_waits(&self) -> Result<(), tokio_postgres::Error> {
        let values: [(&(dyn ToSql + Sync), Type); 2] = [(&self.wanted, Type::TEXT), (&WHO_WAITS, Type::TEXT)];
        self.listener.client().query_typed("SELECT pg_notify($1, $2)", &values).await.map(drop)
    }

    async fn say(&self, wanted: &[KeyHash], freed: &[KeyHash]) -> Result<(), tokio_postgres::Error> {
        if wanted.is_empty() && freed.is_empty() {
            return Ok(());
        }
        let channels = wanted.iter().map(|_| &self.wanted).chain(freed.iter().map(|_| &self.freed));
        let channels: Vec<&str> = channels.map(String::as_str).collect();
        let payloads: Vec<String> = wanted.iter().chain(freed).map(ToString::to_string).collect();
        let values: [(&(dyn ToSql + Sync), Type); 2] =
            [(&channels, Type::TEXT_ARRAY), (&payloads, Type::TEXT_ARRAY)];
        self.listener.client().query_typed(ANNOUNCE, &values).await.map(drop)
    }
}
