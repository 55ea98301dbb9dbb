//! One guarded server process: what PostgreSQL and Redis have in common.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::Instant,
};

use crate::{Error, Result, TIME_LIMIT, account::Account, guardian::Guardian, port, program};

/// A port can be lost to another process between choosing and binding; so many times in a row it is not chance.
const PORT_TRIES: u32 = 5;

/// What tells one kind of server from another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Asks it to end in order.
    pub(crate) stop_signal: &'static str,
    pub(crate) is_ready: fn(SocketAddr) -> bool,
}

/// A server process with its folder and port. Dropping it kills the process and removes the folder.
#[derive(Debug)]
pub(crate) struct Server {
    kind: Kind,
    folder: PathBuf,
    port: u16,
    words: Vec<String>,
    running: Mutex<Running>,
}

#[derive(Debug)]
struct Running {
    guardian: Guardian,
    pid: u32,
}

impl Server {
    /// Starts a server in `folder`: `prepare` fills the folder, `words` is the command line for a port.
    pub(crate) fn start(
        kind: Kind,
        account: &Account,
        folder: PathBuf,
        prepare: impl FnOnce(&Path) -> Result<()>,
        words: impl Fn(&Path, u16) -> Vec<String>,
    ) -> Result<Server> {
        // First, so that the folder is removed whatever fails later.
        let mut guardian = Guardian::new(kind.name, account, folder.clone(), kind.stop_signal)?;
        prepare(&folder)?;
        let mut tries = 0;
        loop {
            tries += 1;
            let port = port::free()?;
            let words = words(&folder, port);
            let pid = guardian.start(&words)?;
            match await_ready(kind, &folder, port, pid) {
                Ok(()) => {
                    let running = Mutex::new(Running { guardian, pid });
                    return Ok(Server { kind, folder, port, words, running });
                }
                Err(Error::NotReady { log, .. }) if tries < PORT_TRIES && log.contains("already in use") => {
                    guardian.kill()?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn pid(&self) -> u32 {
        self.running().pid
    }

    pub(crate) fn stop(&self) -> Result<()> {
        self.running().guardian.stop()
    }

    pub(crate) fn kill(&self) -> Result<()> {
        self.running().guardian.kill()
    }

    pub(crate) fn restart(&self) -> Result<()> {
        let mut running = self.running();
        running.guardian.stop()?;
        running.pid = running.guardian.start(&self.words)?;
        await_ready(self.kind, &self.folder, self.port, running.pid)
    }

    /// A poisoned lock means a test panicked while it held it; the guardian's state is still right.
    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn await_ready(kind: Kind, folder: &Path, port: u16, pid: u32) -> Result<()> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let deadline = Instant::now() + TIME_LIMIT;
    loop {
        // In this order: another server may answer on a port that ours failed to bind.
        let is_ready = (kind.is_ready)(address);
        let why = if !program::is_running(pid) {
            "ended while starting".to_owned()
        } else if is_ready {
            return Ok(());
        } else if Instant::now() > deadline {
            format!("was not ready within {TIME_LIMIT:?}")
        } else {
            thread::sleep(program::POLL);
            continue;
        };
        return Err(Error::NotReady {
            server: kind.name,
            why,
            log: program::log_tail(&folder.join("server.log")),
        });
    }
}
