//! Proves the backing user to PostgreSQL: no password, clear text, MD5 or SCRAM.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use postgres_protocol::{
    authentication::{
        md5_hash,
        sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256},
    },
    message::frontend,
};

use super::target::BackingUrl;

/// The state of the conversation.
#[derive(Default)]
pub(super) struct Authentication {
    scram: Option<ScramSha256>,
}

impl Authentication {
    /// Answers one request of the server into `out`.
    pub(super) fn answer(
        &mut self,
        mut request: Bytes,
        url: &BackingUrl,
        out: &mut BytesMut,
    ) -> io::Result<()> {
        if request.len() < 4 {
            return Err(io::Error::other("a request for a password that is too short"));
        }
        match request.get_i32() {
            0 => Ok(()),
            3 => frontend::password_message(url.password(), out),
            5 if request.len() == 4 => {
                let salt = [request[0], request[1], request[2], request[3]];
                frontend::password_message(
                    md5_hash(url.user().as_bytes(), url.password(), salt).as_bytes(),
                    out,
                )
            }
            10 => {
                let scram =
                    self.scram.insert(ScramSha256::new(url.password(), ChannelBinding::unsupported()));
                frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), out)
            }
            11 => {
                let scram = self.scram.as_mut().ok_or_else(|| io::Error::other("SCRAM out of order"))?;
                scram.update(&request)?;
                frontend::sasl_response(scram.message(), out)
            }
            12 => self.scram.as_mut().ok_or_else(|| io::Error::other("SCRAM out of order"))?.finish(&request),
            other => Err(io::Error::other(format!("method {other} of authentication is not spoken"))),
        }
    }
}
