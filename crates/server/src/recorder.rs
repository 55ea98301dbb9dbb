//! Where the `metrics` facade of every crate ends up: the text served at `/metrics`.

use std::convert::Infallible;
use std::sync::OnceLock;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::process_metrics;

/// How often old samples are dropped from summaries. Without it they would grow for ever.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Shown in buckets, which can be added up over servers; the quantiles of all others cannot.
const HISTOGRAMS: [(&str, &[f64]); 4] = [
    (
        "leasehold_lock_hold_seconds",
        &[0.001, 0.01, 0.1, 1.0, 5.0, 15.0, 30.0, 60.0, 300.0, 900.0, 3_600.0, 86_400.0],
    ),
    ("leasehold_lock_wait_seconds", &WAITS),
    (
        "leasehold_queue_batch_items",
        &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0, 2_000.0],
    ),
    ("leasehold_queue_wait_seconds", &WAITS),
];

const WAITS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0, 3_600.0];

/// The recorder of this process: the facade has one, whatever the number of servers in it.
pub(crate) fn recorder() -> &'static PrometheusHandle {
    static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();
    RECORDER.get_or_init(|| {
        let mut builder =
            PrometheusBuilder::new().set_quantiles(&[0.5, 0.99]).expect("two quantiles are not none");
        for (name, buckets) in HISTOGRAMS {
            builder = builder
                .set_buckets_for_metric(Matcher::Full(name.to_owned()), buckets)
                .expect("some buckets are not none");
        }
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        // An application that embeds the server may have a recorder of its own; then `/metrics` is empty and
        // the application's own exporter shows the figures.
        if metrics::set_global_recorder(recorder).is_err() {
            tracing::info!("metrics go to the recorder that this process already has");
        }
        process_metrics::started_at();
        metrics::gauge!("leasehold_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
        handle
    })
}

/// Runs until dropped; `look` brings figures up to date that nobody reports.
pub(crate) async fn upkeep(look: impl Fn()) -> Infallible {
    let mut ticks = tokio::time::interval(UPKEEP_INTERVAL);
    loop {
        ticks.tick().await;
        look();
        recorder().run_upkeep();
    }
}
