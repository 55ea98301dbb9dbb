//! JSON or protobuf, by the headers of a request.

use axum::http::HeaderValue;

#[derive(Clone, Copy)]
pub(super) enum Encoding {
    Json,
    Protobuf,
}

impl Encoding {
    /// By the first media type of a header, without its parameters.
    pub(super) fn of(media_type: &str) -> Option<Self> {
        match media_type.to_ascii_lowercase().as_str() {
            "" | "*/*" | "application/*" | "application/json" => Some(Encoding::Json),
            "application/protobuf" => Some(Encoding::Protobuf),
            _ => None,
        }
    }

    pub(super) fn media_type(self) -> &'static str {
        match self {
            Encoding::Json => "application/json",
            Encoding::Protobuf => "application/protobuf",
        }
    }

    /// Estimates the bytes of JSON from those of protobuf: nearly all of a long one is payload, in base64.
    pub(super) fn bytes(self, encoded_len: usize) -> usize {
        match self {
            Encoding::Json => encoded_len.saturating_add(encoded_len / 3),
            Encoding::Protobuf => encoded_len,
        }
    }
}

pub(super) fn first_media_type(header: Option<&HeaderValue>) -> &str {
    let text = header.and_then(|value| value.to_str().ok()).unwrap_or_default();
    text.split([';', ',']).next().unwrap_or_default().trim()
}
