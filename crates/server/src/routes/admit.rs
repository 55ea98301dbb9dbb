use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use leasehold_access::{ANONYMOUS, Principal};

use super::browser::Envelope;
use crate::reply::Reply;
use crate::services::Services;

/// Served whatever a request says of hosts: a probe may come by any name, and the answer has nothing but that the server
/// is healthy.
const HEALTH: &str = "/health";

/// How long a page waits for whether the server takes requests without a key. A store that is down must not keep
/// `/metrics` back.
const PAGE_TIMEOUT: Duration = Duration::from_secs(1);

/// Finds out who asks for an operation, before anything else is looked at. No page of another origin asks.
pub(super) async fn identify(services: &Services, request: Envelope<'_>) -> Result<Principal, Reply> {
    services.hosts.refuse_cross_site(request)?;
    authenticate(services, request.headers).await
}

/// Refuses the body of one who may do nothing, and what a page could send that has the server's address under a name of
/// its own: such a page has no key.
pub(super) async fn admit(
    services: &Services,
    path: &str,
    request: Envelope<'_>,
    caller: &Principal,
) -> Result<(), Reply> {
    if !services.access.is_bound(caller).await? {
        services.access.audit_unread(caller, path);
        return Err(leasehold_access::Error::Denied.into());
    }
    if is_anonymous(caller) {
        services.hosts.refuse_unknown(request)?;
    }
    Ok(())
}

async fn authenticate(services: &Services, headers: &HeaderMap) -> Result<Principal, Reply> {
    let header = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes());
    Ok(services.access.authenticate(header).await?)
}

fn is_anonymous(caller: &Principal) -> bool {
    caller.user_id() == ANONYMOUS
}

/// The same where there is no operation: only authorized callers learn that a path does not exist. What is
/// read with GET needs no key.
pub(super) async fn page_admitted(
    State(services): State<Services>,
    request: Request,
    next: Next,
) -> Response {
    let envelope = Envelope { method: request.method(), uri: request.uri(), headers: request.headers() };
    match admit_to_page(&services, envelope).await {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    }
}

async fn admit_to_page(services: &Services, request: Envelope<'_>) -> Result<(), Reply> {
    services.hosts.refuse_cross_site(request)?;
    let caller = match *request.method {
        Method::POST => authenticate(services, request.headers).await?,
        _ => Principal::anonymous(),
    };
    let Err(unknown_host) = services.hosts.refuse_unknown(request) else { return Ok(()) };
    if request.uri.path() == HEALTH || !is_anonymous(&caller) {
        return Ok(());
    }
    match tokio::time::timeout(PAGE_TIMEOUT, services.access.is_bound(&caller)).await {
        Ok(Ok(true)) => Err(unknown_host.into()),
        _ => Ok(()),
    }
}
