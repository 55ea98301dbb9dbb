//! What is counted.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};

use leasehold_txn::{Abort, Operation, Pool, Statement, run};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};

use crate::fixture::{Fixture, SNAPSHOT, eager};

const COUNTED: Operation = Operation::new("test.counted");

/// Runs `work` and returns every metric it left, as `name{label=value,…}`.
fn recorded(work: impl Future<Output = ()>) -> BTreeMap<String, Vec<f64>> {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    metrics::with_local_recorder(&recorder, || runtime.block_on(work));
    snapshotter
        .snapshot()
        .into_vec()
        .into_iter()
        .map(|(key, _, _, value)| {
            let labels: Vec<_> =
                key.key().labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
            #[expect(clippy::cast_precision_loss, reason = "counts of a test are small")]
            let values = match value {
                DebugValue::Counter(count) => vec![count as f64],
                DebugValue::Gauge(value) => vec![value.into_inner()],
                DebugValue::Histogram(values) => values.into_iter().map(|value| value.into_inner()).collect(),
            };
            (format!("{}{{{}}}", key.key().name(), labels.join(",")), values)
        })
        .collect()
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
fn conflicts_and_retries_are_counted_as_they_happen() {
    let recorded = recorded(async {
        let fixture = Fixture::start().await;
        let pool = Pool::new(fixture.config().dialect(SNAPSHOT)).unwrap();
        let (runs, outside) = (AtomicU32::new(0), &fixture.outside);
        let runs = &runs;
        run::<_, Infallible, _>(&pool, COUNTED, &eager(5), |tx| {
            Box::pin(async move {
                tx.query_one("SELECT version FROM counter WHERE id = 1", &[]).await?;
                if runs.fetch_add(1, Ordering::Relaxed) < 2 {
                    outside.execute("UPDATE counter SET version = version + 1 WHERE id = 1", &[]).await?;
                }
                tx.execute("UPDATE counter SET owner = 1 WHERE id = 1", &[]).await?;
                Ok(())
            })
        })
        .await
        .unwrap();
    });
    let one = |name: &str| {
        recorded.get(name).map(Vec::as_slice).unwrap_or_else(|| panic!("{name} of {recorded:#?}"))
    };
    assert_eq!(one("dsql_tx_conflicts_total{operation=test.counted}"), [2.0]);
    assert_eq!(one("dsql_tx_retries_total{operation=test.counted,sqlstate=40001,attempt=1}"), [1.0]);
    assert_eq!(one("dsql_tx_retries_total{operation=test.counted,sqlstate=40001,attempt=2}"), [1.0]);
    assert_eq!(one("dsql_retry_attempts_histogram{operation=test.counted}"), [3.0]);
    assert_eq!(one("dsql_operation_duration_seconds{operation=test.counted}").len(), 1);
    assert_eq!(one("dsql_active_transactions{operation=test.counted}"), [0.0]);
    assert!(!recorded.keys().any(|name| name.starts_with("dsql_errors_total")), "{recorded:#?}");
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
fn each_failure_is_counted_under_its_code() {
    let recorded = recorded(async {
        let fixture = Fixture::start().await;
        let pool = fixture.pool();
        let refused = Statement::read(COUNTED, "SELECT count(*) FROM counter FOR UPDATE");
        refused.query(&pool, &eager(1), &[]).await.unwrap_err();
        run::<(), _, _>(&pool, COUNTED, &eager(1), |_| Box::pin(async { Err(Abort::Condition("no")) }))
            .await
            .unwrap_err();
        let ended = "SELECT pg_terminate_backend(pg_backend_pid())";
        Statement::write(COUNTED, ended).query(&pool, &eager(1), &[]).await.unwrap_err();
    });
    let one = |name: &str| {
        recorded.get(name).map(Vec::as_slice).unwrap_or_else(|| panic!("{name} of {recorded:#?}"))
    };
    assert_eq!(one("dsql_errors_total{operation=test.counted,error_type=txn.unsupported}"), [1.0]);
    assert_eq!(one("dsql_unsupported_feature_total{operation=test.counted,feature=locking_clause}"), [1.0]);
    assert_eq!(one("dsql_errors_total{operation=test.counted,error_type=txn.unknown_outcome}"), [1.0]);
    assert_eq!(one("dsql_unknown_outcome_total{operation=test.counted}"), [1.0]);
    assert_eq!(one("dsql_condition_failed_total{operation=test.counted}"), [1.0]);
    assert_eq!(one("dsql_retry_attempts_histogram{operation=test.counted}"), [1.0; 3]);
    assert_eq!(one("dsql_active_transactions{operation=test.counted}"), [0.0]);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
fn gauge_returns_to_zero_after_panic_and_cancellation() {
    let recorded = recorded(async {
        let fixture = Fixture::start().await;
        let pool = fixture.pool();
        let panicking = pool.clone();
        let task = tokio::spawn(async move {
            run::<(), Infallible, _>(&panicking, COUNTED, &eager(1), |_| {
                Box::pin(async { panic!("on purpose") })
            })
            .await
        });
        assert!(task.await.unwrap_err().is_panic());

        let (begun, seen) = tokio::sync::oneshot::channel();
        let begun = std::sync::Mutex::new(Some(begun));
        let begun = &begun;
        let policy = eager(1);
        let endless = run::<(), Infallible, _>(&pool, COUNTED, &policy, |_| {
            Box::pin(async move {
                let _ = begun.lock().unwrap().take().unwrap().send(());
                std::future::pending().await
            })
        });
        tokio::select! { _ = endless => unreachable!(), seen = seen => seen.unwrap() }
    });
    assert_eq!(recorded["dsql_active_transactions{operation=test.counted}"], [0.0], "{recorded:#?}");
}
