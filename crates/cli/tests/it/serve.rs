//! `leasehold serve` as a person or a supervisor meets it: the real binary, real signals, real sockets.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const PATIENT: Duration = Duration::from_secs(60);

struct Served {
    process: Child,
    address: String,
}

fn leasehold() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leasehold"));
    command.env_remove("LEASEHOLD_STORE").env_remove("LEASEHOLD_ADDRESS").env_remove("LEASEHOLD_LOG");
    command
}

type Log = Lines<BufReader<ChildStderr>>;

/// Starts a server on a free port and waits until it says where it listens.
fn serve(folder: &Path, arguments: &[&str]) -> Served {
    let (served, log) = serve_unread(folder, arguments);
    std::thread::spawn(move || log.for_each(drop));
    served
}

/// The same with the log, of which nothing more is read.
fn serve_unread(folder: &Path, arguments: &[&str]) -> (Served, Log) {
    let mut command = leasehold();
    command.current_dir(folder).args(["serve", "--address", "127.0.0.1:0"]).args(arguments);
    let process = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("starts");
    let mut served = Served { process, address: String::new() };
    let mut log = BufReader::new(served.process.stderr.take().expect("piped")).lines();
    served.address = log
        .by_ref()
        .map(|line| {
            serde_json::from_str::<Value>(&line.expect("is text")).expect("is JSON without a terminal")
        })
        .find_map(|event| Some(event["url"].as_str()?.split_once("://")?.1.to_owned()))
        .expect("the server says where it listens before it ends");
    (served, log)
}

impl Served {
    fn request(&self, method: &str, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("connects");
        stream.set_read_timeout(Some(PATIENT)).expect("sets");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        )
        .expect("sends");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("answers");
        let status = reply.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("has a status");
        (status, reply)
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.process.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    fn ended(mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().expect("waits") {
                return status;
            }
            assert!(started.elapsed() < PATIENT, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn body(reply: &str) -> &str {
    reply.split_once("\r\n\r\n").expect("has a body").1
}

#[test]
fn default_store_is_a_private_folder_where_the_server_was_started() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let served = serve(folder.path(), &[]);
    let data = folder.path().join("leasehold-data");
    assert_eq!(fs::metadata(&data).expect("was created").permissions().mode() & 0o777, 0o700);

    let (status, reply) = served.request("GET", "/health");
    assert_eq!(status, 200, "{reply}");
    assert!(reply.contains("content-type: application/health+json"), "{reply}");
    let health: Value = serde_json::from_str(body(&reply)).expect("is JSON");
    assert_eq!(health["status"], "pass");
    assert_eq!(health["checks"]["queues:storage"][0]["status"], "pass");
}

#[test]
fn sigterm_and_ctrl_c_stop_it_with_exit_code_zero() {
    let folder = tempfile::tempdir().expect("temporary folder");
    for name in ["TERM", "INT"] {
        let served = serve(folder.path(), &["--store", "data"]);
        served.signal(name);
        assert_eq!(served.ended().code(), Some(0), "SIG{name}");
    }
}

impl Served {
    /// Lines of the log that were dropped, as the metrics have it.
    fn lines_dropped(&self) -> u64 {
        let (status, metrics) = self.request("GET", "/metrics");
        assert_eq!(status, 200, "{metrics}");
        let count = metrics.lines().find_map(|line| line.strip_prefix("leasehold_log_lines_dropped_total "));
        count.expect("is shown").parse().expect("a number")
    }

    /// Sends requests, each with a line in the log, until more of the lines were dropped.
    fn logs_until_lines_are_dropped(&self) {
        let (started, before) = (Instant::now(), self.lines_dropped());
        let request = format!(
            "POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: {}\r\nContent-Length: 0\r\n\r\n",
            "x".repeat(128)
        );
        while self.lines_dropped() == before {
            assert!(started.elapsed() < PATIENT, "nothing is dropped");
            let mut stream = TcpStream::connect(&self.address).expect("connects");
            stream.set_read_timeout(Some(PATIENT)).expect("sets");
            for _ in 0..20 {
                stream.write_all(request.repeat(20).as_bytes()).expect("sends");
                let mut answered = 0;
                let mut answers = BufReader::new(&stream).lines();
                while answered < 20 {
                    let line = answers.next().expect("answers").expect("in time");
                    answered += usize::from(line.contains("HTTP/1.1 501"));
                }
            }
        }
    }
}

#[test]
fn log_that_is_not_read_holds_nothing_up_and_says_later_what_it_lacks() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let arguments = ["--store", "memory:", "--log-level", "info,leasehold::access=debug"];
    let (served, log) = serve_unread(folder.path(), &arguments);
    assert_eq!(served.lines_dropped(), 0);
    served.logs_until_lines_are_dropped();
    let mut events = log.map(|line| serde_json::from_str::<Value>(&line.expect("is text")).expect("is JSON"));
    let told = events.find(|event| event["lines"].is_u64()).expect("says what it lacks");
    assert!(told["lines"].as_u64() >= Some(1) && told["level"] == "WARN", "{told}");

    served.logs_until_lines_are_dropped();
    served.signal("TERM");
    assert_eq!(served.ended().code(), Some(0));
}

#[test]
fn log_without_a_reader_stops_nothing() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let arguments = ["--store", "memory:", "--log-level", "info,leasehold::access=debug"];
    let (served, log) = serve_unread(folder.path(), &arguments);
    drop(log);
    served.logs_until_lines_are_dropped();
    assert_eq!(served.request("GET", "/health").0, 200);
    served.signal("TERM");
    assert_eq!(served.ended().code(), Some(0));
}

