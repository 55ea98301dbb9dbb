use axum::http::header;
use axum::response::IntoResponse;

use crate::recorder::recorder;

/// `GET /metrics`: Prometheus text.
pub(super) async fn metrics() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], recorder().render())
}
