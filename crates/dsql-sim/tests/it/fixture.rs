//! A simulator on a database of its own, and clients that answer in short words.

use leasehold_dsql_sim::{Config, Simulator};
use leasehold_testkit::postgres::{Cluster, Database};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

pub(crate) struct Fixture {
    pub(crate) simulator: Simulator,
    pub(crate) database: Database,
}

impl Fixture {
    pub(crate) async fn start() -> Fixture {
        Fixture::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Config)) -> Fixture {
        let database = Cluster::shared().database().await;
        let mut config = Config::new(database.url().parse().expect("a URL"));
        change(&mut config);
        let simulator = Simulator::start(config).await.expect("the simulator starts");
        Fixture { simulator, database }
    }

    pub(crate) async fn client(&self) -> Session {
        Session::connect(&self.simulator.url()).await
    }

    /// Past the simulator.
    pub(crate) async fn direct(&self) -> Session {
        Session::connect(self.database.url()).await
    }
}

/// A client whose answers are tags, values and SQLSTATEs.
pub(crate) struct Session {
    pub(crate) client: Client,
}

impl Session {
    pub(crate) async fn connect(url: &str) -> Session {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connect");
        tokio::spawn(connection);
        Session { client }
    }

    /// Runs a query text: values row by row joined with `|`, else the number of rows affected, or the error as
    /// `SQLSTATE message`.
    pub(crate) async fn run(&self, sql: &str) -> Result<String, String> {
        let messages = self.client.simple_query(sql).await.map_err(|error| told(&error))?;
        let mut rows = Vec::new();
        let mut affected = 0;
        for message in messages {
            match message {
                SimpleQueryMessage::Row(row) => {
                    let values = (0..row.len()).map(|column| row.get(column).unwrap_or("NULL"));
                    rows.push(values.collect::<Vec<_>>().join(","));
                }
                SimpleQueryMessage::CommandComplete(count) => affected = count,
                _ => {}
            }
        }
        Ok(if rows.is_empty() { affected.to_string() } else { rows.join("|") })
    }

    /// Runs a query text that must work.
    pub(crate) async fn ok(&self, sql: &str) -> String {
        self.run(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Runs a query text that must fail with this SQLSTATE.
    pub(crate) async fn fails(&self, sql: &str, sqlstate: &str) -> String {
        match self.run(sql).await {
            Ok(answer) => panic!("{sql}: answered {answer}, not {sqlstate}"),
            Err(error) if error.starts_with(sqlstate) => error,
            Err(error) => panic!("{sql}: {error}, not {sqlstate}"),
        }
    }

    /// COMMIT must fail with a conflict on data.
    pub(crate) async fn commit_conflicts(&self) {
        let told = self.fails("COMMIT", "40001").await;
        assert!(told.ends_with("change conflicts with another transaction (OC000)"), "{told}");
    }
}

pub(crate) fn told(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("{} {}", error.code().code(), error.message()),
        None => format!("connection: {error}"),
    }
}
