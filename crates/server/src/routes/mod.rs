//! One file per route. What no route takes is answered here.

mod access;
mod admit;
mod answer;
mod api;
mod body;
mod browser;
mod decode;
mod encoding;
mod health;
mod lock;
mod long_answers;
mod metrics;
mod observe;
mod operation;
mod pace;
mod page;
mod queue;
mod queues;
mod request_id;
mod room;
mod root;
mod storage;
mod waiting_places;
mod wire;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::Method;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::body::Incoming;
use tower_service::Service;

pub(crate) use self::body::Bodies;
pub(crate) use self::browser::Hosts;
pub(crate) use self::long_answers::LongAnswers;
use self::operation::Operations;
pub(crate) use self::waiting_places::WaitingPlaces;
use crate::reply::Reply;
use crate::services::Services;

/// What is served at an address. Operations have fixed paths and are nearly all that is asked for, so they are found in
/// a table: a router with its layers takes longer than most of them.
#[derive(Clone)]
pub(crate) struct Routes {
    operations: Arc<Operations>,
    /// Pages, and what nobody takes.
    pages: Router,
}

impl Routes {
    /// All of them. With an address of its own, what is for operators is not among them.
    pub(crate) fn all(services: Services, has_admin_address: bool) -> Self {
        let operators = match has_admin_address {
            true => Router::new(),
            false => for_operators(services.metrics_enabled),
        };
        let pages = Router::new()
            .route("/", get(root::root).fallback(unknown))
            .route("/page.css", get(page::style).fallback(unknown))
            .merge(operators)
            .merge(api::routes());
        let operations = Operations::new(services.clone())
            .with(access::operations)
            .with(lock::operations)
            .with(queue::operations)
            .with(queues::operations)
            .with(storage::operations);
        Routes { operations: Arc::new(operations), pages: observed(pages, services) }
    }

    /// What is served at the address for operators.
    pub(crate) fn for_operators(services: Services) -> Self {
        Routes {
            operations: Arc::new(Operations::new(services.clone())),
            pages: observed(for_operators(services.metrics_enabled), services),
        }
    }

    /// These pages alone, seen by nobody.
    #[cfg(feature = "test-hooks")]
    pub(crate) fn unobserved(pages: Router, services: Services) -> Self {
        let pages = pages.layer(middleware::from_fn_with_state(services.clone(), admit::page_admitted));
        Routes { operations: Arc::new(Operations::new(services)), pages }
    }

    /// `waiting` is for a request that shares its connection with others. Dropping it leaves a wait; what is being written
    /// is written.
    pub(crate) async fn answer(
        mut self,
        request: Request<Incoming>,
        waiting: Option<WaitingPlaces>,
    ) -> Response {
        match self.operations.find(request.method(), request.uri().path()) {
            Some(operation) => operation.answer(self.operations.services(), request, waiting).await,
            None => {
                let Ok(response) = self.pages.call(request.map(Body::new)).await;
                response
            }
        }
    }
}

fn for_operators(metrics_enabled: bool) -> Router<Services> {
    let metrics = match metrics_enabled {
        true => get(metrics::metrics),
        false => get(metrics::disabled),
    };
    Router::new()
        .route("/health", get(health::health).fallback(unknown))
        .route("/metrics", metrics.fallback(unknown))
}

fn observed(pages: Router<Services>, services: Services) -> Router {
    pages
        .fallback(unknown)
        .layer(middleware::from_fn_with_state(services.clone(), admit::page_admitted))
        .layer(middleware::from_fn_with_state(services.clone(), observe::observed))
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
