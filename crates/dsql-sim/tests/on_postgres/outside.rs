//! Clients that are not ours: psql, and a Python driver.

use std::process::{Command, Stdio};

use crate::fixture::Fixture;

const SCRIPT: &str = "
CREATE TABLE visits (id int PRIMARY KEY, count int NOT NULL);
INSERT INTO visits VALUES (1, 0);
BEGIN;
UPDATE visits SET count = count + 1 WHERE id = 1;
SELECT count FROM visits WHERE id = 1;
COMMIT;
TRUNCATE visits;
";

const PYTHON: &str = "
import sys, urllib.parse
from pg8000 import dbapi
url = urllib.parse.urlparse(sys.argv[1])
def connect():
    return dbapi.connect(user='admin', password='any', host=url.hostname, port=url.port, database='postgres')
one, two = connect(), connect()
cursor = one.cursor()
one.autocommit = True
cursor.execute('CREATE TABLE visits (id int PRIMARY KEY, count int NOT NULL)')
cursor.execute('INSERT INTO visits VALUES (%s, %s)', (1, 0))
one.autocommit = False
other = two.cursor()
cursor.execute('UPDATE visits SET count = count + 1 WHERE id = %s', (1,))
other.execute('UPDATE visits SET count = count + 2 WHERE id = %s', (1,))
two.commit()
try:
    one.commit()
    print('no conflict')
except dbapi.DatabaseError as error:
    print(error.args[0]['C'], error.args[0]['M'])
one.rollback()
cursor.execute('SELECT count FROM visits')
print(cursor.fetchone()[0])
";

/// Runs a program; none when it is not installed.
fn output(command: &mut Command) -> Option<(String, String)> {
    // The simulator runs on the other threads of the runtime meanwhile.
    let done = tokio::task::block_in_place(|| command.stdin(Stdio::null()).output()).ok()?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Some((text(done.stdout), text(done.stderr)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn psql_runs_a_transaction() {
    let fixture = Fixture::start().await;
    let mut psql = Command::new("psql");
    psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--dbname"])
        .arg(fixture.simulator.url());
    let Some((printed, errors)) = output(psql.args(["--command", "\\conninfo", "--command", SCRIPT.trim()]))
    else {
        println!("not run: psql is not installed");
        return;
    };
    // One query text is one transaction until it says otherwise, and DDL allows no DML beside it.
    assert!(errors.contains("ddl and dml are not supported in the same transaction"), "{printed}{errors}");
    let mut psql = Command::new("psql");
    psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--dbname"])
        .arg(fixture.simulator.url());
    for line in SCRIPT.trim().lines() {
        psql.args(["--command", line]);
    }
    let (printed, errors) = output(&mut psql).expect("it ran before");
    assert_eq!(printed.trim(), "1", "{errors}");
    assert!(errors.contains("ERROR"), "TRUNCATE is refused: {errors}");
}

/// `LEASEHOLD_PYTHON` names an interpreter that has pg8000.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn python_driver_loses_at_commit() {
    let python = std::env::var("LEASEHOLD_PYTHON").unwrap_or_else(|_| "python3".into());
    let has_driver = output(Command::new(&python).args(["-c", "import pg8000; print('there')"]));
    if has_driver.is_none_or(|(printed, _)| printed.trim() != "there") {
        println!("not run: {python} with pg8000 is not installed");
        return;
    }
    let fixture = Fixture::start().await;
    let mut command = Command::new(&python);
    let (printed, errors) =
        output(command.args(["-c", PYTHON]).arg(fixture.simulator.url())).expect("it runs");
    assert_eq!(printed, "40001 change conflicts with another transaction (OC000)\n2\n", "{errors}");
}
