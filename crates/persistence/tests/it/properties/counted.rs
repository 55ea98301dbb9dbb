//! Property 7: metrics. What is counted is what happened.

use std::collections::BTreeMap;
use std::time::Duration;

use leasehold_core::Class;
use leasehold_txn::Policy;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};

use super::{Bench, all};

/// Sums of counters, last values of gauges, values of histograms, over all operations; by name.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    counters: BTreeMap<String, u64>,
    gauges: BTreeMap<String, Vec<f64>>,
    pub(crate) histograms: BTreeMap<String, Vec<f64>>,
}

impl Recorded {
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }
}

/// Runs `work` on this thread alone, where its metrics are recorded, and nobody else's.
pub(crate) fn recorded<T>(work: impl Future<Output = T>) -> (T, Recorded) {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let answer = metrics::with_local_recorder(&recorder, || runtime.block_on(work));
    let mut recorded = Recorded::default();
    for (key, _, _, value) in snapshotter.snapshot().into_vec() {
        let name = key.key().name().to_owned();
        match value {
            DebugValue::Counter(count) => *recorded.counters.entry(name).or_default() += count,
            DebugValue::Gauge(value) => recorded.gauges.entry(name).or_default().push(value.into_inner()),
            DebugValue::Histogram(values) => {
                let values = values.into_iter().map(|value| value.into_inner());
                recorded.histograms.entry(name).or_default().extend(values);
            }
        }
    }
    (answer, recorded)
}

/// What failures did to writes.
#[derive(Debug, Default)]
pub(crate) struct Struck {
    /// How often one struck.
    pub(crate) fired: u64,
    /// How many writes failed of it.
    pub(crate) failed: u64,
    /// Those that surely did not happen, by name: they begin with a look, and fail at that.
    pub(crate) undone: Vec<&'static str>,
}

/// Every write with one failure after the other.
pub(crate) async fn struck(mut bench: Bench, failure: &str, times: u32) -> Struck {
    let policy = Policy::new(3, Duration::ZERO, Duration::ZERO).expect("a policy");
    let database = bench.fixture.with_retries(policy).await;
    let mut struck = Struck::default();
    for write in all() {
        let prepared = bench.prepared(write).await;
        bench.strike(failure, times).await;
        let answer = prepared(database.clone()).await;
        if let Err(error) = &answer {
            struck.failed += 1;
            if error.class() != Class::Indeterminate {
                struck.undone.push(write.name);
            }
        }
        let is_ridden_out = failure.contains("conflict") && times < 3;
        assert!(answer.is_ok() || !is_ridden_out, "{}: {answer:?}", write.name);
        struck.fired += bench.spare().await;
    }
    struck
}

pub(crate) fn expect_quiet(recorded: &Recorded) {
    assert_eq!(recorded.count("dsql_unsupported_feature_total"), 0);
    let active = &recorded.gauges["dsql_active_transactions"];
    assert!(active.iter().all(|active| *active == 0.0), "{active:?}");
    let durations = recorded.histograms["dsql_operation_duration_seconds"].len();
    assert_eq!(recorded.histograms["dsql_retry_attempts_histogram"].len(), durations);
}

/// `bench` is made for each number of conflicts.
pub(crate) fn conflicts_that_are_ridden_out_are_counted<F>(bench: impl Fn() -> F)
where
    F: Future<Output = Bench>,
{
    for failure in ["conflict_at_commit", "conflict_at_statement"] {
        for times in 0..=2 {
            let (Struck { fired, failed, .. }, recorded) =
                recorded(async { struck(bench().await, failure, times).await });
            assert_eq!((fired, failed), (u64::from(times) * all().count() as u64, 0));
            assert_eq!(recorded.count("dsql_tx_conflicts_total"), fired, "{failure}");
            assert_eq!(recorded.count("dsql_tx_retries_total"), fired, "{failure}");
            assert_eq!(recorded.count("dsql_errors_total"), 0, "{failure}");
            assert_eq!(recorded.count("dsql_condition_failed_total"), 0, "{failure}");
            let attempts = &recorded.histograms["dsql_retry_attempts_histogram"];
            let retried = attempts.iter().filter(|attempts| **attempts == f64::from(times + 1)).count();
            assert!(times == 0 || retried == all().count(), "{retried} operations of {times} retries");
            expect_quiet(&recorded);
        }
    }
}

pub(crate) fn exhausted_budgets_are_counted_as_one_error_each(bench: impl Future<Output = Bench>) {
    let (Struck { fired, failed, .. }, recorded) =
        recorded(async { struck(bench.await, "conflict_at_commit", 9).await });
    let writes = all().count() as u64;
    assert_eq!((fired, failed), (writes * 3, writes));
    assert_eq!(recorded.count("dsql_tx_conflicts_total"), writes * 3);
    assert_eq!(recorded.count("dsql_tx_retries_total"), writes * 2);
    assert_eq!(recorded.count("dsql_errors_total"), writes);
    expect_quiet(&recorded);
}

pub(crate) fn lost_conditions_are_counted_and_are_no_errors(bench: impl Future<Output = Bench>) {
    const CONDITIONS: [&str; 6] = [
        "shard.take_over",
        "namespace.update",
        "cluster.save",
        "nexus.save",
        "execution.create",
        "execution.update",
    ];
    let ((), recorded) = recorded(async {
        let mut bench = bench.await;
        for write in all().filter(|write| CONDITIONS.contains(&write.name)) {
            let prepared = bench.prepared(write).await;
            prepared(bench.fixture.database.clone()).await.expect("the first time");
            prepared(bench.fixture.database.clone()).await.expect_err("the second time");
        }
    });
    assert_eq!(recorded.count("dsql_condition_failed_total"), CONDITIONS.len() as u64);
    for name in ["dsql_errors_total", "dsql_tx_conflicts_total", "dsql_tx_retries_total"] {
        assert_eq!(recorded.count(name), 0, "{name}");
    }
    expect_quiet(&recorded);
}
