//! `leasehold dsql-sim` as a person meets it: the real binary, a PostgreSQL of its own, a real signal.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use tokio_postgres::{Client, NoTls};

struct Simulator {
    process: Child,
    url: String,
}

fn simulate(arguments: &[&str]) -> Simulator {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leasehold"));
    command.args(["dsql-sim", "--listen", "127.0.0.1:0"]).args(arguments).env_remove("LEASEHOLD_LOG");
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut url = String::new();
    let mut printed = BufReader::new(process.stdout.take().expect("piped"));
    printed.read_line(&mut url).expect("prints where it listens");
    Simulator { process, url: url.trim().to_owned() }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connect");
    tokio::spawn(connection);
    client
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn simulator_with_a_database_of_its_own_stops_at_a_signal() {
    let mut simulator = simulate(&["--level", "2025.05"]);
    let (one, two) = (connect(&simulator.url).await, connect(&simulator.url).await);
    one.batch_execute("CREATE TABLE t (id int PRIMARY KEY, value int)").await.expect("creates");
    one.batch_execute("INSERT INTO t VALUES (1, 0)").await.expect("inserts");
    for client in [&one, &two] {
        client.batch_execute("BEGIN").await.expect("begins");
        client.batch_execute("UPDATE t SET value = 1 WHERE id = 1").await.expect("nobody waits");
    }
    two.batch_execute("COMMIT").await.expect("the first to commit wins");
    let lost = one.batch_execute("COMMIT").await.expect_err("the second loses");
    assert_eq!(lost.code().map(tokio_postgres::error::SqlState::code), Some("40001"));
    let refused =
        one.batch_execute("SELECT 1 FROM t WHERE id = 1 FOR KEY SHARE").await.expect_err("not at this level");
    assert_eq!(refused.code().map(tokio_postgres::error::SqlState::code), Some("0A000"));
    let pid = rustix::process::Pid::from_child(&simulator.process);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("is there");
    assert!(simulator.process.wait().expect("ends").success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn simulator_says_what_is_wrong_with_its_backing() {
    let output = |backing: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_leasehold"));
        command.args(["dsql-sim", "--listen", "127.0.0.1:0", "--backing", backing]).output().expect("runs")
    };
    let unreachable = output("postgres://postgres@127.0.0.1:1/none");
    assert_eq!(unreachable.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&unreachable.stderr).contains("dsql_sim.backing"));
    assert_eq!(output("mysql://there").status.code(), Some(2));
}
