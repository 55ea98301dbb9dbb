//! Who may do what: a file per noun. Each parses once, makes one call down, and answers.

mod api_keys;
mod namespaces;
mod role_bindings;
mod roles;
mod users;

use axum::Router;
use leasehold_access::Page;

use super::body::BodyLimit;
use super::operation::operation;
use crate::services::Services;

pub(super) fn routes() -> Router<Services> {
    let usual = BodyLimit::USUAL;
    Router::new()
        .route("/v1/namespaces.create", operation(usual, namespaces::create))
        .route("/v1/namespaces.update", operation(usual, namespaces::update))
        .route("/v1/namespaces.list", operation(usual, namespaces::list))
        .route("/v1/namespaces.delete", operation(usual, namespaces::delete))
        .route("/v1/users.create", operation(usual, users::create))
        .route("/v1/users.list", operation(usual, users::list))
        .route("/v1/users.delete", operation(usual, users::delete))
        .route("/v1/apikeys.create", operation(usual, api_keys::create))
        .route("/v1/apikeys.list", operation(usual, api_keys::list))
        .route("/v1/apikeys.delete", operation(usual, api_keys::delete))
        .route("/v1/roles.create", operation(usual, roles::create))
        .route("/v1/roles.update", operation(usual, roles::update))
        .route("/v1/roles.list", operation(usual, roles::list))
        .route("/v1/roles.delete", operation(usual, roles::delete))
        .route("/v1/rolebindings.create", operation(usual, role_bindings::create))
        .route("/v1/rolebindings.list", operation(usual, role_bindings::list))
        .route("/v1/rolebindings.delete", operation(usual, role_bindings::delete))
}

fn page(pivot: String, limit: i32) -> Page {
    Page { pivot, limit }
}
