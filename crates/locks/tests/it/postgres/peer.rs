//! A SyncGuard process as the specification describes it: its statements, one by one, written without our code.

use leasehold_locks::LockId;
use tokio_postgres::{Client, Transaction};

/// One session of the peer.
pub(crate) struct Peer(pub(crate) Client);

const NOW: &str = "SELECT floor(extract(epoch from now()) * 1000)::bigint";

impl Peer {
    /// The fence, if the key was free.
    pub(crate) async fn acquire(&mut self, key: &str, lock_id: &LockId, ttl_ms: i64) -> Option<String> {
        let transaction = self.begin().await;
        let granted = decide(&transaction, key, lock_id, ttl_ms).await;
        transaction.commit().await.expect("commits");
        granted
    }

    /// Whether there was something to release.
    pub(crate) async fn release(&mut self, lock_id: &LockId) -> bool {
        let transaction = self.begin().await;
        let Some(key) = owned(&transaction, lock_id).await else { return false };
        let deleted = transaction.execute("DELETE FROM syncguard_locks WHERE key = $1", &[&key]).await;
        transaction.commit().await.expect("commits");
        deleted.expect("deletes") == 1
    }

    /// Whether there was something to extend.
    pub(crate) async fn extend(&mut self, lock_id: &LockId, ttl_ms: i64) -> bool {
        let transaction = self.begin().await;
        let Some(key) = owned(&transaction, lock_id).await else { return false };
        let expires_at = now(&transaction).await + ttl_ms;
        let sql = "UPDATE syncguard_locks SET expires_at_ms = $2 WHERE key = $1";
        let updated = transaction.execute(sql, &[&key, &expires_at]).await;
        transaction.commit().await.expect("commits");
        updated.expect("updates") == 1
    }

    async fn begin(&mut self) -> Transaction<'_> {
        let level = tokio_postgres::IsolationLevel::ReadCommitted;
        self.0.build_transaction().isolation_level(level).start().await.expect("begins")
    }
}

async fn now(transaction: &Transaction<'_>) -> i64 {
    transaction.query_one(NOW, &[]).await.expect("a clock").get(0)
}

/// The steps of an acquire, each a statement, within an open transaction.
pub(crate) async fn decide(
    transaction: &Transaction<'_>,
    key: &str,
    lock_id: &LockId,
    ttl_ms: i64,
) -> Option<String> {
    let fence_key = format!("fence:{key}");
    transaction.execute("SELECT pg_advisory_xact_lock(hashtext($1))", &[&key]).await.expect("locks");
    let now = now(transaction).await;
    let held =
        transaction.query_opt("SELECT expires_at_ms FROM syncguard_locks WHERE key = $1", &[&key]).await;
    if held.expect("reads").is_some_and(|row| row.get::<_, i64>(0) > now - 1_000) {
        return None;
    }
    let insert = "INSERT INTO syncguard_fence_counters (fence_key, fence, key_debug) VALUES ($1, 0, $2)
                  ON CONFLICT (fence_key) DO NOTHING";
    transaction.execute(insert, &[&fence_key, &key]).await.expect("inserts");
    let count = "UPDATE syncguard_fence_counters SET fence = fence + 1 WHERE fence_key = $1 RETURNING fence";
    let fence: i64 = transaction.query_one(count, &[&fence_key]).await.expect("counts").get(0);
    let fence = format!("{fence:015}");
    let upsert = "INSERT INTO syncguard_locks (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
                  VALUES ($1, $2, $3, $4, $5, $1)
                  ON CONFLICT (key) DO UPDATE SET lock_id = EXCLUDED.lock_id,
                     expires_at_ms = EXCLUDED.expires_at_ms, acquired_at_ms = EXCLUDED.acquired_at_ms,
                     fence = EXCLUDED.fence, user_key = EXCLUDED.user_key";
    transaction
        .execute(upsert, &[&key, &lock_id.as_str(), &(now + ttl_ms), &now, &fence])
        .await
        .expect("upserts");
    Some(fence)
}

/// The key this id holds now; its row is locked.
async fn owned(transaction: &Transaction<'_>, lock_id: &LockId) -> Option<String> {
    let now = now(transaction).await;
    let sql = "SELECT key, expires_at_ms FROM syncguard_locks WHERE lock_id = $1 FOR UPDATE";
    let row = transaction.query_opt(sql, &[&lock_id.as_str()]).await.expect("reads")?;
    (row.get::<_, i64>(1) > now - 1_000).then(|| row.get(0))
}
