//! What every operation has in common: who asks, the body's limit, its decoding and the answer's encoding.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use leasehold_access::Principal;
use leasehold_api::{About, reply};
use metrics::Histogram;
use prost::{Message, Name};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::admit::{admit, identify};
use super::answer::{Answer, held};
use super::body::BodyLimit;
use super::browser::Envelope;
use super::decode::decoded;
use super::encoding::{Encoding, first_media_type};
use super::observe::{self, Observation, is_caller_logged};
use super::waiting_places::WaitingPlaces;
use crate::reply::Reply;
use crate::services::Services;
use crate::spans::RequestSpan;

/// The answer of an operation that has nothing to say but that it was done.
pub(super) type Done = reply::Reply;

/// It was done.
pub(super) const DONE: Done =
    Done { code: 200, code_text: String::new(), message: String::new(), details: BTreeMap::new() };

/// Operations by their paths.
pub(super) struct Operations {
    by_path: HashMap<&'static str, Operation>,
    services: Services,
}

/// What is done at one path.
pub(super) struct Operation {
    path: &'static str,
    run: Box<dyn Fn(Services, Asked) -> Running + Send + Sync>,
    /// Made with the first request: what nobody asks for has no figures.
    durations: OnceLock<Histogram>,
}

/// A request, and who makes it.
struct Asked {
    caller: Principal,
    headers: HeaderMap,
    body: Incoming,
    waiting: Option<WaitingPlaces>,
    span: Option<RequestSpan>,
}

type Running = Pin<Box<dyn Future<Output = Response> + Send>>;

impl Operations {
    /// None yet.
    pub(super) fn new(services: Services) -> Self {
        Operations { by_path: HashMap::new(), services }
    }

    pub(super) fn services(&self) -> &Services {
        &self.services
    }

    /// Those of a noun as well.
    pub(super) fn with(self, add: impl FnOnce(Self) -> Self) -> Self {
        add(self)
    }

    /// One more, at its path, which the interface's document has with the same messages.
    pub(super) fn operation<Q, A, H, F>(self, path: &'static str, limit: BodyLimit, handler: H) -> Self
    where
        Q: Message + Name + About + DeserializeOwned + Default + 'static,
        A: Answer,
        H: Fn(Services, Principal, Q) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<A, Reply>> + Send,
    {
        self.add(path, limit, Length::Usual, handler)
    }

    /// As [`Operations::operation`], for what changes nothing and may be answered with more than there is room for.
    pub(super) fn long_operation<Q, A, H, F>(self, path: &'static str, limit: BodyLimit, handler: H) -> Self
    where
        Q: Message + Name + About + DeserializeOwned + Default + 'static,
        A: Answer,
        H: Fn(Services, Principal, Q) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<A, Reply>> + Send,
    {
        self.add(path, limit, Length::AsAsked, handler)
    }

    fn add<Q, A, H, F>(mut self, path: &'static str, limit: BodyLimit, length: Length, handler: H) -> Self
    where
        Q: Message + Name + About + DeserializeOwned + Default + 'static,
        A: Answer,
        H: Fn(Services, Principal, Q) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<A, Reply>> + Send,
    {
        let documented = leasehold_api::endpoint(path).map(|found| (found.request, found.response));
        // Every test that starts a server fails otherwise.
        assert_eq!(
            documented,
            Some((&*Q::full_name(), &*A::Message::full_name())),
            "{path} is not as documented"
        );
        let run = move |services: Services, asked: Asked| -> Running {
            let handler = handler.clone();
            Box::pin(async move {
                answered(services, asked, limit, length, handler).await.unwrap_or_else(Reply::into_response)
            })
        };
        self.by_path.insert(path, Operation { path, run: Box::new(run), durations: OnceLock::new() });
        self
    }

    /// The operation that is asked for. Anything but POST is refused as everywhere.
    pub(super) fn find(&self, method: &Method, path: &str) -> Option<&Operation> {
        if *method == Method::POST { self.by_path.get(path) } else { None }
    }
}

impl Operation {
    pub(super) async fn answer(
        &self,
        services: &Services,
        request: Request<Incoming>,
        waiting: Option<WaitingPlaces>,
    ) -> Response {
        let (parts, body) = request.into_parts();
        let observation = Observation::begin(&services.spans, &parts.method, self.path, &parts.headers);
        let envelope = Envelope { method: &parts.method, uri: &parts.uri, headers: &parts.headers };
        let (mut response, caller) = match identify(services, envelope).await {
            Ok(caller) => {
                let logged = is_caller_logged().then(|| caller.clone());
                let response = match admit(services, self.path, envelope, &caller).await {
                    Ok(()) => {
                        let (headers, span) = (parts.headers, observation.span.clone());
                        (self.run)(services.clone(), Asked { caller, headers, body, waiting, span }).await
                    }
                    Err(refused) => refused.into_response(),
                };
                (response, logged)
            }
            Err(refused) => (refused.into_response(), None),
        };
        let durations = self.durations.get_or_init(|| observe::durations(self.path));
        observation.end(&parts.method, self.path, durations, caller.as_ref(), &mut response);
        response
    }
}

async fn answered<Q, A, H, F>(
    services: Services,
    asked: Asked,
    limit: BodyLimit,
    length: Length,
    handler: H,
) -> Result<Response, Reply>
where
    Q: Message + About + DeserializeOwned + Default + 'static,
    A: Answer,
    H: Fn(Services, Principal, Q) -> F,
    F: Future<Output = Result<A, Reply>>,
{
    let accepted = accepted(&asked.headers)?;
    // Its room is given back when the operation has ended: until then the items are in memory.
    let read = services.bodies.read(asked.body, limit, asked.waiting.as_ref()).await?;
    let (question, _room) = decoded::<Q>(&services, &asked.headers, read, asked.waiting.as_ref()).await?;
    if let Some(span) = &asked.span {
        span.about(question.queue(), question.namespace());
    }
    let long_answers = match length {
        Length::Usual => None,
        Length::AsAsked => Some(services.long_answers.clone()),
    };
    let reserved = match &long_answers {
        Some(long_answers) => Some((long_answers, long_answers.reserve().await?)),
        None => None,
    };
    let (answer, room) = handler(services, asked.caller, question).await?.into_parts();
    let share = match reserved {
        Some((long_answers, share)) => Some(long_answers.fit(share, accepted.bytes(answer.encoded_len()))?),
        None => None,
    };
    let text = encode(accepted, &answer);
    Ok(match (share, room) {
        (None, None) => response(accepted, text),
        taken => response(accepted, held(text, taken)),
    })
}

/// How long the answers of an operation may be.
#[derive(Clone, Copy)]
enum Length {
    /// Bounded by what the operation does.
    Usual,
    /// By nothing but what is stored.
    AsAsked,
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

fn encode<A: Message + Serialize>(encoding: Encoding, answer: &A) -> Vec<u8> {
    match encoding {
        Encoding::Json => serde_json::to_vec(answer).expect("messages have only text keys"),
        Encoding::Protobuf => answer.encode_to_vec(),
    }
}

fn response(encoding: Encoding, body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, encoding.media_type())], body.into()).into_response()
}
