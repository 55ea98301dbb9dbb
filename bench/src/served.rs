//! A server of the real binary, watched from outside: what the kernel says of its process, and what it answers.

use std::error::Error;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What went wrong.
pub type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// How long a server may take to come up before it is given up.
const START_MAX: Duration = Duration::from_secs(30);

/// Before asking again a server that does not listen yet: well below what is measured.
const START_PAUSE: Duration = Duration::from_micros(200);

/// The `leasehold` binary of the same build as this benchmark.
///
/// # Errors
/// It is not there.
pub fn binary() -> Outcome<PathBuf> {
    let binary = std::env::current_exe()?.with_file_name("leasehold");
    match binary.exists() {
        true => Ok(binary),
        false => Err(format!(
            "{} is missing: cargo build --release --package leasehold-cli, or cargo xtask bench server",
            binary.display()
        )
        .into()),
    }
}

/// A running process that listens. Ends when it is dropped.
pub struct Served {
    process: Child,
    address: SocketAddr,
    /// From the start of the process to its first good answer.
    pub start_took: Duration,
    _folder: tempfile::TempDir,
}

impl Served {
    /// Starts a server on this store and waits until it is healthy. It lets more clients in than a server does unless
    /// told to.
    ///
    /// # Errors
    /// It does not start, or not in time.
    pub fn start(store: &str) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let config = folder.path().join("leasehold.yaml");
        fs::write(&config, "limits:\n  connections: 10000\n  requests-per-queue: 10000\n")?;
        let mut command = Command::new(binary()?);
        let config = config.display().to_string();
        command.args(["serve", "--config", &config, "--store", store, "--log-level", "error"]);
        // Its own home: nobody's profiles, no folder of whoever runs this.
        command.current_dir(folder.path()).env("HOME", folder.path());
        Served::spawn(command, "--address", folder)
    }

    /// Starts any program that takes an address under this flag and answers `GET /health`.
    ///
    /// # Errors
    /// It does not start, or not in time.
    pub fn spawn(mut command: Command, address_flag: &str, folder: tempfile::TempDir) -> Outcome<Self> {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        command.arg(address_flag).arg(address.to_string()).stdin(Stdio::null()).stdout(Stdio::null());
        let started = Instant::now();
        let process = command.spawn()?;
        let mut served = Served { process, address, start_took: Duration::ZERO, _folder: folder };
        while !served.get("/health").is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")) {
            if let Some(status) = served.process.try_wait()? {
                return Err(format!("the server ended: {status}").into());
            }
            if started.elapsed() > START_MAX {
                return Err("the server did not become healthy in time".into());
            }
            std::thread::sleep(START_PAUSE);
        }
        served.start_took = started.elapsed();
        Ok(served)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// As clients name it.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A page, head and all.
    ///
    /// # Errors
    /// Nobody answers.
    pub fn get(&self, path: &str) -> io::Result<String> {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
    }

    /// An operation in JSON; fails unless it is answered with 200.
    ///
    /// # Errors
    /// Nobody answers, or not so.
    pub fn post(&self, path: &str, body: &str) -> Outcome<String> {
        let answer = self.ask(&format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))?;
        match answer.starts_with("HTTP/1.1 200") {
            true => Ok(answer),
            false => Err(format!("{path}: {answer}").into()),
        }
    }

    fn ask(&self, request: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// Its resident memory in bytes.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn resident_bytes(&self) -> Outcome<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1_024)
    }

    /// What its threads have spent on processors.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn cpu_time(&self) -> Outcome<Duration> {
        let threads = fs::read_dir(Path::new("/proc").join(self.process.id().to_string()).join("task"))?;
        let mut spent = Duration::ZERO;
        for thread in threads {
            let text = fs::read_to_string(thread?.path().join("schedstat"))?;
            spent += Duration::from_nanos(text.split(' ').next().unwrap_or_default().parse()?);
        }
        Ok(spent)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
