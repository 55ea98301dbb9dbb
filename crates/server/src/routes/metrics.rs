use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use crate::recorder::recorder;
use crate::services::Services;
use crate::{process_metrics, queue_metrics};

/// `GET /metrics`: Prometheus text.
pub(super) async fn metrics(State(services): State<Services>) -> impl IntoResponse {
    let queues = services.engine.overview().await;
    services.locks.look();
    let text = recorder().render() + &queue_metrics::render(&queues) + &process_metrics::render();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}
