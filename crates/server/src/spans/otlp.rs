use std::time::Duration;

use axum::http::{HeaderMap, Method, StatusCode};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{SpanKind, Status, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider,
};

use super::TracingConfig;
use super::transport::Transport;
use crate::{Error, Result};

/// Spans that may wait to be sent; further ones are dropped.
const SPANS_WAITING: usize = 4_096;

/// How often they are sent.
const SEND_INTERVAL: Duration = Duration::from_secs(2);

/// How long the last ones may take when the server stops.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// Bytes of a name that are told. Names are the client's words: they may be long, and secrets do not belong there.
const NAME_BYTES: usize = 128;

/// Begins spans, if they go anywhere.
#[derive(Clone)]
pub(crate) struct Spans {
    sending: Option<(SdkTracer, SdkTracerProvider)>,
}

impl Spans {
    /// Within a runtime, which then carries the sending.
    pub(crate) fn open(config: Option<&TracingConfig>) -> Result<Self> {
        let Some(config) = config else { return Ok(Spans { sending: None }) };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(&config.endpoint)
            .with_http_client(Transport::new())
            .build()
            .map_err(|_| Error::TracingEndpoint)?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(SPANS_WAITING)
            .with_scheduled_delay(SEND_INTERVAL)
            .build();
        let service = Resource::builder_empty()
            .with_service_name(config.service_name.clone())
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let provider = SdkTracerProvider::builder()
            .with_span_processor(BatchSpanProcessor::builder(exporter).with_batch_config(batches).build())
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(config.sample_ratio))))
            .with_resource(service.build())
            .build();
        Ok(Spans { sending: Some((provider.tracer("leasehold"), provider)) })
    }

    /// A span for an operation, within the client's trace if it told one.
    pub(crate) fn begin(&self, method: &Method, route: &str, headers: &HeaderMap) -> Option<RequestSpan> {
        let (tracer, _) = self.sending.as_ref().filter(|_| *method == Method::POST)?;
        let parent =
            TraceContextPropagator::new().extract_with_context(&Context::new(), &HeaderExtractor(headers));
        let span = tracer
            .span_builder(format!("{method} {route}"))
            .with_kind(SpanKind::Server)
            .with_attributes([
                KeyValue::new("http.request.method", method.to_string()),
                KeyValue::new("http.route", route.to_owned()),
            ])
            .start_with_context(tracer, &parent);
        Some(RequestSpan(Context::new().with_span(span)))
    }

    /// Sends what is left.
    pub(crate) async fn close(self) {
        let Some((_, provider)) = self.sending else { return };
        // It waits for a thread of its own.
        let closed = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(CLOSE_TIMEOUT)).await;
        if !matches!(closed, Ok(Ok(()))) {
            tracing::warn!("the last traces were not sent");
        }
    }
}

/// A request in its trace. Ends with its last clone at the latest.
#[derive(Clone)]
pub(crate) struct RequestSpan(Context);

impl RequestSpan {
    /// What it is about, in the client's words.
    pub(crate) fn about(&self, queue: Option<&str>, namespace: Option<&str>) {
        for (key, name) in [("leasehold.queue", queue), ("leasehold.namespace", namespace)] {
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                let end = name.floor_char_boundary(NAME_BYTES);
                self.0.span().set_attribute(KeyValue::new(key, name[..end].to_owned()));
            }
        }
    }

    pub(crate) fn trace_id(&self) -> String {
        self.0.span().span_context().trace_id().to_string()
    }

    pub(crate) fn end(&self, status: StatusCode) {
        let span = self.0.span();
        span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status.as_u16())));
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            span.set_status(Status::error(""));
        }
        span.end();
    }
}
