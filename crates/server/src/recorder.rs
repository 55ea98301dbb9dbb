//! Where the `metrics` facade of every crate ends up: the text served at `/metrics`.

use std::convert::Infallible;
use std::sync::OnceLock;
use std::time::Duration;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// How often old samples are dropped from summaries. Without it they would grow for ever.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// The recorder of this process: the facade has one, whatever the number of servers in it.
pub(crate) fn recorder() -> &'static PrometheusHandle {
    static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();
    RECORDER.get_or_init(|| {
        let recorder = PrometheusBuilder::new()
            .set_quantiles(&[0.5, 0.99])
            .expect("two quantiles are not none")
            .build_recorder();
        let handle = recorder.handle();
        // An application that embeds the server may have a recorder of its own; then `/metrics` is empty and
        // the application's own exporter shows the figures.
        if metrics::set_global_recorder(recorder).is_err() {
            tracing::info!("metrics go to the recorder that this process already has");
        }
        metrics::gauge!("leasehold_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
        handle
    })
}

/// Runs until dropped.
pub(crate) async fn upkeep() -> Infallible {
    let mut ticks = tokio::time::interval(UPKEEP_INTERVAL);
    loop {
        ticks.tick().await;
        recorder().run_upkeep();
    }
}
