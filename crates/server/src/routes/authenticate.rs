use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use leasehold_access::Principal;

use crate::reply::Reply;
use crate::services::Services;

/// Finds out who asks, before anything else is looked at.
pub(super) async fn authenticate(services: &Services, headers: &HeaderMap) -> Result<Principal, Reply> {
    let header = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes());
    Ok(services.access.authenticate(header).await?)
}

/// The same where there is no operation: also a path that does not exist is told to those only who may ask. What is
/// read with GET is for everybody.
pub(super) async fn authenticated(
    State(services): State<Services>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() == Method::POST
        && let Err(refused) = authenticate(&services, request.headers()).await
    {
        return refused.into_response();
    }
    next.run(request).await
}
