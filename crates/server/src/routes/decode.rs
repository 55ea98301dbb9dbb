//! From a body to what it asks. A list element of two bytes may take hundreds once it is decoded, so elements are counted
//! first: what they will take is a part of the room for bodies.

use axum::http::{HeaderMap, header};
use bytes::Bytes;
use leasehold_api::{About, json_elements, protobuf_elements};
use prost::Message;
use serde::de::DeserializeOwned;
use tokio::sync::OwnedSemaphorePermit;

use super::body::USUAL_BYTES;
use super::encoding::{Encoding, first_media_type};
use super::waiting_places::WaitingPlaces;
use crate::LimitsConfig;
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::services::Services;

/// Elements of a request that are decoded: far above what any operation takes, so that each says by itself what it takes.
const ELEMENTS_MAX: usize = 50_000;

/// A list that grows takes up to twice what its elements take.
const GROWTH: usize = 2;

/// What the body asks, and the room of both.
pub(super) async fn decoded<Q>(
    services: &Services,
    headers: &HeaderMap,
    (body, room): (Bytes, Option<OwnedSemaphorePermit>),
    waiting: Option<&WaitingPlaces>,
) -> Result<(Q, Option<OwnedSemaphorePermit>), Reply>
where
    Q: Message + About + DeserializeOwned + Default + 'static,
{
    let encoding = encoding(headers)?;
    if Q::ELEMENT_BYTES == 0 {
        return Ok((decode(encoding, body)?, room));
    }
    let counted = body.clone();
    let elements = off_workers(body.len(), move || count(encoding, &counted)).await;
    let limit = elements_max(&services.limits);
    if elements > limit {
        return Err(Refusal::TooManyElements { limit }.into());
    }
    let bytes = body.len() + GROWTH * elements * Q::ELEMENT_BYTES;
    let room = services.bodies.cover_decoded(room, bytes, waiting).await?;
    let question = off_workers(bytes, move || decode(encoding, body).map(|question| (question, room)));
    question.await
}

/// What is configured beyond what is usual can be sent.
fn elements_max(limits: &LimitsConfig) -> usize {
    ELEMENTS_MAX.max(2 * limits.produce_items).max(2 * limits.complete_items)
}

fn encoding(headers: &HeaderMap) -> Result<Encoding, Reply> {
    let content_type = headers.get(header::CONTENT_TYPE);
    Encoding::of(first_media_type(content_type)).ok_or_else(|| {
        let given = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
        Reply::content_error(format!(
            "Content-Type header '{given}' is invalid format or unrecognized content type"
        ))
    })
}

fn count(encoding: Encoding, body: &[u8]) -> usize {
    match encoding {
        Encoding::Json => json_elements(body),
        Encoding::Protobuf => protobuf_elements(body),
    }
}

fn decode<Q: Message + DeserializeOwned + Default>(encoding: Encoding, body: Bytes) -> Result<Q, Reply> {
    match encoding {
        Encoding::Json => {
            leasehold_api::from_json(&body).map_err(|error| Reply::content_error(error.to_string()))
        }
        Encoding::Protobuf => Q::decode(body).map_err(|error| Reply::content_error(error.to_string())),
    }
}

/// Long work would keep other requests waiting that share the thread. It goes on when the call is dropped.
async fn off_workers<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes <= USUAL_BYTES {
        return work();
    }
    tokio::task::spawn_blocking(work).await.expect("decoding does not panic")
}
