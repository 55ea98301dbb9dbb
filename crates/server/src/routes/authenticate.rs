use axum::extract::{Request, State};
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::observe::is_caller_logged;
use crate::reply::Reply;
use crate::services::Services;

/// Finds out who asks, before anything else is looked at, the path included. What is read with GET is for everybody.
pub(super) async fn authenticate(
    State(services): State<Services>,
    mut request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let header = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    let caller = match services.access.authenticate(header).await {
        Ok(caller) => caller,
        Err(error) => return Reply::from(error).into_response(),
    };
    let logged = is_caller_logged().then(|| caller.clone());
    request.extensions_mut().insert(caller);
    let mut response = next.run(request).await;
    if let Some(caller) = logged {
        response.extensions_mut().insert(caller);
    }
    response
}
