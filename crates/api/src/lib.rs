//! The messages of the HTTP interface, each as protobuf and as JSON. No logic: the server and the client translate
//! them at their edges.

mod about;
mod elements;
mod every_message;
mod json;
mod lock_info;
mod openapi;

pub use about::About;
pub use elements::{json_elements, protobuf_elements};
pub use json::from_json;
pub use lock_info::Shown;
pub use openapi::{ENDPOINTS, Endpoint, endpoint, openapi};

/// The envelope of errors.
#[allow(missing_docs, reason = "generated; the .proto file says what there is to say")]
pub mod reply {
    include!(concat!(env!("OUT_DIR"), "/duh.v1.rs"));
}

/// Locks: `POST /v1/lock.<verb>`.
#[allow(missing_docs, reason = "generated; the .proto file says what there is to say")]
pub mod lock {
    include!(concat!(env!("OUT_DIR"), "/leasehold.v1.rs"));
}

/// Queues, their storage, and who may use them, in Querator's messages: `POST /v1/queue.<verb>` and so on.
#[allow(missing_docs, reason = "generated; the .proto files say what there is to say")]
pub mod queue {
    include!(concat!(env!("OUT_DIR"), "/querator.rs"));
}
