//! What every operation has in common: the body's limit, its decoding and the answer's encoding.

use std::collections::BTreeMap;
use std::future::Future;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use bytes::Bytes;
use leasehold_access::Principal;
use leasehold_api::{About, reply};
use prost::{Message, Name};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::body::BodyLimit;
use crate::reply::Reply;
use crate::services::Services;
use crate::spans::RequestSpan;

/// The answer of an operation that has nothing to say but that it was done.
pub(super) type Done = reply::Reply;

/// It was done.
pub(super) const DONE: Done =
    Done { code: 200, code_text: String::new(), message: String::new(), details: BTreeMap::new() };

/// Routes that are operations.
pub(super) trait Operations {
    /// One operation at its path, which the interface's document has with the same messages.
    fn operation<Q, A, H, F>(self, path: &'static str, limit: BodyLimit, handler: H) -> Self
    where
        Q: Message + Name + About + DeserializeOwned + Default + 'static,
        A: Message + Name + Serialize,
        H: Fn(Services, Principal, Q) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<A, Reply>> + Send;
}

impl Operations for Router<Services> {
    fn operation<Q, A, H, F>(self, path: &'static str, limit: BodyLimit, handler: H) -> Self
    where
        Q: Message + Name + About + DeserializeOwned + Default + 'static,
        A: Message + Name + Serialize,
        H: Fn(Services, Principal, Q) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<A, Reply>> + Send,
    {
        let documented = leasehold_api::endpoint(path).map(|found| (found.request, found.response));
        // Every test that starts a server fails otherwise.
        assert_eq!(documented, Some((&*Q::full_name(), &*A::full_name())), "{path} is not as documented");
        self.route(path, operation(limit, handler))
    }
}

/// Anything but POST is refused as everywhere.
fn operation<Q, A, H, F>(limit: BodyLimit, handler: H) -> MethodRouter<Services>
where
    Q: Message + About + DeserializeOwned + Default + 'static,
    A: Message + Serialize,
    H: Fn(Services, Principal, Q) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<A, Reply>> + Send,
{
    post(async move |State(services): State<Services>, request: Request| {
        let (mut parts, body) = request.into_parts();
        let caller = parts.extensions.remove().unwrap_or_else(Principal::anonymous);
        let answered = async {
            let accepted = accepted(&parts.headers)?;
            // Its room is given back when the operation has ended: until then the items are in memory.
            let (body, _room) = services.bodies.read(body, limit).await?;
            let question: Q = decode(&parts.headers, body)?;
            if let Some(span) = parts.extensions.get::<RequestSpan>() {
                span.about(question.queue(), question.namespace());
            }
            let answer = handler(services, caller, question).await?;
            Ok::<Response, Reply>(encode(accepted, &answer))
        };
        answered.await.unwrap_or_else(Reply::into_response)
    })
    .fallback(super::unknown)
}

#[derive(Clone, Copy)]
enum Encoding {
    Json,
    Protobuf,
}

impl Encoding {
    /// By the first media type of a header, without its parameters.
    fn of(media_type: &str) -> Option<Self> {
        match media_type.to_ascii_lowercase().as_str() {
            "" | "*/*" | "application/*" | "application/json" => Some(Encoding::Json),
            "application/protobuf" => Some(Encoding::Protobuf),
            _ => None,
        }
    }
}

fn first_media_type(header: Option<&HeaderValue>) -> &str {
    let text = header.and_then(|value| value.to_str().ok()).unwrap_or_default();
    text.split([';', ',']).next().unwrap_or_default().trim()
}

/// Asked before the operation runs: a client that cannot read the answer should not cause anything.
fn accepted(headers: &HeaderMap) -> Result<Encoding, Reply> {
    let media_type = first_media_type(headers.get(header::ACCEPT));
    Encoding::of(media_type).ok_or_else(|| {
        Reply::content_error(format!(
            "Accept header '{media_type}' is invalid format or unrecognized content type, only \
             [application/json,application/protobuf] are supported by this method"
        ))
    })
}

fn decode<Q: Message + DeserializeOwned + Default>(headers: &HeaderMap, body: Bytes) -> Result<Q, Reply> {
    let content_type = headers.get(header::CONTENT_TYPE);
    match Encoding::of(first_media_type(content_type)) {
        Some(Encoding::Json) => {
            leasehold_api::from_json(&body).map_err(|error| Reply::content_error(error.to_string()))
        }
        Some(Encoding::Protobuf) => Q::decode(body).map_err(|error| Reply::content_error(error.to_string())),
        None => {
            let given = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
            Err(Reply::content_error(format!(
                "Content-Type header '{given}' is invalid format or unrecognized content type"
            )))
        }
    }
}

fn encode<A: Message + Serialize>(encoding: Encoding, answer: &A) -> Response {
    match encoding {
        Encoding::Json => {
            let body = serde_json::to_vec(answer).expect("messages have only text keys");
            ([(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
        Encoding::Protobuf => {
            ([(header::CONTENT_TYPE, "application/protobuf")], answer.encode_to_vec()).into_response()
        }
    }
}
