//! What every operation has in common: the body's limit, its decoding and the answer's encoding.

use std::future::Future;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use prost::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::reply::Reply;
use crate::services::Services;

/// Bytes a body may have; the text is part of the message.
const BODY_BYTES_MAX: usize = 256_000;
const BODY_BYTES_MAX_TEXT: &str = "250.0KiB";

/// A route for one operation. Anything but POST is refused as everywhere.
pub(super) fn operation<Q, A, H, F>(handler: H) -> MethodRouter<Services>
where
    Q: Message + DeserializeOwned + Default + 'static,
    A: Message + Serialize,
    H: Fn(Services, Q) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<A, Reply>> + Send,
{
    post(async move |State(services): State<Services>, request: Request| {
        let (parts, body) = request.into_parts();
        let answered = async {
            let accepted = accepted(&parts.headers)?;
            let body = read(body).await?;
            let answer = handler(services, decode(&parts.headers, &body)?).await?;
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

async fn read(body: Body) -> Result<Bytes, Reply> {
    axum::body::to_bytes(body, BODY_BYTES_MAX).await.map_err(|error| match is_too_long(&error) {
        true => Reply::bad_request(format!("request body exceeds {BODY_BYTES_MAX_TEXT} limit")),
        false => Reply::transport_error("reading the request body failed".to_owned()),
    })
}

fn is_too_long(error: &axum::Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<http_body_util::LengthLimitError>())
}

fn decode<Q: Message + DeserializeOwned + Default>(headers: &HeaderMap, body: &[u8]) -> Result<Q, Reply> {
    let content_type = headers.get(header::CONTENT_TYPE);
    match Encoding::of(first_media_type(content_type)) {
        Some(Encoding::Json) => {
            leasehold_api::from_json(body).map_err(|error| Reply::content_error(error.to_string()))
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
