//! One emulator process.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    path::Path,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, SystemTime},
};

use super::find::{find_jar, given};
use crate::{Error, Result, account::Account, folder, folder::Medium, server, server::Kind};

const KIND: Kind = Kind { name: "firestore", stop_signal: "TERM", is_ready: answers_read };
const MAIN: &str = "com.google.cloud.datastore.emulator.firestore.CloudFirestore";
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

static SHARED: OnceLock<Emulator> = OnceLock::new();

/// A running emulator. It keeps everything in memory: one that was stopped comes back empty. Dropping it kills the
/// process, unless somebody else started it.
#[derive(Debug)]
pub struct Emulator {
    /// `None` for the one that the environment names.
    inner: Option<server::Server>,
    address: SocketAddr,
    version: String,
    /// Numbers the projects.
    next: AtomicU32,
}

impl Emulator {
    /// Starts an emulator on a free port. Blocks for a second or two.
    ///
    /// # Errors
    /// When the jar or Java is missing or the emulator does not come up.
    pub fn start() -> Result<Emulator> {
        let found = find_jar()?;
        let account = Account::for_servers()?;
        let inner = server::Server::start(
            KIND,
            &account,
            folder::fresh(&account, Medium::Disk)?,
            |_| Ok(()),
            |_, port| command_line(&found.bin, port),
        )?;
        let address = inner.address();
        Ok(Emulator { inner: Some(inner), address, version: found.version, next: AtomicU32::new(0) })
    }

    /// The one emulator of this test process: that of `FIRESTORE_EMULATOR_HOST`, else one started by the first call.
    /// Tests share it and take a [`Emulator::project`] each; nobody may stop it.
    ///
    /// # Panics
    /// When there is none and none can be started: the message says what to install.
    #[must_use]
    pub fn shared() -> &'static Emulator {
        let get = || given().map_or_else(Emulator::start, |host| Emulator::at(&host));
        SHARED.get_or_init(|| match get() {
            Ok(emulator) => emulator,
            Err(error) => panic!("{}", error.chain()),
        })
    }

    fn at(host: &str) -> Result<Emulator> {
        let address = host.to_socket_addrs().ok().and_then(|mut found| found.next());
        let address = address.filter(|address| answers_read(*address)).ok_or_else(|| Error::NotReady {
            server: KIND.name,
            why: format!("does not answer at {host}, which FIRESTORE_EMULATOR_HOST names"),
            log: "(not ours)".to_owned(),
        })?;
        Ok(Emulator { inner: None, address, version: "running".to_owned(), next: AtomicU32::new(0) })
    }

    /// Where it listens; stays the same across restarts.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The version of the Java that runs it, such as `java-17.0.15`: the emulator itself tells none.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// A project that no other caller got, and so a database of its own. An emulator that outlives this process may
    /// have seen its process id before, but not at this time.
    #[must_use]
    pub fn project(&self) -> String {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("test-{}-{}-{number}", std::process::id(), now.as_millis())
    }

    /// Process id of the emulator, of the last one if it is stopped.
    ///
    /// # Panics
    /// When somebody else started it.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.own().pid()
    }

    /// The folder of its log.
    ///
    /// # Panics
    /// When somebody else started it.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.own().folder()
    }

    /// Stops the emulator in order.
    ///
    /// # Errors
    /// When it does not end in time.
    ///
    /// # Panics
    /// When somebody else started it.
    pub fn stop(&self) -> Result<()> {
        self.own().stop()
    }

    /// Ends the emulator at once with SIGKILL.
    ///
    /// # Errors
    /// When it survives.
    ///
    /// # Panics
    /// When somebody else started it.
    pub fn kill(&self) -> Result<()> {
        self.own().kill()
    }

    /// Starts the emulator again on the same port, empty; one that still runs is stopped first.
    ///
    /// # Errors
    /// When it does not come up.
    ///
    /// # Panics
    /// When somebody else started it.
    pub fn restart(&self) -> Result<()> {
        self.own().restart()
    }

    fn own(&self) -> &server::Server {
        self.inner.as_ref().expect("FIRESTORE_EMULATOR_HOST names an emulator that is not ours to handle")
    }
}

fn command_line(jar: &Path, port: u16) -> Vec<String> {
    let jar = jar.to_string_lossy();
    // The log is read in English. It lives for seconds: one compiler and one collector start in two thirds of the time, and
    // the heap is for tests and not a quarter of the machine.
    let machine = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m", "-XX:-UsePerfData"];
    ["java", "-Duser.language=en"]
        .into_iter()
        .chain(machine)
        .chain(["-cp", &jar, MAIN, "start"])
        .map(str::to_owned)
        .chain(["--host=127.0.0.1".to_owned(), "--port".to_owned(), port.to_string()])
        .collect()
}

/// The emulator serves once it answers a read. It listens earlier, but the first request loads most of its classes, which on
/// a busy machine takes longer than a client of a warm server waits.
fn answers_read(address: SocketAddr) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect_timeout(&address, ANSWER_TIMEOUT)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        write!(
            stream,
            "GET /v1/projects/ready/databases/(default)/documents/any/one HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
        )?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer)?;
        std::io::Result::Ok(answer)
    };
    ask().is_ok_and(|answer| answer == *b"HTTP/1.1 404")
}
