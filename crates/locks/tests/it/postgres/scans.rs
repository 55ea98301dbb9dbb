//! A lock table is empty most of the time. Vacuumed then, it has no page: reading all of it is the cheapest plan there is, and a
//! plan that is kept is not made again until the next vacuum, however many rows came and went.

use std::time::Duration;

use leasehold_locks::backend::postgres::{Mode, PostgresBackend};
use leasehold_locks::{ExtendRequest, LockBackend, LookupBy, Ttl};

use super::fixture::{Fixture, PATIENCE, acquired, key, request};

/// More than it takes a session to stop planning anew for each call.
const TURNS: usize = 12;

impl Fixture {
    /// Both tables, as a vacuum finds them at a quiet time.
    async fn vacuum_empty(&self) {
        // Outside of any transaction, and one by one: so wants the vacuum.
        for table in ["syncguard_locks", "syncguard_fence_counters"] {
            self.outside.batch_execute(&format!("VACUUM (ANALYZE) {table}")).await.expect("vacuums");
        }
    }

    /// Scans of a whole table by sessions that have ended; a session tells of the last ones when it ends.
    async fn scans(&self) -> i64 {
        let open = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{}' AND pid <> pg_backend_pid()",
            self.name
        );
        let gone = async {
            while self.number(&open).await > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, gone).await.expect("sessions end");
        let scans = "SELECT sum(seq_scan)::bigint FROM pg_stat_user_tables
                      WHERE schemaname = current_schema() AND relname LIKE 'syncguard%'";
        self.number(scans).await
    }

    /// What one session reads in full while it does everything a service does, over and over.
    async fn scans_of_a_session(&self, mode: Mode) -> i64 {
        let before = self.scans().await;
        {
            let backend = self.backend(mode);
            for turn in 0..TURNS {
                self.work(&backend, &format!("key:{turn}")).await;
            }
            backend.close().await;
        }
        self.scans().await - before
    }

    async fn work(&self, backend: &PostgresBackend, text: &str) {
        let (key, grant) = (key(text), acquired(backend, text).await);
        let extend = ExtendRequest { lock_id: grant.lock_id, ttl: Ttl::DEFAULT };
        backend.extend(&extend).await.expect("answers");
        assert!(backend.is_locked(&key).await.expect("answers"));
        for by in [LookupBy::Key(&key), LookupBy::LockId(&grant.lock_id)] {
            assert!(backend.lookup(by).await.expect("answers").is_some());
        }
        assert!(backend.release(&grant.lock_id).await.expect("answers").is_released());
        let many = [request(text), request("another")];
        for outcome in backend.acquire_many(&many).await.expect("answers") {
            outcome.expect("answers").acquired().expect("is free");
        }
        let ids = many.map(|request| request.lock_id);
        for outcome in backend.release_many(&ids).await.expect("answers") {
            assert!(outcome.expect("answers").is_released());
        }
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn plan_made_on_an_empty_table_goes_by_the_index() {
    for mode in [Mode::Shared, Mode::Exclusive] {
        let fixture = Fixture::start().await;
        fixture.vacuum_empty().await;
        assert_eq!(fixture.scans_of_a_session(mode).await, 0, "{mode:?}");
    }
}

/// The danger is there: without the functions the same work reads the table in full. If this fails, the test above is blunt.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn plan_of_a_statement_on_an_empty_table_scans() {
    let fixture = Fixture::start().await;
    fixture.drop_functions().await;
    fixture.vacuum_empty().await;
    assert!(fixture.scans_of_a_session(Mode::Exclusive).await > 0);
}
