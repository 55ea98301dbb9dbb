use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// The envelope of every error, in the shape queue clients already read.
#[derive(Debug, Serialize)]
pub(crate) struct Reply {
    code: u16,
    code_text: &'static str,
    message: String,
}

impl Reply {
    pub(crate) fn bad_request(message: String) -> Self {
        Reply { code: 400, code_text: "Bad Request", message }
    }

    pub(crate) fn not_implemented(message: String) -> Self {
        Reply { code: 501, code_text: "Not Implemented", message }
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code).expect("codes above are HTTP statuses");
        (status, Json(self)).into_response()
    }
}
