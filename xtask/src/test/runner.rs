//! Runs test programs side by side, shows how far they are, and gathers what each test did.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::events::{ALLOW, AS_JSON, Event, event};
use super::plan::{Plan, Suite};
use super::report::{Failure, Report};
use crate::cargo;
use crate::pauses::Pauses;

/// How often a reader is shown what is in progress.
const SHOWN_EVERY: Duration = Duration::from_secs(20);
/// How much of what one failed program says on stderr is repeated.
const KEPT_BYTES: usize = 16_384;
/// How often a program is asked whether it has ended.
const POLL: Duration = Duration::from_millis(10);
/// How long output is awaited that a program wrote before it ended.
const OPEN_AFTER_END: Duration = Duration::from_secs(5);

/// How much runs at once, and for how long.
pub(crate) struct Limits {
    /// Programs side by side.
    pub(crate) processes: usize,
    /// Tests side by side in one program.
    pub(crate) threads: usize,
    /// A program that takes longer is killed.
    pub(crate) timeout: Duration,
}

impl Limits {
    /// Tests wait far more than they compute: so many keep two cores busy, and more would only make them wait for those.
    pub(crate) fn of_tests() -> Self {
        let cores = thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Limits { processes: 2 * cores, threads: 2 * cores, timeout: Duration::from_secs(15 * 60) }
    }
}

/// What a program in progress says.
struct Message {
    /// The place of its suite in the plan.
    suite: usize,
    said: Said,
}

enum Said {
    Started,
    Test(Event),
    /// How the program ended, what it said on stderr and how long it took.
    Ended {
        outcome: Result<ExitStatus, String>,
        stderr: String,
        took: Duration,
    },
}

/// A program in progress, as far as it is known.
struct Running {
    since: Instant,
    /// Tests that began and did not end.
    tests: BTreeSet<String>,
    passed: u64,
    failed: u64,
    /// It reported its own end, and every test of the plan.
    is_closed: bool,
}

/// Runs all suites of the plan, each program with `environment` besides its own.
pub(crate) fn run(plan: Plan, limits: &Limits, environment: &[(&str, String)]) -> Report {
    let pauses = Pauses::watch();
    let total = plan.suites.len();
    let tests: usize = plan.suites.iter().map(|suite| suite.tests.len()).sum();
    println!("== {tests} tests in {total} programs, {} at once", limits.processes);
    let queue: Mutex<VecDeque<(usize, &Suite)>> = Mutex::new(plan.suites.iter().enumerate().collect());
    let mut progress = Progress::new(&plan.suites);
    thread::scope(|scope| {
        let (messages, receiver) = mpsc::channel();
        for _ in 0..limits.processes {
            let (messages, queue) = (messages.clone(), &queue);
            scope.spawn(move || {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    let Some((number, suite)) = next else { break };
                    run_suite(number, suite, limits, environment, &messages);
                }
            });
        }
        drop(messages);
        let mut next_show = Instant::now() + SHOWN_EVERY;
        loop {
            match receiver.recv_timeout(next_show.saturating_duration_since(Instant::now())) {
                Ok(message) => progress.take(message),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    progress.show_running();
                    next_show = Instant::now() + SHOWN_EVERY;
                }
            }
        }
    });
    let mut report = progress.report;
    report.not_run = plan.not_run;
    report.long = plan.long;
    report.longest_pause = pauses.longest();
    report
}

fn run_suite(
    number: usize,
    suite: &Suite,
    limits: &Limits,
    environment: &[(&str, String)],
    messages: &Sender<Message>,
) {
    // The receiver outlives all senders: it goes on until the last is dropped.
    let say = |said| drop(messages.send(Message { suite: number, said }));
    say(Said::Started);
    let started = Instant::now();
    let mut command = command(suite, limits.threads);
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    let (outcome, stderr) = match command.spawn() {
        Ok(child) => follow(child, suite, limits.timeout, &say),
        Err(error) => (Err(format!("cannot be started: {error}")), String::new()),
    };
    say(Said::Ended { outcome, stderr, took: started.elapsed() });
}

