//! The interface as an OpenAPI 3.1 document: the endpoints of a table, the messages of the `.proto` files. Nothing of it
//! is written twice, so that it cannot say something else than the server does.

mod endpoints;
mod schemas;

use serde_json::{Map, Value, json};

pub use self::endpoints::{ENDPOINTS, Endpoint, endpoint};

/// What every error has in common.
const ERRORS: &str = "An error. `code` is the HTTP status: 400 the request is wrong, or its condition does not hold \
(such as an item that is not leased); 401 no or a bad key; 403 not permitted; 453 it cannot succeed, or its outcome is \
unknown; 454 nothing happened, try again; 455 the content type or the body cannot be read; 500 a failure of the server; \
501 no such method; 512 the body did not come. `details.error` is a stable code.";

/// The document.
#[must_use]
pub fn openapi() -> Value {
    let mut paths: Map<String, Value> =
        ENDPOINTS.iter().map(|endpoint| (endpoint.path.to_owned(), operation(endpoint))).collect();
    for (path, summary, media_type) in [
        ("/", "What this is, to a browser.", "text/html"),
        ("/health", "Whether the store answers.", "application/health+json"),
        ("/metrics", "Figures, as Prometheus text.", "text/plain"),
        ("/openapi.json", "This document.", "application/json"),
        ("/api", "This document for people.", "text/html"),
    ] {
        paths.insert(path.to_owned(), page(summary, media_type, path == "/health"));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Leasehold",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
            "description": "Locks and queues with fences over HTTP. Every operation is a POST of one message, as JSON \
                or as protobuf (`Content-Type`), answered by one message, as JSON or as protobuf (`Accept`). In JSON, \
                fields at their default are left out, `null` is the default, and a field may also be sent under its \
                protobuf name; unknown fields are refused. Durations are text such as `1m30s`.",
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"apiKey": []}],
        "tags": endpoints::TAGS.iter().map(|(name, about)| json!({"name": name, "description": about})).collect::<Value>(),
        "paths": paths,
        "components": {
            "schemas": schemas::schemas(),
            "securitySchemes": {
                "apiKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key; asked for where the server has `auth-backend: {driver: internal}`.",
                },
            },
        },
    })
}

fn operation(endpoint: &Endpoint) -> Value {
    let name = endpoint.path.trim_start_matches("/v1/");
    json!({"post": {
        "operationId": name.replace('/', "."),
        "tags": [endpoint.tag()],
        "summary": endpoint.summary,
        "requestBody": {"required": true, "content": content(endpoint.request)},
        "responses": {
            "200": {"description": "Done.", "content": content(endpoint.response)},
            "default": {"description": ERRORS, "content": content("duh.v1.Reply")},
        },
    }})
}

fn content(message: &str) -> Value {
    json!({
        "application/json": {"schema": schemas::reference(message)},
        // In 3.1 the media type alone says that it is binary.
        "application/protobuf": {"x-protobuf-message": message},
    })
}

fn page(summary: &str, media_type: &str, may_fail: bool) -> Value {
    let mut responses = json!({"200": {"description": summary, "content": {media_type: {}}}});
    if may_fail {
        responses["503"] = json!({"description": "It does not.", "content": {media_type: {}}});
    }
    json!({"get": {"tags": ["server"], "summary": summary, "security": [{}], "responses": responses}})
}
