//! The admin port: faults are armed and counters are read over HTTP.

use std::collections::BTreeMap;

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::{delete, get},
};
use leasehold_dsql_sim_core::{
    Engine,
    faults::{Report, Rule},
};
use tokio::{net::TcpListener, sync::watch};

/// Serves until `stopped` closes.
pub(crate) async fn serve(listener: TcpListener, engine: Engine, mut stopped: watch::Receiver<()>) {
    let routes = Router::new()
        .route("/counters", get(counters))
        .route("/faults", get(report).post(arm).delete(clear))
        .route("/faults/{name}", delete(disarm))
        .with_state(engine);
    let stop = async move {
        let _ = stopped.changed().await;
    };
    if let Err(error) = axum::serve(listener, routes).with_graceful_shutdown(stop).await {
        tracing::warn!(%error, "the admin port ended");
    }
}

/// `GET /counters`: what happened so far.
async fn counters(State(engine): State<Engine>) -> Json<BTreeMap<&'static str, u64>> {
    Json(engine.counters().all().collect())
}

/// `GET /faults`: the armed rules and what they did.
async fn report(State(engine): State<Engine>) -> Json<Vec<Report>> {
    Json(engine.faults().report())
}

/// `POST /faults`: arms a rule.
async fn arm(State(engine): State<Engine>, body: String) -> (StatusCode, String) {
    match Rule::read(&body) {
        Ok(rule) => {
            engine.faults().arm(rule);
            (StatusCode::NO_CONTENT, String::new())
        }
        Err(error) => (StatusCode::BAD_REQUEST, format!("{error}\n")),
    }
}

/// `DELETE /faults/{name}`: disarms a rule.
async fn disarm(State(engine): State<Engine>, Path(name): Path<String>) -> StatusCode {
    if engine.faults().disarm(&name) { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND }
}

/// `DELETE /faults`: disarms all.
async fn clear(State(engine): State<Engine>) -> StatusCode {
    engine.faults().clear();
    StatusCode::NO_CONTENT
}
