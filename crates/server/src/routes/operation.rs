//! What every operation has in common: the body's limit, its decoding and the answer's encoding.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use leasehold_access::Principal;
use leasehold_api::reply;
use prost::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::reply::Reply;
use crate::services::Services;

/// The answer of an operation that has nothing to say but that it was done.
pub(super) type Done = reply::Reply;

/// It was done.
pub(super) const DONE: Done =
    Done { code: 200, code_text: String::new(), message: String::new(), details: BTreeMap::new() };

/// How many bytes a body may have.
#[derive(Clone, Copy)]
pub(super) struct BodyLimit(usize);

impl BodyLimit {
    /// For what has no reason to be longer or shorter.
    pub(super) const USUAL: Self = Self(256_000);

    pub(super) const fn of(bytes: usize) -> Self {
        Self(bytes)
    }
}

/// As clients are told: in binary units where the number is one, else in decimal ones.
impl fmt::Display for BodyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, units) = match self.0 % 1024 {
            0 => (1024.0, ["KiB", "MiB"]),
            _ => (1000.0, ["KB", "MB"]),
        };
        #[expect(clippy::cast_precision_loss, reason = "limits are far below where that begins")]
        let bytes = self.0 as f64;
        match bytes / base {
            below if below < 1.0 => write!(f, "{}B", self.0),
            kilo if kilo < base => write!(f, "{kilo:.1}{}", units[0]),
            kilo => write!(f, "{:.1}{}", kilo / base, units[1]),
        }
    }
}

/// A route for one operation. Anything but POST is refused as everywhere.
pub(super) fn operation<Q, A, H, F>(limit: BodyLimit, handler: H) -> MethodRouter<Services>
where
    Q: Message + DeserializeOwned + Default + 'static,
    A: Message + Serialize,
    H: Fn(Services, Principal, Q) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<A, Reply>> + Send,
{
    post(async move |State(services): State<Services>, request: Request| {
        let (mut parts, body) = request.into_parts();
        let caller = parts.extensions.remove().unwrap_or_else(Principal::anonymous);
        let answered = async {
            let accepted = accepted(&parts.headers)?;
            let body = read(body, limit).await?;
            let answer = handler(services, caller, decode(&parts.headers, body)?).await?;
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

async fn read(body: Body, limit: BodyLimit) -> Result<Bytes, Reply> {
    axum::body::to_bytes(body, limit.0).await.map_err(|error| match is_too_long(&error) {
        true => Reply::bad_request(format!("request body exceeds {limit} limit")),
        false => Reply::transport_error("reading the request body failed".to_owned()),
    })
}

fn is_too_long(error: &axum::Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<http_body_util::LengthLimitError>())
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

#[cfg(test)]
mod tests {
    use super::BodyLimit;

    #[test]
    fn limits_are_told_in_the_known_words() {
        for (bytes, text) in [
            (512, "512B"),
            (256_000, "250.0KiB"),
            (512_000, "500.0KiB"),
            (5_000_000, "5.0MB"),
            (64_000_000, "61.0MiB"),
        ] {
            assert_eq!(BodyLimit::of(bytes).to_string(), text);
        }
    }
}
