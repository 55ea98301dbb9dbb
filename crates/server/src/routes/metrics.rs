use ::metrics::{counter, gauge};
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use crate::recorder::recorder;
use crate::reply::Reply;
use crate::services::Services;
use crate::{process_metrics, queue_metrics};

/// Under the names that Querator's dashboards know.
const REQUESTS: &str = "promhttp_metric_handler_requests_total";
const IN_FLIGHT: &str = "promhttp_metric_handler_requests_in_flight";

/// Shown from the start, with zeros: whoever watches for failures sees a rate, not nothing.
const CODES: [&str; 3] = ["200", "500", "503"];

/// `GET /metrics`: Prometheus text.
pub(super) async fn metrics(State(services): State<Services>) -> impl IntoResponse {
    let look = Look::begin();
    let queues = services.engine.overview().await;
    services.locks.look();
    let text = recorder().render() + &queue_metrics::render(&queues) + &process_metrics::render();
    look.answered();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

/// `GET /metrics` where nobody is to see figures. Not as any unknown page is answered: whoever set up the scrape should find
/// out why it fails.
pub(super) async fn disabled() -> Reply {
    Reply::not_found("metrics are disabled; see 'metrics' in the configuration".to_owned())
}

/// A scrape that is not answered yet. It is among those in flight, and not among those that were.
struct Look;

impl Look {
    fn begin() -> Self {
        for code in CODES {
            counter!(REQUESTS, "code" => code).increment(0);
        }
        gauge!(IN_FLIGHT).increment(1.0);
        Look
    }

    fn answered(self) {
        counter!(REQUESTS, "code" => "200").increment(1);
    }
}

/// Also when nobody waits for the answer any more.
impl Drop for Look {
    fn drop(&mut self) {
        gauge!(IN_FLIGHT).decrement(1.0);
    }
}
