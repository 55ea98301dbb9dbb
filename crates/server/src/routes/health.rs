use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::{Timestamp, Unit};
use serde::Serialize;

use crate::services::Services;

#[derive(Serialize)]
struct Health {
    status: Status,
    version: &'static str,
    checks: Checks,
}

#[derive(Serialize)]
struct Checks {
    #[serde(rename = "queues:storage")]
    storage: [Check; 1],
}

#[derive(Serialize)]
struct Check {
    #[serde(rename = "componentType")]
    component_type: &'static str,
    status: Status,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'static str>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Pass,
    Fail,
}

/// `GET /health`: whether queues can be read, the store answers and what is made at the start was tried, as health+json; 503
/// when not.
pub(super) async fn health(State(services): State<Services>) -> Response {
    let healthy = services.is_healthy().await;
    let (code, status) = match healthy {
        true => (StatusCode::OK, Status::Pass),
        false => (StatusCode::SERVICE_UNAVAILABLE, Status::Fail),
    };
    let check = Check {
        component_type: "datastore",
        status,
        time: now_in_seconds(),
        output: (!healthy).then_some("storage check failed"),
    };
    let health = Health { status, version: env!("CARGO_PKG_VERSION"), checks: Checks { storage: [check] } };
    let mut body = serde_json::to_string(&health).expect("plain fields always encode");
    body.push('\n');
    (code, [(header::CONTENT_TYPE, "application/health+json")], body).into_response()
}

fn now_in_seconds() -> String {
    let now = Timestamp::now();
    now.round(Unit::Second).unwrap_or(now).to_string()
}
