//! Who may do what: a file per noun. Each parses once, makes one call down, and answers.

mod api_keys;
mod namespaces;
mod role_bindings;
mod roles;
mod users;

use leasehold_access::Page;

use super::body::BodyLimit;
use super::operation::Operations;

pub(super) fn operations(operations: Operations) -> Operations {
    let usual = BodyLimit::USUAL;
    operations
        .operation("/v1/namespaces.create", usual, namespaces::create)
        .operation("/v1/namespaces.update", usual, namespaces::update)
        .operation("/v1/namespaces.list", usual, namespaces::list)
        .operation("/v1/namespaces.delete", usual, namespaces::delete)
        .operation("/v1/users.create", usual, users::create)
        .operation("/v1/users.list", usual, users::list)
        .operation("/v1/users.delete", usual, users::delete)
        .operation("/v1/apikeys.create", usual, api_keys::create)
        .operation("/v1/apikeys.list", usual, api_keys::list)
        .operation("/v1/apikeys.delete", usual, api_keys::delete)
        .operation("/v1/roles.create", usual, roles::create)
        .operation("/v1/roles.update", usual, roles::update)
        .operation("/v1/roles.list", usual, roles::list)
        .operation("/v1/roles.delete", usual, roles::delete)
        .operation("/v1/rolebindings.create", usual, role_bindings::create)
        .operation("/v1/rolebindings.list", usual, role_bindings::list)
        .operation("/v1/rolebindings.delete", usual, role_bindings::delete)
}

fn page(pivot: String, limit: i32) -> Page {
    Page { pivot, limit }
}