fn command(suite: &Suite, threads: usize) -> Command {
    let program = &suite.program;
    let mut command = Command::new(&program.path);
    if !program.is_example() {
        command.args(AS_JSON).args(["--test-threads", &threads.to_string(), "--include-ignored", "--exact"]);
        command.args(&suite.tests).env(ALLOW.0, ALLOW.1);
    }
    command
        .current_dir(&program.folder)
        .env("CARGO_MANIFEST_DIR", &program.folder)
        .env("LEASEHOLD_INSTALL", "1");
    command.envs(suite.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Reads what the program prints until it ends, and kills it when its time is up. A process that it left behind may hold its
/// output open for ever; what comes later than [`OPEN_AFTER_END`] is not waited for.
fn follow(
    mut child: Child,
    suite: &Suite,
    timeout: Duration,
    say: &impl Fn(Said),
) -> (Result<ExitStatus, String>, String) {
    let deadline = Instant::now() + timeout;
    let printed = lines(child.stdout.take().expect("stdout is piped"));
    let errors = Tail::of(child.stderr.take().expect("stderr is piped"));
    let mut is_example = suite.program.is_example();
    let (mut is_open, mut is_late) = (true, false);
    let mut ended: Option<(ExitStatus, Instant)> = None;
    let outcome = loop {
        match printed.recv_timeout(POLL) {
            Ok(line) => {
                if let Some(event) = event(&String::from_utf8_lossy(&line)) {
                    is_example = false;
                    say(Said::Test(event));
                }
            }
            Err(RecvTimeoutError::Timeout) => (),
            Err(RecvTimeoutError::Disconnected) => {
                is_open = false;
                thread::sleep(POLL);
            }
        }
        if !is_late && ended.is_none() && Instant::now() >= deadline {
            is_late = true;
            // It may have ended in this moment.
            child.kill().ok();
        }
        match ended {
            Some((status, at)) if !is_open || at.elapsed() > OPEN_AFTER_END => break Ok(status),
            Some(_) => (),
            None => match child.try_wait() {
                Ok(status) => ended = status.map(|status| (status, Instant::now())),
                Err(error) => break Err(format!("cannot be waited for: {error}")),
            },
        }
    };
    let outcome = if is_late { Err(format!("was killed after {} s", timeout.as_secs())) } else { outcome };
    if is_example && outcome.as_ref().is_ok_and(ExitStatus::success) {
        say(Said::Test(Event::Passed { name: suite.tests.join(" "), took: Duration::ZERO }));
        say(Said::Test(Event::Closed { passed: 1, failed: 0 }));
    }
    (outcome, errors.close())
}

/// The lines of a stream, read beside whoever waits for more than them.
fn lines(stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (lines, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
            if lines.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// The last bytes of a stream.
struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl Tail {
    fn of(mut stream: impl Read + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (at_end, end) = mpsc::channel();
        let shared = kept.clone();
        thread::spawn(move || {
            let mut buffer = [0; 8_192];
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&buffer[..read]);
                let surplus = kept.len().saturating_sub(KEPT_BYTES);
                kept.drain(..surplus);
            }
            drop(at_end);
        });
        Tail { kept, end }
    }

    /// What came until the stream ended, or the program did.
    fn close(self) -> String {
        self.end.recv_timeout(OPEN_AFTER_END).ok();
        String::from_utf8_lossy(&self.kept.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// How far all programs are.
struct Progress<'a> {
    suites: &'a [Suite],
    running: BTreeMap<usize, Running>,
    ended: usize,
    report: Report,
}

impl<'a> Progress<'a> {
    fn new(suites: &'a [Suite]) -> Self {
        Progress { suites, running: BTreeMap::new(), ended: 0, report: Report::default() }
    }

    fn take(&mut self, Message { suite: number, said }: Message) {
        let suite = &self.suites[number];
        match said {
            Said::Started => {
                let running = Running {
                    since: Instant::now(),
                    tests: BTreeSet::new(),
                    passed: 0,
                    failed: 0,
                    is_closed: false,
                };
                self.running.insert(number, running);
            }
            Said::Test(event) => {
                let Some(running) = self.running.get_mut(&number) else { return };
                match event {
                    Event::Started(name) => drop(running.tests.insert(name)),
                    Event::Passed { name, took } => {
                        running.tests.remove(&name);
                        running.passed += 1;
                        self.report.passed(suite, name, took);
                    }
                    Event::Failed { name, took, output } => {
                        running.tests.remove(&name);
                        running.failed += 1;
                        println!("FAILED {} {name}", suite.label());
                        self.report.failed(suite, Failure::of_test(suite, &name, &output), name, took);
                    }
                    Event::Closed { passed, failed } => {
                        // A process that a test started may have broken into a line of the program.
                        for _ in running.passed..passed {
                            self.report.count_passed(&suite.group);
                        }
                        running.passed = passed.max(running.passed);
                        running.is_closed = failed == running.failed
                            && usize::try_from(running.passed + failed) == Ok(suite.tests.len());
                    }
                }
            }
            Said::Ended { outcome, stderr, took } => {
                let Some(running) = self.running.remove(&number) else { return };
                self.ended += 1;
                let is_whole = running.is_closed
                    && outcome.as_ref().is_ok_and(|status| status.success() == (running.failed == 0));
                if !is_whole {
                    let how = outcome.map_or_else(|reason| reason, |status| format!("ended with {status}"));
                    let ran = usize::try_from(running.passed + running.failed).unwrap_or(usize::MAX);
                    let how = match suite.tests.len().saturating_sub(ran) {
                        0 => how,
                        left => format!("{how}; {left} of its {} tests did not end", suite.tests.len()),
                    };
                    println!("FAILED {}: the program {how}", suite.label());
                    self.report.crashed(suite, Failure::of_program(suite, &how, &running.tests, &stderr));
                }
                println!(
                    "[{}/{}] {}: {} passed, {} failed, {:.1} s",
                    self.ended,
                    self.suites.len(),
                    suite.label(),
                    running.passed,
                    running.failed,
                    took.as_secs_f64()
                );
            }
        }
    }

    /// What is slow, for whoever waits.
    fn show_running(&self) {
        for (number, running) in &self.running {
            let suite = &self.suites[*number];
            let seconds = running.since.elapsed().as_secs();
            let done = running.passed + running.failed;
            let now: Vec<&str> = running.tests.iter().take(3).map(String::as_str).collect();
            println!(
                "  … {}: {done} of {} in {seconds} s, now {}",
                suite.label(),
                suite.tests.len(),
                now.join(", ")
            );
        }
    }
}

impl Report {
    /// Runs a command of cargo, which prints how each test ended in lines of text, as the group `what`.
    pub(crate) fn add_lines_of(&mut self, what: &str, command: &mut Command) {
        println!("== {what}");
        let started = Instant::now();
        let repeat = command_line(command);
        let failure = |name: &str, said| Failure::of_cargo(name, said, repeat.clone());
        let output = match cargo::read(command) {
            Ok(output) => output,
            Err(error) => return self.add_failure(what, failure(what, error)),
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let mut failed = 0;
        for event in text.lines().filter_map(event) {
            match event {
                Event::Passed { .. } => self.count_passed(what),
                Event::Failed { name, .. } => {
                    failed += 1;
                    self.add_failure(what, failure(&name, text.clone().into_owned()));
                }
                Event::Started(_) | Event::Closed { .. } => (),
            }
        }
        if !output.status.success() && failed == 0 {
            self.add_failure(what, failure(what, text.into_owned()));
        }
        println!("{what}: {:.1} s", started.elapsed().as_secs_f64());
    }
}

/// The command as a person would type it.
fn command_line(command: &Command) -> String {
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
    format!("cargo {}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::super::build::Program;
    use super::*;

    /// A program that prints what `script` does in place of tests.
    fn run(name: &str, tests: &[&str], script: &str, timeout: Duration) -> Result<(), String> {
        let folder = std::env::temp_dir().join(format!("leasehold-xtask-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path: PathBuf = folder.join("program");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let suite = Suite {
            program: Program { package: name.to_owned(), target: None, path, folder: folder.clone() },
            group: String::new(),
            tests: tests.iter().map(|test| (*test).to_owned()).collect(),
            environment: Vec::new(),
        };
        let plan = Plan { suites: vec![suite], ..Plan::default() };
        let report = super::run(plan, &Limits { processes: 1, threads: 1, timeout }, &[]);
        fs::remove_dir_all(folder).unwrap();
        report.close(0)
    }

    const LONG: Duration = Duration::from_secs(60);
    const PASSED: &str = r#"echo '{ "type": "test", "event": "started", "name": "a" }'
        echo '{ "type": "test", "event": "ok", "name": "a", "exec_time": 0.1 }'"#;
    const CLOSED: &str = r#"echo '{ "type": "suite", "event": "ok", "passed": 1, "failed": 0 }'"#;

    #[test]
    fn program_that_ends_well_passes() {
        assert_eq!(run("well", &["a"], &format!("{PASSED}\necho noise\n{CLOSED}"), LONG), Ok(()));
    }

    #[test]
    fn program_that_crashes_fails_though_its_tests_passed() {
        assert!(run("crash", &["a"], &format!("{PASSED}\nkill -9 $$"), LONG).is_err());
        assert!(run("silent", &["a"], "exit 0", LONG).is_err(), "it closed nothing");
        assert!(run("status", &["a"], &format!("{PASSED}\n{CLOSED}\nexit 3"), LONG).is_err());
        assert!(run("fewer", &["a", "b"], &format!("{PASSED}\n{CLOSED}"), LONG).is_err(), "b did not run");
    }

    #[test]
    fn failed_test_fails_the_run() {
        let failed = r#"echo '{ "type": "test", "event": "failed", "name": "a", "stdout": "wanted 1" }'
            echo '{ "type": "suite", "event": "failed", "passed": 0, "failed": 1 }'
            exit 101"#;
        assert_eq!(run("failed", &["a"], failed, LONG), Err("1 test(s) failed".to_owned()));
    }

    #[test]
    fn program_that_hangs_is_killed() {
        let started = Instant::now();
        assert!(run("hangs", &["a"], "exec sleep 60", Duration::from_millis(50)).is_err());
        assert!(started.elapsed() < LONG);
    }

    /// A process that a crashed program leaves behind holds its output open.
    #[test]
    fn program_whose_output_stays_open_ends() {
        let started = Instant::now();
        let left_behind = format!("{PASSED}\n{CLOSED}\nsleep 600 &\necho $! > $TMPDIR/left-behind");
        let folder = std::env::temp_dir().join(format!("leasehold-xtask-{}-left", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let script = format!("TMPDIR={}\n{left_behind}", folder.display());
        assert_eq!(run("open", &["a"], &script, LONG), Ok(()));
        assert!(started.elapsed() < LONG);
        let left_behind = fs::read_to_string(folder.join("left-behind")).unwrap();
        assert!(Command::new("kill").arg(left_behind.trim()).status().unwrap().success());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn program_that_cannot_be_started_fails() {
        let folder = std::env::temp_dir();
        let suite = Suite {
            program: Program {
                package: "none".to_owned(),
                target: None,
                path: folder.join("no-such-program"),
                folder,
            },
            group: String::new(),
            tests: vec!["a".to_owned()],
            environment: Vec::new(),
        };
        let plan = Plan { suites: vec![suite], ..Plan::default() };
        let report = super::run(plan, &Limits { processes: 1, threads: 1, timeout: LONG }, &[]);
        assert!(report.close(0).is_err());
    }
}
