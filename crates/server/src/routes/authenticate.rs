use axum::extract::{Request, State};
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::reply::Reply;
use crate::services::Services;

/// Finds out who asks, before anything else is looked at, the path included. What is read with GET is for everybody.
pub(super) async fn authenticate(
    State(services): State<Services>,
    mut request: Request,
    next: Next,
) -> Response {
    if request.method() == Method::POST {
        let header = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
        match services.access.authenticate(header).await {
            Ok(caller) => drop(request.extensions_mut().insert(caller)),
            Err(error) => return Reply::from(error).into_response(),
        }
    }
    next.run(request).await
}
