//! What a server takes, as it tells operators itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use crate::overloading::{GROWTH_MAX, PATIENT};
use crate::served::{Server, get};

/// How often it is asked.
const INTERVAL: Duration = Duration::from_millis(20);

/// A server that is looked at until this is dropped.
pub(crate) struct Watched {
    endpoint: String,
    before: Taken,
    most: Arc<Most>,
    watching: Option<JoinHandle<()>>,
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    resident_bytes: u64,
    files: u64,
}

#[derive(Default)]
struct Most {
    resident_bytes: AtomicU64,
    files: AtomicU64,
    is_over: AtomicBool,
}

impl Watched {
    pub(crate) fn start(server: &Server) -> Self {
        let endpoint = server.admin_endpoint.clone().expect("has an address for operators");
        let before = Taken::by(&endpoint);
        let most = Arc::new(Most::default());
        let watching = std::thread::spawn({
            let (endpoint, most) = (endpoint.clone(), most.clone());
            move || {
                while !most.is_over.load(Ordering::Relaxed) {
                    let now = Taken::by(&endpoint);
                    most.resident_bytes.fetch_max(now.resident_bytes, Ordering::Relaxed);
                    most.files.fetch_max(now.files, Ordering::Relaxed);
                    sleep(INTERVAL);
                }
            }
        });
        Watched { endpoint, before, most, watching: Some(watching) }
    }

    /// By how many bytes it has grown at most.
    pub(crate) fn growth(&self) -> u64 {
        self.most.resident_bytes.load(Ordering::Relaxed).saturating_sub(self.before.resident_bytes)
    }

    /// It has grown by no more than a load may take.
    pub(crate) fn is_within_bounds(&self) {
        let growth = self.growth();
        eprintln!("{growth} bytes more");
        assert!(growth < GROWTH_MAX, "it grew by {growth} bytes");
    }

    /// How many more files it had open at most. Connections are files.
    pub(crate) fn files_growth(&self) -> u64 {
        self.most.files.load(Ordering::Relaxed).saturating_sub(self.before.files)
    }

    /// Once it has grown by more than so many bytes.
    pub(crate) fn until_grown(&self, bytes: u64) {
        let started = Instant::now();
        while self.growth() <= bytes {
            assert!(started.elapsed() < PATIENT, "it grew by {} bytes only", self.growth());
            sleep(INTERVAL);
        }
    }

    /// Once it has no more files open than before the load.
    pub(crate) fn until_closed(&self) {
        let started = Instant::now();
        loop {
            let (files, before) = (Taken::by(&self.endpoint).files, self.before.files);
            if files <= before {
                return;
            }
            assert!(started.elapsed() < PATIENT, "{files} files are open, {before} were before");
            sleep(INTERVAL);
        }
    }

    /// Once it has no more than so many bytes over what it had before the load.
    pub(crate) fn until_back(&self, kept_max: u64) {
        let started = Instant::now();
        loop {
            let kept = Taken::by(&self.endpoint).resident_bytes.saturating_sub(self.before.resident_bytes);
            if kept <= kept_max {
                return;
            }
            assert!(started.elapsed() < PATIENT, "{kept} bytes are kept of a load that is over");
            sleep(INTERVAL);
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.most.is_over.store(true, Ordering::Relaxed);
        if let Some(watching) = self.watching.take() {
            let ended = watching.join();
            assert!(ended.is_ok() || std::thread::panicking(), "operators were not answered");
        }
    }
}

impl Taken {
    fn by(endpoint: &str) -> Self {
        let metrics = get(endpoint, "/metrics");
        let value = |name: &str| -> u64 {
            let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.unwrap_or_else(|| panic!("no {name}: {metrics}")).parse().expect("a whole number")
        };
        Taken { resident_bytes: value("process_resident_memory_bytes"), files: value("process_open_fds") }
    }
}
