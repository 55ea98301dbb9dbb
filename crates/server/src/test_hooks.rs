//! What tests of clients may do to a server that no client may: hold a queue, and move time. Only in builds with the
//! feature `test-hooks`, and only for callers on the same machine.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::Router;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, State};
use axum::routing::post;
use leasehold_core::{Clock, ManualClock, SystemClock, Timestamp};
use leasehold_queue::{Engine, QueueName};
use serde::Deserialize;

use crate::reply::Reply;

/// The system's clock until it is set for the first time; then it stands still until it is set again.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestClock(Arc<OnceLock<ManualClock>>);

impl TestClock {
    fn set(&self, now: Timestamp) {
        self.0.get_or_init(|| ManualClock::new(now)).set(now);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        self.0.get().map_or_else(|| SystemClock.now(), Clock::now)
    }

    fn instant(&self) -> Instant {
        self.0.get().map_or_else(|| SystemClock.instant(), Clock::instant)
    }
}

/// What the hooks reach into.
#[derive(Clone)]
pub(crate) struct TestHooks {
    pub(crate) engine: Engine,
    pub(crate) clock: TestClock,
}

impl TestHooks {
    pub(crate) fn router(self) -> Router {
        Router::new().route("/pause", post(pause)).route("/clock", post(clock)).with_state(self)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pause {
    queue: String,
    on: bool,
}

/// `POST /pause`: holds or releases the hot requests of a queue.
async fn pause(
    State(hooks): State<TestHooks>,
    form: Result<Form<Pause>, FormRejection>,
) -> Result<(), Reply> {
    let Form(Pause { queue, on }) = form.map_err(refused)?;
    let queue: QueueName = queue.parse().map_err(leasehold_queue::Error::from)?;
    match on {
        true => hooks.engine.pause(&queue).await?,
        false => hooks.engine.unpause(&queue).await?,
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Now {
    now: jiff::Timestamp,
}

/// `POST /clock`: stops the engine's clock at this instant, or moves it there. What is due by then is under way when
/// this is answered.
async fn clock(State(hooks): State<TestHooks>, form: Result<Form<Now>, FormRejection>) -> Result<(), Reply> {
    let Form(Now { now }) = form.map_err(refused)?;
    hooks.clock.set(Timestamp::from_micros(now.as_microsecond()));
    hooks.engine.clock().notify_moved();
    // Every partition has turned once when its figures are there.
    hooks.engine.overview().await;
    Ok(())
}

fn refused(rejection: FormRejection) -> Reply {
    Reply::bad_request(rejection.body_text())
}
