//! Traces: a span per request, sent to a collector. In builds without the feature `otlp` there are none.

mod config;
#[cfg(not(feature = "otlp"))]
mod none;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(feature = "otlp")]
mod transport;

pub use self::config::{TracingConfig, TracingOptions};
#[cfg(not(feature = "otlp"))]
pub(crate) use self::none::{RequestSpan, Spans};
#[cfg(feature = "otlp")]
pub(crate) use self::otlp::{RequestSpan, Spans};
