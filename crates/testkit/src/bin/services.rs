//! Servers for hand use: `cargo xtask services up|down` calls this.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use leasehold_testkit::{Service, firestore, postgres, redis};
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "\
Start and stop PostgreSQL, Redis and the Firestore emulator for hand use.
Usage:   leasehold-services up [--detach] [NAME…]   start them; Ctrl-C stops them, or `down` when detached
         leasehold-services down                    stop what a detached `up` started
         leasehold-services status                  print the connection strings of a detached `up`
         leasehold-services available [NAME…]       one line per service: version and folder, or how to install it
         leasehold-services install NAME            install the Debian package (never firestore's); its own service is not started
Exit:    0 fine · 1 failed · 2 wrong arguments · 3 missing or not running";

const MISSING: u8 = 3;
/// The last line of `up`: what is before it is all there is to know.
const READY: &str = "Ctrl-C stops them";
/// How long `down` waits for the servers to be gone.
const DOWN_LIMIT: Duration = Duration::from_secs(25);

type Outcome = Result<ExitCode, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["up", "--detach", names @ ..] => detach(names),
        ["up", names @ ..] => up(names, None),
        // How a detached `up` calls itself: the one that stays.
        ["keep", names @ ..] => keep(names),
        ["down"] => down(),
        ["status"] => status(),
        ["available", names @ ..] => available(names),
        ["install", name] => install(name),
        ["--help" | "-h" | "help"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprintln!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    };
    outcome.unwrap_or_else(|error| {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            text = format!("{text}: {inner}");
            cause = inner.source();
        }
        eprintln!("{text}");
        let missing = error.downcast_ref::<leasehold_testkit::Error>();
        ExitCode::from(if missing.is_some_and(|error| error.code() == "throwaway.missing") {
            MISSING
        } else {
            1
        })
    })
}

/// Starts the servers and stays until it is told to end. What it prints also goes to `state`.
fn up(names: &[&str], mut state: Option<File>) -> Outcome {
    let asked = asked(names)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Before the servers, so that an early Ctrl-C still ends them in order.
    let (mut interrupted, mut terminated) = runtime.block_on(async {
        io::Result::Ok((signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?))
    })?;
    let mut running = Vec::new();
    for service in asked {
        match Running::start(service) {
            // Without names, a service that is not here is no reason to go without the others.
            Err(error) if names.is_empty() && error.code() == "throwaway.missing" => eprintln!("{error}"),
            started => running.push(started?),
        }
    }
    let lines: String = running.iter().map(Running::line).collect();
    if lines.is_empty() {
        return Ok(ExitCode::from(MISSING));
    }
    if let Some(state) = &mut state {
        state.write_all(format!("pid {}\n{lines}", std::process::id()).as_bytes())?;
    }
    println!("{lines}{READY}");
    runtime.block_on(async {
        tokio::select! { _ = interrupted.recv() => {}, _ = terminated.recv() => {} }
    });
    Ok(ExitCode::SUCCESS)
}

/// A server that ends with this value.
enum Running {
    Postgres(postgres::Cluster),
    Redis(redis::Server),
    Firestore(firestore::Emulator),
}

impl Running {
    fn start(service: Service) -> leasehold_testkit::Result<Running> {
        Ok(match service {
            Service::Postgres => Running::Postgres(postgres::Cluster::start(postgres::Settings::durable())?),
            Service::Redis => Running::Redis(redis::Server::start(redis::Settings::durable())?),
            Service::Firestore => Running::Firestore(firestore::Emulator::start()?),
            Service::PgBouncer | Service::Prometheus => {
                unreachable!("it is not among those that can be asked for")
            }
        })
    }

    fn line(&self) -> String {
        match self {
            Running::Postgres(cluster) => {
                format!("postgres {} {}\n", cluster.version(), cluster.url("postgres"))
            }
            Running::Redis(server) => format!("redis {} {}\n", server.version(), server.url()),
            Running::Firestore(emulator) => {
                format!("firestore {} FIRESTORE_EMULATOR_HOST={}\n", emulator.version(), emulator.address())
            }
        }
    }
}

fn detach(names: &[&str]) -> Outcome {
    if held_state()?.is_some() {
        eprintln!("already up");
        return status();
    }
    let log = File::create(leasehold_testkit::folder()?.join("services.log"))?;
    let mut keeper = Command::new(std::env::current_exe()?)
        .arg("keep")
        .args(names)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()?;
    for line in keeper.stdout.take().into_iter().flat_map(|output| BufReader::new(output).lines()) {
        match line? {
            line if line == READY => {
                println!("`leasehold-services down` stops them");
                return Ok(ExitCode::SUCCESS);
            }
            line => println!("{line}"),
        }
    }
    let code = keeper.wait()?.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    io::copy(&mut File::open(leasehold_testkit::folder()?.join("services.log"))?, &mut io::stderr())?;
    Ok(ExitCode::from(code))
}

fn keep(names: &[&str]) -> Outcome {
    let state = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(state_path()?)?;
    state.try_lock()?;
    state.set_len(0)?;
    let outcome = up(names, Some(state.try_clone()?));
    // Not earlier: `down` takes the servers for gone once the lock is free.
    drop(state);
    outcome
}

fn down() -> Outcome {
    let Some(text) = held_state()? else {
        println!("not running");
        return Ok(ExitCode::SUCCESS);
    };
    let pid =
        text.lines().find_map(|line| line.strip_prefix("pid ")).ok_or("it is still starting; try again")?;
    Command::new("sh").args(["-c", "kill -TERM \"$1\"", "kill", pid]).status()?;
    let deadline = Instant::now() + DOWN_LIMIT;
    while held_state()?.is_some() {
        if Instant::now() > deadline {
            return Err(format!("process {pid} did not end within {DOWN_LIMIT:?}").into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    println!("stopped");
    Ok(ExitCode::SUCCESS)
}

fn status() -> Outcome {
    Ok(match held_state()? {
        Some(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        None => {
            println!("not running");
            ExitCode::from(MISSING)
        }
    })
}

fn available(names: &[&str]) -> Outcome {
    let mut code = ExitCode::SUCCESS;
    for service in asked(names)? {
        match service.find() {
            Ok(found) => println!("{service} {found}"),
            Err(missing) => {
                println!("{missing}");
                code = ExitCode::from(MISSING);
            }
        }
    }
    Ok(code)
}

fn install(name: &str) -> Outcome {
    let service = Service::named(name).ok_or_else(|| format!("no service {name:?}"))?;
    println!("{service} {}", service.install()?);
    Ok(ExitCode::SUCCESS)
}

fn asked(names: &[&str]) -> Result<Vec<Service>, String> {
    if names.is_empty() { Ok(Service::ALL.to_vec()) } else { names.iter().map(|name| named(name)).collect() }
}

fn named(name: &str) -> Result<Service, String> {
    let known = Service::ALL.map(Service::name).join(", ");
    let startable = Service::named(name).filter(|service| Service::ALL.contains(service));
    startable.ok_or_else(|| format!("no service {name:?}; there are {known}"))
}

fn state_path() -> leasehold_testkit::Result<PathBuf> {
    Ok(leasehold_testkit::folder()?.join("services.state"))
}

/// What the keeper wrote, if it lives: it holds the lock of its file, and the kernel frees that with the process.
fn held_state() -> Result<Option<String>, Box<dyn std::error::Error>> {
    let mut file = match File::open(state_path()?) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            Ok(Some(text))
        }
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}