#[test]
fn idle_connection_does_not_keep_it_from_stopping() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let served = serve(folder.path(), &["--store", "memory:", "--stop-timeout", "10s"]);
    let mut idle = TcpStream::connect(&served.address).expect("connects");
    write!(idle, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sends");
    let mut start = [0; 12];
    idle.read_exact(&mut start).expect("answers");
    assert_eq!(&start, b"HTTP/1.1 200");
    served.signal("TERM");
    assert_eq!(served.ended().code(), Some(0));
}

#[test]
fn half_sent_request_is_cut_at_the_stop_timeout() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let served = serve(folder.path(), &["--store", "memory:", "--stop-timeout", "100ms"]);
    let mut slow = TcpStream::connect(&served.address).expect("connects");
    write!(slow, "POST /health HTTP/1.1\r\nHost: local").expect("sends half a request");
    assert_eq!(served.request("GET", "/health").0, 200, "others are served meanwhile");
    served.signal("TERM");
    assert_eq!(served.ended().code(), Some(0));
}

#[test]
fn root_page_says_what_this_is_and_metrics_are_prometheus_text() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let served = serve(folder.path(), &["--store", "memory:"]);
    let (status, page) = served.request("GET", "/");
    assert_eq!(status, 200);
    assert!(page.contains("<h1>Leasehold"), "{page}");
    assert!(!page.contains("{version}"), "{page}");
    served.request("GET", "/no/such/path");
    let (status, metrics) = served.request("GET", "/metrics");
    assert_eq!(status, 200);
    assert!(metrics.contains("leasehold_build_info{version="), "{metrics}");
    assert!(metrics.contains("http_handler_duration_count{path=\"/\"} 1"), "{metrics}");
    assert!(metrics.contains("http_handler_duration_count{path=\"other\"} 1"), "{metrics}");
    assert!(!metrics.contains("no/such/path"), "strangers cannot grow the labels: {metrics}");
}

#[test]
fn unknown_paths_and_methods_are_answered_in_the_error_envelope() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let served = serve(folder.path(), &["--store", "memory:"]);
    for (method, path, expected, message) in [
        ("POST", "/v1/nothing", 501, "no such method; /v1/nothing"),
        ("POST", "/health", 501, "no such method; /health"),
        ("GET", "/v1/nothing", 400, "http method 'GET' not allowed; only POST"),
        ("DELETE", "/health", 400, "http method 'DELETE' not allowed; only POST"),
    ] {
        let (status, reply) = served.request(method, path);
        assert_eq!(status, expected, "{method} {path}: {reply}");
        let envelope: Value = serde_json::from_str(body(&reply)).expect("is JSON");
        assert_eq!(envelope["code"], expected);
        assert_eq!(envelope["message"], message);
        assert!(reply.contains("x-content-type-options: nosniff"), "{reply}");
    }
}

fn refused(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = leasehold().current_dir(folder).args(arguments).output().expect("runs");
    assert!(output.stdout.is_empty(), "errors go to stderr: {}", String::from_utf8_lossy(&output.stdout));
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn second_server_on_the_same_folder_or_address_is_told_why() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let served = serve(folder.path(), &["--store", "data"]);
    let (code, message) = refused(folder.path(), &["serve", "--address", "127.0.0.1:0", "--store", "data"]);
    assert_eq!(code, Some(4), "{message}");
    assert!(message.contains("in use by another process (embedded.in_use)"), "{message}");
    assert!(message.contains("another folder with --store"), "what to do is said: {message}");
    let (code, message) =
        refused(folder.path(), &["serve", "--address", &served.address, "--store", "memory:"]);
    assert_eq!(code, Some(4), "{message}");
    assert!(message.contains("(server.listen)") && message.contains("caused by"), "{message}");
    assert!(message.contains("another with --address"), "what to do is said: {message}");
}

