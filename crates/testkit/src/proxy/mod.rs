//! A TCP proxy that breaks things on purpose, by rule.
//!
//! ```no_run
//! # async fn example(server: std::net::SocketAddr) -> std::io::Result<()> {
//! use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
//!
//! let proxy = FaultProxy::start(server).await?;
//! let lost = proxy.add(Rule::on(Trigger::Request(b"COMMIT".to_vec())).then(Action::DropReply));
//! // … a client that connects to proxy.address() commits, and never hears of it …
//! lost.fired().await;
//! # Ok(()) }
//! ```
//!
//! # What is deterministic
//! A rule looks for its bytes in the stream, not in packets: an occurrence counts once however TCP split it. Which
//! occurrence fires a rule therefore depends only on the order of bytes and connections. An action applies to the
//! chunk in which the occurrence ends, so bytes that a client sent long before it in the same stream have usually
//! gone through, and bytes sent together with it share its fate.

mod connection;
mod rule;
mod rulebook;
mod window;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    net::TcpListener,
    task::{AbortHandle, JoinHandle},
};

pub use rule::{Action, Rule, RuleHandle, Trigger};
use rulebook::Rulebook;

/// After a failed accept (no file handles left): time for some to be given back.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Stands between a client and one server. Its tasks run on the runtime that started it and end when it is dropped.
#[derive(Debug)]
pub struct FaultProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    upstream: SocketAddr,
    rules: Rulebook,
    refuse: AtomicBool,
    accepted: AtomicU64,
    open: AtomicUsize,
    relays: Mutex<Relays>,
}

/// The tasks that carry connections.
#[derive(Debug, Default)]
struct Relays {
    handles: Vec<AbortHandle>,
    /// Set when the proxy goes: a connection accepted at that very moment must not outlive it.
    ended: bool,
}

impl FaultProxy {
    /// Listens on a port of the loopback interface and forwards to `upstream`, untouched until a rule is added.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start(upstream: SocketAddr) -> io::Result<FaultProxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            upstream,
            rules: Rulebook::default(),
            refuse: AtomicBool::new(false),
            accepted: AtomicU64::new(0),
            open: AtomicUsize::new(0),
            relays: Mutex::default(),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(FaultProxy { address, shared, accepting })
    }

    /// Where clients connect.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Adds a rule, for connections open now and later. Rules are judged in the order they were added: delays add
    /// up, and the first other action that fires decides.
    ///
    /// # Panics
    /// When the rule looks for no bytes at all or for more than [`Rule::PATTERN_BYTES_MAX`].
    pub fn add(&self, rule: Rule) -> RuleHandle {
        self.shared.rules.add(rule)
    }

    /// Removes all rules. What they did stays done: a blackholed connection stays dark.
    pub fn clear(&self) {
        self.shared.rules.clear();
    }

    /// Closes every open connection, as soon as the runtime gets to it.
    pub fn cut_all(&self) {
        self.shared.relays().handles.drain(..).for_each(|relay| relay.abort());
    }

    /// While true, new connections are reset at once; open ones stay.
    pub fn refuse(&self, refuse: bool) {
        self.shared.refuse.store(refuse, Ordering::SeqCst);
    }

    /// Client connections open now.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }

    /// Client connections taken so far, refused and cut ones too.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.shared.relays().ended = true;
        self.cut_all();
    }
}

impl Shared {
    fn relays(&self) -> MutexGuard<'_, Relays> {
        self.relays.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a connection for as long as its task lives, also when the task is aborted.
struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((client, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        shared.accepted.fetch_add(1, Ordering::SeqCst);
        if shared.refuse.load(Ordering::SeqCst) {
            // Without lingering, closing sends a reset.
            let _ = client.set_zero_linger();
            continue;
        }
        // Judged here and not in the task: connections count in the order they came.
        let verdict = shared.rules.on_connect();
        let mut relays = shared.relays();
        if relays.ended {
            return;
        }
        shared.open.fetch_add(1, Ordering::SeqCst);
        let open = Open(Arc::clone(&shared));
        let relay = tokio::spawn(async move { connection::serve(client, verdict, &open.0).await });
        relays.handles.retain(|relay| !relay.is_finished());
        relays.handles.push(relay.abort_handle());
    }
}
