use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;

/// Times every request under its route. A path that is no route counts as `other`, so that strangers cannot
/// grow the set of labels.
pub(super) async fn observe(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let path = match request.extensions().get::<MatchedPath>() {
        Some(matched) => matched.as_str().to_owned(),
        None => "other".to_owned(),
    };
    let response = next.run(request).await;
    ::metrics::histogram!("http_handler_duration", "path" => path).record(started.elapsed());
    response
}
