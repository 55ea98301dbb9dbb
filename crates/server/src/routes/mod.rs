//! One file per route. What no route takes is answered here.

mod duration;
mod health;
mod metrics;
mod root;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::reply::Reply;
use crate::store::Store;

/// All routes over one store.
pub(crate) fn router(store: Store) -> Router {
    Router::new()
        .route("/", get(root::root).fallback(unknown))
        .route("/health", get(health::health).fallback(unknown))
        .route("/metrics", get(metrics::metrics).fallback(unknown))
        .fallback(unknown)
        .layer(middleware::map_response(no_sniff))
        .layer(middleware::from_fn(duration::observe))
        .with_state(store)
}

async fn unknown(request: Request) -> Response {
    if request.method() == Method::POST {
        Reply::not_implemented(format!("no such method; {}", request.uri().path())).into_response()
    } else {
        Reply::bad_request(format!("http method '{}' not allowed; only POST", request.method()))
            .into_response()
    }
}

async fn no_sniff(mut response: Response) -> Response {
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
