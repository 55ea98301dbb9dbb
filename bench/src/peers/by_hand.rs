//! The table that people write by hand, worked off with `FOR UPDATE SKIP LOCKED`.

use tokio_postgres::{Client, Statement};

use super::shapes::{Caller, Queue, connect, measure};
use super::{Figures, Load, Outcome, PAYLOAD_BYTES, Rates};

/// How jobs are taken.
#[derive(Clone, Copy, Debug)]
pub enum Hold {
    /// Deleted in a transaction that stays open while the work is done.
    Transaction,
    /// Marked until a deadline in a statement of its own, then deleted; nothing checks whose mark it was.
    Lease,
}

/// A table, and how it is worked off.
#[derive(Clone, Copy, Debug)]
pub struct ByHand {
    /// How jobs are taken.
    pub hold: Hold,
    /// How many at once.
    pub batch: i64,
    /// By how many connections.
    pub workers: usize,
}

impl ByHand {
    /// Makes the table and measures it.
    ///
    /// # Errors
    /// The server failed.
    pub async fn run(self, url: &str, load: Load) -> Outcome<Figures> {
        connect(url)
            .await?
            .batch_execute(
                "CREATE TABLE jobs (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload BYTEA NOT NULL,
                                    leased_until TIMESTAMPTZ)",
            )
            .await?;
        let rates: Rates = measure(&Table { form: self, url: url.to_owned() }, url, load).await?;
        let note = match self.hold {
            Hold::Transaction => {
                "no lease: jobs are locked by a transaction that stays open during the work, and deleted by it"
            }
            Hold::Lease => {
                "marks jobs until a deadline, then deletes them by id; a late worker is not refused"
            }
        };
        let (workers, batch) = (self.workers, self.batch);
        Ok(Figures {
            version: "with tokio-postgres".to_owned(),
            settings: format!("{workers} connections, {batch} at once"),
            note: note.to_owned(),
            rates,
        })
    }
}

struct Table {
    form: ByHand,
    url: String,
}

impl Queue for Table {
    type Caller = Connection;

    fn workers(&self) -> usize {
        self.form.workers
    }

    fn left(&self) -> &'static str {
        "SELECT count(*) FROM jobs"
    }

    async fn caller(&self, _: usize) -> Outcome<Connection> {
        let client = connect(&self.url).await?;
        let take = match self.form.hold {
            Hold::Transaction => {
                "DELETE FROM jobs WHERE id = ANY (ARRAY (SELECT id FROM jobs ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED))
                 RETURNING id, payload"
            }
            Hold::Lease => {
                "UPDATE jobs SET leased_until = now() + '1 min'
                  WHERE id = ANY (ARRAY (SELECT id FROM jobs WHERE leased_until IS NULL OR leased_until < now()
                                          ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED))
                 RETURNING id, payload"
            }
        };
        Ok(Connection {
            form: self.form,
            add_one: client.prepare("INSERT INTO jobs (payload) VALUES ($1)").await?,
            add_many: client.prepare("INSERT INTO jobs (payload) SELECT * FROM unnest($1::bytea[])").await?,
            take: client.prepare(take).await?,
            end: client.prepare("DELETE FROM jobs WHERE id = ANY ($1)").await?,
            client,
        })
    }
}

struct Connection {
    form: ByHand,
    client: Client,
    add_one: Statement,
    add_many: Statement,
    take: Statement,
    end: Statement,
}

impl Caller for Connection {
    async fn add(&mut self, len: usize) -> Outcome {
        let payload = [b'x'; PAYLOAD_BYTES];
        match len {
            1 => self.client.execute(&self.add_one, &[&&payload[..]]).await?,
            _ => self.client.execute(&self.add_many, &[&vec![&payload[..]; len]]).await?,
        };
        Ok(())
    }

    async fn work(&mut self) -> Outcome<usize> {
        match self.form.hold {
            Hold::Transaction => {
                let transaction = self.client.transaction().await?;
                let taken = transaction.query(&self.take, &[&self.form.batch]).await?.len();
                transaction.commit().await?;
                Ok(taken)
            }
            Hold::Lease => {
                let rows = self.client.query(&self.take, &[&self.form.batch]).await?;
                let ids: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
                if !ids.is_empty() {
                    self.client.execute(&self.end, &[&ids]).await?;
                }
                Ok(ids.len())
            }
        }
    }
}
