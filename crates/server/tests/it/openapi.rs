//! What the server says that can be asked is what can be asked.

use leasehold_api::ENDPOINTS;
use serde_json::Value;

use crate::wire::{Running, config};

#[tokio::test]
async fn every_documented_path_is_served_and_no_other() {
    let server = Running::start(config("memory:")).await;
    let answer = server.request(http::Request::get("/"), "/openapi.json", "").await;
    assert_eq!((answer.status, answer.content_type.as_str()), (200, "application/json"));
    let document = answer.json();
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().expect("paths");
    // That each route is documented, with its messages, is checked where it is made.
    assert_eq!(paths.len(), ENDPOINTS.len() + 5);
    for (path, methods) in paths {
        let methods: Vec<_> = methods.as_object().expect("methods").keys().map(String::as_str).collect();
        match methods.as_slice() {
            ["post"] => {
                // No message at all: what is not served is 501, what is served is 455 at the least.
                let answer = server.request(http::Request::post("/"), path, "").await;
                assert_eq!(answer.status, 455, "{path}: {answer:?}");
            }
            ["get"] => {
                let answer = server.request(http::Request::get("/"), path, "").await;
                let documented = document["paths"][path]["get"]["responses"]["200"]["content"].as_object();
                let media_type = documented.expect("content").keys().next().expect("one");
                assert_eq!(answer.status, 200, "{path}");
                assert!(
                    answer.content_type.starts_with(media_type.as_str()),
                    "{path}: {}",
                    answer.content_type
                );
            }
            other => panic!("{path}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn every_reference_of_the_document_leads_somewhere() {
    let server = Running::start(config("memory:")).await;
    let document = server.request(http::Request::get("/"), "/openapi.json", "").await.json();
    let mut references = Vec::new();
    collect(&document, &mut references);
    assert!(references.len() > ENDPOINTS.len() * 2);
    for reference in references {
        let pointer = reference.strip_prefix('#').expect("within the document");
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

fn collect<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match (name.as_str(), field) {
                    ("$ref", Value::String(reference)) => found.push(reference),
                    _ => collect(field, found),
                }
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, found)),
        _ => {}
    }
}
