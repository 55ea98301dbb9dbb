//! The interface, described: for programs and for people.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use leasehold_api::{ENDPOINTS, openapi};
use serde_json::Value;

use super::page::page;
use super::unknown;
use crate::services::Services;

const PAGE: &str = include_str!("api.html");

static DOCUMENT: LazyLock<String> = LazyLock::new(|| openapi().to_string());
static RENDERED: LazyLock<String> = LazyLock::new(|| PAGE.replace("{operations}", &operations(&openapi())));

pub(super) fn routes() -> Router<Services> {
    Router::new()
        .route("/openapi.json", get(document).fallback(unknown))
        .route("/api", get(shown).fallback(unknown))
}

/// `GET /openapi.json`
async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT.as_str())
}

/// `GET /api`: the same to read.
async fn shown() -> Response {
    page(RENDERED.as_str())
}

fn operations(document: &Value) -> String {
    let mut page = String::new();
    for tag in document["tags"].as_array().into_iter().flatten() {
        let (name, about) = (text(&tag["name"]), text(&tag["description"]));
        let operations =
            ENDPOINTS.iter().map(|endpoint| (endpoint, &document["paths"][endpoint.path]["post"]));
        let mut of_tag = operations.filter(|(_, operation)| operation["tags"][0] == tag["name"]).peekable();
        if of_tag.peek().is_none() {
            continue;
        }
        let _ = write!(page, "<h2 id=\"{name}\">{name}</h2>\n<p>{about}</p>\n");
        for (endpoint, operation) in of_tag {
            let id = text(&operation["operationId"]);
            let _ = write!(
                page,
                "<details id=\"{id}\">\n<summary><code>POST {}</code> <span>{}</span></summary>\n",
                endpoint.path,
                text(&operation["summary"]),
            );
            write_message(&mut page, document, "Request", endpoint.request, 0);
            write_message(&mut page, document, "Answer", endpoint.response, 0);
            page.push_str("</details>\n");
        }
    }
    page
}

/// Messages in messages are shown where they are, two deep at most: none of ours is deeper.
fn write_message(page: &mut String, document: &Value, title: &str, full_name: &str, depth: usize) {
    let name = full_name.rsplit(['.', '/']).next().unwrap_or(full_name);
    let schema = &document["components"]["schemas"][name];
    let _ = writeln!(page, "<h3>{title} <code>{name}</code></h3>");
    if let Some(about) = schema["description"].as_str() {
        let _ = writeln!(page, "<p>{}</p>", escaped(about));
    }
    page.push_str("<table>\n");
    let properties = schema["properties"].as_object();
    for (field, property) in properties.into_iter().flatten() {
        let _ = writeln!(
            page,
            "<tr><td><code>{field}</code></td><td>{}</td><td>{}</td></tr>",
            kind(property),
            text(&property["description"])
        );
    }
    page.push_str("</table>\n");
    let nested = properties.into_iter().flatten().filter_map(|(_, property)| reference(property));
    for inner in nested.filter(|_| depth < 2).collect::<Vec<_>>() {
        write_message(page, document, "with", inner, depth + 1);
    }
}

/// What a field or the elements of a list point to.
fn reference(property: &Value) -> Option<&str> {
    property["$ref"].as_str().or_else(|| property["items"]["$ref"].as_str())
}

fn kind(property: &Value) -> String {
    let referred =
        |value: &Value| value["$ref"].as_str().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
    match property["type"].as_str() {
        Some("array") => format!("list of {}", kind(&property["items"])),
        Some("object") => "map of text".to_owned(),
        Some("string") if property["format"] == "date-time" => "instant".to_owned(),
        Some("string") if property["contentEncoding"] == "base64" => "base64".to_owned(),
        Some("string") => "text".to_owned(),
        Some(other) => other.to_owned(),
        None => referred(property).unwrap_or_default(),
    }
}

fn text(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

/// As HTML, with what is between backticks as code.
fn escaped(text: &str) -> String {
    let plain = text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let mut is_code = false;
    let pieces = plain.split('`').map(|piece| {
        let shown = if is_code { format!("<code>{piece}</code>") } else { piece.to_owned() };
        is_code = !is_code;
        shown
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_shows_every_operation_and_loads_nothing_from_elsewhere() {
        for endpoint in ENDPOINTS {
            assert!(RENDERED.contains(&format!("<code>POST {}</code>", endpoint.path)), "{}", endpoint.path);
        }
        for outside in ["http:", "https:", "src=", "<script", "<style", "style=", "{operations}"] {
            assert!(!RENDERED.contains(outside), "{outside}");
        }
    }

    #[test]
    fn what_is_no_markup_is_not_taken_as_such() {
        assert_eq!(escaped("a `b<c` & \"d\""), "a <code>b&lt;c</code> &amp; &quot;d&quot;");
    }
}
