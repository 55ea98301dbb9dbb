//! One file per route. What no route takes is answered here.

mod access;
mod api;
mod authenticate;
mod body;
mod health;
mod lock;
mod metrics;
mod observe;
mod operation;
mod queue;
mod queues;
mod request_id;
mod root;
mod storage;
mod wire;

use axum::Router;
use axum::extract::Request;
use axum::http::Method;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

pub(crate) use self::body::Bodies;
use crate::reply::Reply;
use crate::services::Services;

/// All routes. With an address of its own, what is for operators is not among them.
pub(crate) fn router(services: Services, has_admin_address: bool) -> Router {
    let operators = match has_admin_address {
        true => Router::new(),
        false => for_operators(),
    };
    let routes = Router::new()
        .route("/", get(root::root).fallback(unknown))
        .merge(operators)
        .merge(api::routes())
        .merge(access::routes())
        .merge(lock::routes())
        .merge(queue::routes(services.limits.produce_body_bytes))
        .merge(queues::routes())
        .merge(storage::routes());
    observed(routes, services)
}

/// What is served at the address for operators.
pub(crate) fn admin_router(services: Services) -> Router {
    observed(for_operators(), services)
}

fn for_operators() -> Router<Services> {
    Router::new()
        .route("/health", get(health::health).fallback(unknown))
        .route("/metrics", get(metrics::metrics).fallback(unknown))
}

fn observed(routes: Router<Services>, services: Services) -> Router {
    routes
        .fallback(unknown)
        .layer(middleware::from_fn_with_state(services.clone(), authenticate::authenticate))
        .layer(middleware::from_fn_with_state(services.spans.clone(), observe::observe))
        .with_state(services)
}

async fn unknown(request: Request) -> Response {
    if request.method() == Method::POST {
        Reply::not_implemented(format!("no such method; {}", request.uri().path())).into_response()
    } else {
        Reply::bad_request(format!("http method '{}' not allowed; only POST", request.method()))
            .into_response()
    }
}
