//! A connection of its own that hears notifications.

use std::future::poll_fn;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Client, Notification};

use crate::{DatabaseError, Pool, Result};

/// Notifications that wait to be read before the connection is given up.
const UNREAD_MAX: usize = 1_024;

/// A session outside the pool's bounds, for `LISTEN`. Dropping it closes the connection.
#[derive(Debug)]
pub struct Listener {
    client: Client,
    notifications: mpsc::Receiver<Notification>,
    reading: JoinHandle<()>,
}

impl Listener {
    /// Connects to where the pool connects. A transaction pooler does not pass notifications on: the pool must
    /// lead to the server itself.
    ///
    /// # Errors
    /// As any connection of the pool.
    pub async fn connect(pool: &Pool) -> Result<Self> {
        let (client, mut connection) = pool.connector().connect_unpooled().await?;
        let (heard, notifications) = mpsc::channel(UNREAD_MAX);
        let reading = tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                let AsyncMessage::Notification(notification) = message else { continue };
                // Waiting here would hold up the answers to statements too. Who cannot keep up loses the connection,
                // and so learns that it missed something.
                if heard.try_send(notification).is_err() {
                    return;
                }
            }
        });
        Ok(Self { client, notifications, reading })
    }

    /// Runs statements without values, separated by semicolons: `LISTEN`, for one.
    ///
    /// # Errors
    /// What the driver or the server said.
    pub async fn batch_execute(&self, sql: &str) -> Result<(), DatabaseError> {
        Ok(self.client.batch_execute(sql).await?)
    }

    /// The session, for statements with values.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The next notification; `None` once the connection is gone. Dropping the call loses nothing.
    pub async fn next(&mut self) -> Option<Notification> {
        self.notifications.recv().await
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.reading.abort();
    }
}
