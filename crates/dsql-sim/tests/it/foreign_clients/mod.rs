//! Clients that are not ours: psql, and a Python driver.
//!
//! Ignored unless asked for: `cargo xtask test clients` installs what they need where it can, and names what it could
//! not run.

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

/// Runs a program, and gives what it printed and what it complained of.
fn output(command: &mut Command) -> (String, String) {
    // The simulator runs on the other threads of the runtime meanwhile.
    let done = tokio::task::block_in_place(|| command.stdin(Stdio::null()).output());
    let done = done.unwrap_or_else(|error| panic!("{:?}: {error}", command.get_program()));
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(done.stdout), text(done.stderr))
}

fn psql(fixture: &Fixture) -> Command {
    let mut psql = Command::new("psql");
    psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--dbname"])
        .arg(fixture.simulator.url());
    psql
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL and psql: cargo xtask test clients"]
async fn psql_runs_a_transaction() {
    let fixture = Fixture::start().await;
    let (printed, errors) =
        output(psql(&fixture).args(["--command", "\\conninfo", "--command", SCRIPT.trim()]));
    // One query text is one transaction until it says otherwise, and DDL allows no DML beside it.
    assert!(errors.contains("ddl and dml are not supported in the same transaction"), "{printed}{errors}");
    let mut lines = psql(&fixture);
    for line in SCRIPT.trim().lines() {
        lines.args(["--command", line]);
    }
    let (printed, errors) = output(&mut lines);
    assert_eq!(printed.trim(), "1", "{errors}");
    assert!(errors.contains("ERROR"), "TRUNCATE is refused: {errors}");
}

/// `LEASEHOLD_PYTHON` names an interpreter that has what is in `foreign_drivers/requirements.txt`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL and Python with pg8000: cargo xtask test clients"]
async fn python_driver_loses_at_commit() {
    let python = std::env::var("LEASEHOLD_PYTHON").unwrap_or_else(|_| "python3".into());
    let fixture = Fixture::start().await;
    let (printed, errors) = output(Command::new(python).args(["-c", PYTHON]).arg(fixture.simulator.url()));
    assert_eq!(printed, "40001 change conflicts with another transaction (OC000)\n2\n", "{errors}");
}
