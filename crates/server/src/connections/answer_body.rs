use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::activity::InFlight;

/// How much of an answer is handed over to HTTP/2 at once. What is handed over is out of our sight until it is taken.
const PIECE_BYTES: usize = 64 * 1024;

/// The body of an answer. Over HTTP/2 in pieces, so that it is seen whether the client takes them.
pub(super) struct AnswerBody {
    body: Body,
    /// Of the body, not handed over yet.
    rest: Bytes,
    in_flight: InFlight,
    /// Over HTTP/1 the connection itself shows it.
    is_http2: bool,
}

impl AnswerBody {
    pub(super) fn new(body: Body, in_flight: InFlight, is_http2: bool) -> Self {
        if is_http2 {
            in_flight.taken();
        }
        AnswerBody { body, rest: Bytes::new(), in_flight, is_http2 }
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        if !this.is_http2 {
            return Pin::new(&mut this.body).poll_frame(context);
        }
        if this.rest.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(context)).map(|next| next.map(Frame::into_data))
            {
                Some(Ok(Ok(data))) => this.rest = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        this.in_flight.taken();
        let piece = this.rest.split_to(this.rest.len().min(PIECE_BYTES));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (body, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http_body_util::BodyExt;

    use super::*;
    use crate::connections::activity::Activity;

    #[tokio::test]
    async fn long_answer_is_handed_over_in_pieces_and_whole() {
        let whole = Bytes::from((0..PIECE_BYTES * 2 + 1).map(|n| n as u8).collect::<Vec<_>>());
        let activity = Arc::new(Activity::default());
        let mut body = AnswerBody::new(Body::from(whole.clone()), activity.begin(), true);
        let mut read = Vec::new();
        while !body.is_end_stream() {
            assert_eq!(body.size_hint().exact(), Some((whole.len() - read.len()) as u64));
            let piece = body.frame().await.expect("there is more").expect("no error");
            let piece = piece.into_data().expect("data");
            assert!(piece.len() <= PIECE_BYTES);
            read.extend_from_slice(&piece);
        }
        assert_eq!(read, whole);
        assert!(body.frame().await.is_none());
    }
}
