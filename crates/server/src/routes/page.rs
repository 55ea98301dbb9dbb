//! Pages for people: they run nothing, load nothing but their style, and are shown in no frame.

use axum::body::Body;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};

const POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A page of this markup.
pub(super) fn page(markup: impl Into<Body>) -> Response {
    ([(header::CONTENT_SECURITY_POLICY, POLICY)], Html(markup.into())).into_response()
}

/// `GET /page.css`
pub(super) async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css")], include_str!("page.css")).into_response()
}
