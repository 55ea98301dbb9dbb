use axum::response::Response;

use super::page::page;

const PAGE: &str = include_str!("root.html");

/// `GET /`: says what this is to whoever opens the address in a browser.
pub(super) async fn root() -> Response {
    page(PAGE.replace("{version}", env!("CARGO_PKG_VERSION")))
}
