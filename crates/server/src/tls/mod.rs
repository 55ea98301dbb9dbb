//! TLS in front of HTTP: the certificate, whom of the clients to believe, and both anew when their files change.

mod config;
mod files;

use std::convert::Infallible;
use std::sync::{Arc, RwLock};

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::MissedTickBehavior;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub use self::config::{ClientAuth, TlsConfig, TlsOptions, TlsVersion};
use self::files::Stamp;
use crate::Result;

/// What handshakes are made with.
pub(crate) struct Tls {
    config: TlsConfig,
    current: RwLock<Arc<ServerConfig>>,
    /// The files as they were when they were read.
    read: Stamp,
}

impl Tls {
    /// Reads the files.
    pub(crate) fn open(config: &TlsConfig) -> Result<Self> {
        // Before they are read: what changes while they are is read again.
        let read = Stamp::of(config);
        let current = RwLock::new(Arc::new(files::load(config)?));
        Ok(Tls { config: config.clone(), current, read })
    }

    /// None if the client does not go through with it.
    pub(crate) async fn handshake<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
    ) -> Option<TlsStream<S>> {
        let current = self.current.read().expect("nobody panics while holding it").clone();
        match TlsAcceptor::from(current).accept(stream).await {
            Ok(stream) => Some(stream),
            Err(error) => {
                tracing::debug!(%error, "a TLS handshake failed");
                None
            }
        }
    }

    /// Looks at the files until dropped. What cannot be used is told once, and what is in use stays.
    pub(crate) async fn reload(self: Arc<Self>) -> Infallible {
        let (mut used, mut refused) = (self.read.clone(), None);
        let mut ticks = tokio::time::interval(self.config.reload_interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let looking = self.clone();
            let used_now = used.clone();
            // Files may be on a slow disk.
            let looked = tokio::task::spawn_blocking(move || {
                let found = Stamp::of(&looking.config);
                (found != used_now).then(|| (files::load(&looking.config), found))
            });
            match looked.await {
                Ok(Some((Ok(loaded), found))) => {
                    *self.current.write().expect("nobody panics while holding it") = Arc::new(loaded);
                    (used, refused) = (found, None);
                    tracing::info!("the TLS certificate was read anew");
                }
                // Tried again at every look: the files may be half-way through a change.
                Ok(Some((Err(error), found))) if refused.as_ref() != Some(&found) => {
                    let code = error.code();
                    tracing::warn!(code, %error, "the new TLS files cannot be used; the old ones stay in use");
                    refused = Some(found);
                }
                _ => {}
            }
        }
    }
}