#[test]
fn wrong_arguments_are_named_and_nothing_is_created() {
    let folder = tempfile::tempdir().expect("temporary folder");
    for (arguments, expected) in [
        (&["serve", "--store", "mysql://root:hunter2@db/x"][..], "server.store_scheme"),
        (&["serve", "--store", "redis://cache"], "name it with --locks"),
        (&["serve", "--store", ""], "server.store_empty"),
        (&["serve", "--store", "memory:x"], "server.store_memory_suffix"),
        (&["serve", "--store", "data", "--must-exist"], "embedded.absent"),
        (&["serve", "--store", "postgres://u:hunter2@db:99999999/x"], "txn."),
        (&["serve", "--address", "nowhere", "--store", "memory:"], "server.listen"),
        (&["serve", "--stop-timeout", "soon"], "--stop-timeout"),
        (&["serve", "--log-level", "no=such=filter"], "cli.log_filter"),
        (&["serve", "--unknown"], "--unknown"),
        (&["no-such-command"], "no-such-command"),
    ] {
        let (code, message) = refused(folder.path(), arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
        assert_eq!(message.trim_end().lines().count(), 1, "{arguments:?}: {message}");
        assert!(!message.contains("hunter2"), "{arguments:?}: {message}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("reads").count(), 0, "nothing was created");
}

#[test]
fn database_that_is_down_does_not_keep_the_server_from_starting() {
    let folder = tempfile::tempdir().expect("temporary folder");
    // Port 1 of loopback: nobody listens there.
    let served =
        serve(folder.path(), &["--store", "postgres://app:hunter2@127.0.0.1:1/app?connect_timeout=1"]);
    let (status, reply) = served.request("GET", "/health");
    assert_eq!(status, 503, "{reply}");
    let health: Value = serde_json::from_str(body(&reply)).expect("is JSON");
    assert_eq!(health["checks"]["queues:storage"][0]["output"], "storage check failed");
    assert!(!reply.contains("hunter2"), "{reply}");
}

#[test]
fn configuration_is_checked_and_shown_without_secrets() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let write = |text: &str| fs::write(folder.path().join("c.yaml"), text).expect("writes");
    let check =
        || leasehold().current_dir(folder.path()).args(["config", "check", "c.yaml"]).output().expect("runs");
    write("store: postgres://app:hunter2@db/orders\nlimits:\n  connections: 7\nlogging:\n  level: warn\n");
    let output = check();
    let shown = String::from_utf8(output.stdout).expect("is text");
    assert_eq!(output.status.code(), Some(0), "{shown}");
    for said in [
        "connections: 7",
        "lease-items: 1000",
        "orders",
        "address: \"127.0.0.1:2319\"",
        "logging: auto, warn",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert!(!shown.contains("hunter2"), "{shown}");
    let json = leasehold()
        .current_dir(folder.path())
        .args(["config", "check", "c.yaml", "--json"])
        .output()
        .expect("runs");
    let told: Value = serde_json::from_slice(&json.stdout).expect("is JSON");
    assert_eq!(
        (&told["config"]["limits"]["connections"], &told["logging"]["level"]),
        (&7.into(), &"warn".into())
    );
    assert!(told["store"].as_str().is_some_and(|store| store.contains("orders")), "{told}");
    assert!(!told.to_string().contains("hunter2"), "{told}");

    for (text, words) in [
        ("limits:\n  conections: 7\n", "did you mean `connections`?"),
        ("logging:\n  handler: xml\n", "invalid handler; 'xml' is not one of (color, text, json)"),
        (
            "auth-backend:\n  driver: ldap\n",
            "invalid auth-backend driver; 'ldap' is not one of (none, internal)",
        ),
        ("limits:\n  connections: 0\n", "c.yaml"),
        ("store: mysql://u:hunter2@db/x\n", "server.store_scheme"),
    ] {
        write(text);
        let (code, message) = refused(folder.path(), &["config", "check", "c.yaml"]);
        assert_eq!(code, Some(2), "{text}: {message}");
        assert!(message.contains(words) && !message.contains("hunter2"), "{text}: {message}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("reads").count(), 1, "nothing was created");
}

#[test]
fn metrics_can_be_disabled_by_file_and_enabled_by_flag() {
    let folder = tempfile::tempdir().expect("temporary folder");
    fs::write(folder.path().join("c.yaml"), "store: \"memory:\"\nmetrics:\n  enabled: false\n")
        .expect("writes");
    let checked =
        leasehold().current_dir(folder.path()).args(["config", "check", "c.yaml"]).output().expect("runs");
    let shown = String::from_utf8(checked.stdout).expect("is text");
    assert!(shown.contains("metrics:\n  enabled: false\n"), "{shown}");
    let status = |arguments: &[&str]| serve(folder.path(), arguments).request("GET", "/metrics").0;
    assert_eq!(status(&["--config", "c.yaml"]), 404);
    assert_eq!(status(&["--config", "c.yaml", "--metrics", "true"]), 200);
}

#[test]
fn flags_are_over_the_file() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = "address: nowhere\nstore: \"memory:\"\nlogging:\n  handler: text\n  level: error\n";
    fs::write(folder.path().join("c.yaml"), file).expect("writes");
    let served = serve(folder.path(), &["--config", "c.yaml", "--log-format", "json", "--log-level", "info"]);
    assert_eq!(served.request("GET", "/health").0, 200);
    assert_eq!(fs::read_dir(folder.path()).expect("reads").count(), 1, "the store is the file's");
}

#[test]
fn log_has_colours_only_where_they_are_asked_for() {
    let folder = tempfile::tempdir().expect("temporary folder");
    for (format, coloured) in [("text", false), ("color", true)] {
        let mut command = leasehold();
        command.current_dir(folder.path()).args(["serve", "--address", "127.0.0.1:0", "--store", "memory:"]);
        let mut process =
            command.args(["--log-format", format]).stderr(Stdio::piped()).spawn().expect("starts");
        let mut line = String::new();
        BufReader::new(process.stderr.take().expect("piped")).read_line(&mut line).expect("reads");
        process.kill().expect("ends");
        process.wait().expect("ends");
        assert!(line.contains("leasehold is serving"), "{line}");
        assert_eq!(line.contains('\u{1b}'), coloured, "{format}: {line}");
    }
}

#[test]
fn certificates_given_by_flags_are_served_and_believed() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    fs::write(folder.path().join("tls.crt"), issued.cert.pem()).expect("writes");
    fs::write(folder.path().join("tls.key"), issued.signing_key.serialize_pem()).expect("writes");
    let flags = ["--store", "memory:", "--tls-certificate", "tls.crt", "--tls-key", "tls.key"];
    let served = serve(folder.path(), &flags);
    let port = served.address.rsplit(':').next().expect("a port");
    let list = |ca: &[&str]| {
        let mut command = leasehold();
        command.current_dir(folder.path()).args(["queue", "list", "--json", "--endpoint"]);
        let endpoint = format!("https://localhost:{port}");
        command.arg(endpoint).args(ca).stdout(Stdio::piped()).stderr(Stdio::piped()).output().expect("runs")
    };
    let believed = list(&["--ca-file", "tls.crt"]);
    assert!(believed.status.success(), "{}", String::from_utf8_lossy(&believed.stderr));
    assert!(!list(&[]).status.success(), "nobody else knows the certificate");
    let (status, told) = served.request("GET", "/health");
    assert!(status == 400 && told.contains("speaks HTTPS"), "{told}");
    served.signal("TERM");
    assert!(served.ended().success());

    let (code, message) = refused(folder.path(), &["serve", "--tls-certificate", "tls.crt"]);
    assert!(code == Some(2) && message.contains("server.tls_incomplete"), "{code:?} {message}");
}

#[test]
fn health_is_told_by_exit_code_and_waited_for() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let health = |endpoint: &str, more: &[&str]| {
        let mut command = leasehold();
        command.current_dir(folder.path()).env("HOME", folder.path()).env_remove("XDG_CONFIG_HOME");
        command.args(["health", "--endpoint", endpoint]).args(more).output().expect("runs")
    };
    let served = serve(folder.path(), &["--store", "memory:"]);
    let well = health(&format!("http://{}", served.address), &["--json"]);
    assert_eq!(well.status.code(), Some(0), "{well:?}");
    let report: Value = serde_json::from_slice(&well.stdout).expect("is JSON");
    assert_eq!(report["status"], "pass");

    let unwell =
        serve(folder.path(), &["--store", "postgres://app:hunter2@127.0.0.1:1/app?connect_timeout=1"]);
    let told = health(&format!("http://{}", unwell.address), &[]);
    assert_eq!(told.status.code(), Some(4), "{told:?}");
    let message = String::from_utf8_lossy(&told.stderr);
    assert!(message.contains("cli.unhealthy") && message.contains("doctor"), "{message}");
    assert!(told.stdout.is_empty(), "{told:?}");

    // Started while it is waited for.
    let address = served.address.clone();
    let stopped = served;
    stopped.signal("TERM");
    assert_eq!(stopped.ended().code(), Some(0));
    assert_eq!(health(&format!("http://{address}"), &[]).status.code(), Some(4));
    let waiting = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| health(&format!("http://{address}"), &["--timeout", "20s"]));
        let started = leasehold()
            .current_dir(folder.path())
            .args(["serve", "--store", "memory:", "--address", &address, "--log-level", "error"])
            .spawn()
            .expect("starts");
        let ended = waiting.join().expect("does not panic");
        drop(Served { process: started, address: address.clone() });
        ended
    });
    assert_eq!(waiting.status.code(), Some(0), "{waiting:?}");
}
