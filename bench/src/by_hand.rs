//! Locks on PostgreSQL without our code: the form that is compared with, and the least that any form must do.

use leasehold_core::LockId;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Statement};

/// Every statement a round trip: eight to acquire, five to release.
pub struct Naive {
    client: Client,
    clock: Statement,
    advisory: Statement,
    read: Statement,
    insert: Statement,
    count: Statement,
    upsert: Statement,
    read_by_id: Statement,
    delete: Statement,
}

impl Naive {
    /// With its statements prepared, as SyncGuard's driver does.
    ///
    /// # Errors
    /// What the server said.
    pub async fn prepare(client: Client) -> Result<Self, Error> {
        let sql = async |sql: &str| client.prepare(sql).await;
        Ok(Naive {
            clock: sql("SELECT floor(extract(epoch FROM now()) * 1000)::bigint").await?,
            advisory: sql("SELECT pg_advisory_xact_lock(hashtext($1))").await?,
            read: sql("SELECT expires_at_ms FROM syncguard_locks WHERE key = $1 FOR UPDATE").await?,
            insert: sql("INSERT INTO syncguard_fence_counters (fence_key, fence, key_debug)
                         VALUES ($1, 0, $2) ON CONFLICT (fence_key) DO NOTHING")
            .await?,
            count: sql(
                "UPDATE syncguard_fence_counters SET fence = fence + 1 WHERE fence_key = $1 RETURNING fence",
            )
            .await?,
            upsert: sql(
                "INSERT INTO syncguard_locks (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
                         VALUES ($1, $2, $3, $4, $5, $1)
                         ON CONFLICT (key) DO UPDATE SET lock_id = EXCLUDED.lock_id,
                            expires_at_ms = EXCLUDED.expires_at_ms, acquired_at_ms = EXCLUDED.acquired_at_ms,
                            fence = EXCLUDED.fence, user_key = EXCLUDED.user_key",
            )
            .await?,
            read_by_id: sql("SELECT key, expires_at_ms FROM syncguard_locks WHERE lock_id = $1 FOR UPDATE")
                .await?,
            delete: sql("DELETE FROM syncguard_locks WHERE key = $1").await?,
            client,
        })
    }

    /// The fence, if the key was free.
    ///
    /// # Panics
    /// When a statement fails: there is nothing to measure then.
    pub async fn acquire(&self, key: &str, lock_id: &LockId) -> Option<i64> {
        let (client, fence_key) = (&self.client, format!("fence:{key}"));
        client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await.expect("begins");
        let now: i64 = client.query_one(&self.clock, &[]).await.expect("a clock").get(0);
        client.query_one(&self.advisory, &[&key]).await.expect("locks");
        let held = client.query_opt(&self.read, &[&key]).await.expect("reads");
        if held.is_some_and(|row| row.get::<_, i64>(0) > now - 1_000) {
            client.batch_execute("COMMIT").await.expect("commits");
            return None;
        }
        client.execute(&self.insert, &[&fence_key, &key]).await.expect("inserts");
        let fence: i64 = client.query_one(&self.count, &[&fence_key]).await.expect("counts").get(0);
        let (text, until) = (format!("{fence:015}"), now + 30_000);
        let values: [&(dyn ToSql + Sync); 5] = [&key, &lock_id.as_str(), &until, &now, &text];
        client.execute(&self.upsert, &values).await.expect("upserts");
        client.batch_execute("COMMIT").await.expect("commits");
        Some(fence)
    }

    /// Ends a hold that is there.
    ///
    /// # Panics
    /// When it is not.
    pub async fn release(&self, lock_id: &LockId) {
        let client = &self.client;
        client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await.expect("begins");
        client.query_one(&self.clock, &[]).await.expect("a clock");
        let row = client.query_one(&self.read_by_id, &[&lock_id.as_str()]).await.expect("is held");
        client.execute(&self.delete, &[&row.get::<_, &str>(0)]).await.expect("deletes");
        client.batch_execute("COMMIT").await.expect("commits");
    }
}

/// The two statements that any form must make the server do, and nothing else: no look at who holds the key, no advisory
/// lock, no first use of a key, no hold that ended. Not a lock; what a lock can at most be measured as here.
pub struct Least {
    client: Client,
    acquire: Statement,
    release: Statement,
}

impl Least {
    /// With its statements prepared and the counters of its keys made.
    ///
    /// # Errors
    /// What the server said.
    pub async fn prepare(client: Client, keys: &[String]) -> Result<Self, Error> {
        let counters = "INSERT INTO syncguard_fence_counters (fence_key, fence)
                        SELECT 'fence:' || key, 0 FROM unnest($1::text[]) AS used (key) ON CONFLICT DO NOTHING";
        client.execute(counters, &[&keys]).await?;
        let acquire = client
            .prepare(
                "WITH counted AS (
                    UPDATE syncguard_fence_counters SET fence = fence + 1 WHERE fence_key = $1 RETURNING fence)
                 INSERT INTO syncguard_locks (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
                 SELECT $2, $3, $4, $4, lpad(fence::text, 15, '0'), $2 FROM counted
                 RETURNING fence",
            )
            .await?;
        let release =
            client.prepare("DELETE FROM syncguard_locks WHERE lock_id = $1 RETURNING user_key").await?;
        Ok(Least { client, acquire, release })
    }

    /// One row in, one row out.
    ///
    /// # Panics
    /// When a statement fails: there is nothing to measure then.
    pub async fn pair(&self, key: &str, lock_id: &LockId) {
        let until = i64::MAX / 2;
        let values: [&(dyn ToSql + Sync); 4] = [&format!("fence:{key}"), &key, &lock_id.as_str(), &until];
        self.client.query_one(&self.acquire, &values).await.expect("inserts");
        self.client.query_one(&self.release, &[&lock_id.as_str()]).await.expect("deletes");
    }
}
