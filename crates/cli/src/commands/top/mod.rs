//! A live table of queues and locks.

mod frame;
mod screen;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use leasehold_client::{Client, Endpoint, HttpBackend};
use leasehold_core::duration;
use leasehold_locks::{Config, ListRequest, Locks};
use tokio::signal::unix::{SignalKind, signal};

use self::frame::{Counts, Frame, Held};
use self::screen::Screen;
use super::block_on;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::{Done, written};
use crate::prometheus;

/// Watch queues and locks: what is ready, leased and scheduled, how old the oldest is, what comes and goes, who holds.
///
/// On a terminal the table is drawn anew until Ctrl-C; elsewhere a frame is printed each time. Queues are shown while the
/// server has them open: from their first use.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Top {
    /// How long between two looks, and what rates are measured over
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = interval)]
    interval: Duration,

    /// Look twice, one interval apart, print one frame and end
    #[arg(long)]
    once: bool,

    /// What comes first: most of it, or the first by name
    #[arg(long, value_enum, default_value_t = Sort::Ready)]
    sort: Sort,

    /// Queues shown at most; on a terminal what there is room for
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: usize,

    /// Locks listed at most; 0 only counts them
    #[arg(long, value_name = "N", default_value_t = 10)]
    locks: usize,

    /// Where /metrics is served, if not at the endpoint: the server's admin-address
    #[arg(long, value_name = "URL")]
    admin_endpoint: Option<String>,

    /// Print a line of JSON per frame
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    connection: Connection,
}

const EXAMPLES: &str = "\
Examples:
  leasehold top --sort oldest
  leasehold top --once --json | jq '.queues[] | select(.oldest_seconds > 60) | .queue'";

/// The column that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Sort {
    Name,
    Ready,
    Leased,
    Scheduled,
    Oldest,
    In,
    Out,
    Failing,
}

/// A server counts what it shows; asking much more often would be load, not a look.
const INTERVAL_MIN: Duration = Duration::from_millis(100);

fn interval(text: &str) -> Result<Duration, String> {
    let interval = duration::parse(text).map_err(|error| error.to_string())?;
    match interval >= INTERVAL_MIN {
        true => Ok(interval),
        false => Err("must be 100ms at least".to_owned()),
    }
}

/// Of a frame on a terminal, besides queues and locks: title, headings, counts, and the lines between them.
const OTHER_LINES: usize = 7;

/// Holds that one list may have.
const HOLDS_MAX: usize = 1_000;

impl Top {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        block_on(self.watch())
    }

    async fn watch(self) -> Result<Done, Failure> {
        // Listened for before the screen is taken: it must be given back.
        let mut interrupt = signal(SignalKind::interrupt()).map_err(Failure::runtime)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(Failure::runtime)?;
        let mut hangup = signal(SignalKind::hangup()).map_err(Failure::runtime)?;
        let watching = async {
            let server = self.server()?;
            let mut before = server.look().await?;
            let live = io::stdout().is_terminal() && !self.json && !self.once;
            let mut screen = live.then(Screen::take);
            if let Some(screen) = &mut screen {
                screen.draw(&self.shown(screen, &before, None));
            } else if !self.once && !written(self.print(&before, None))? {
                return Ok(Done::Yes);
            }
            loop {
                tokio::time::sleep(self.interval).await;
                let now = match (server.look().await, &mut screen) {
                    (Ok(now), _) => now,
                    // Whoever watches sees that it went away, and sees it come back.
                    (Err(failure), Some(screen)) => {
                        let shown = self.shown(screen, &before, None);
                        screen.draw(&format!("{}\n\n{shown}", failure.line()));
                        continue;
                    }
                    (Err(failure), None) => return Err(failure),
                };
                match &mut screen {
                    Some(screen) => screen.draw(&self.shown(screen, &now, Some(&before))),
                    None => {
                        if !written(self.print(&now, Some(&before)))? || self.once {
                            return Ok(Done::Yes);
                        }
                    }
                }
                before = now;
            }
        };
        tokio::select! {
            ended = watching => ended,
            _ = interrupt.recv() => Ok(Done::Yes),
            _ = terminate.recv() => Ok(Done::Yes),
            _ = hangup.recv() => Ok(Done::Yes),
        }
    }

    fn server(&self) -> Result<Server, Failure> {
        let (endpoint, options) = self.connection.resolve()?;
        let endpoint = endpoint.parse::<Endpoint>()?;
        let shows = match &self.admin_endpoint {
            Some(admin) => admin.parse::<Endpoint>()?,
            None => endpoint.clone(),
        };
        let locks = HttpBackend::with_options(endpoint.clone(), &options)?;
        Ok(Server {
            endpoint: endpoint.to_string(),
            figures: Client::new(shows, &options)?,
            locks: Locks::with_config(Arc::new(locks), Config::default()),
        })
    }

    fn frame(&self, now: &Look, before: Option<&Look>, queues_max: usize) -> Frame {
        let since = before.map(|before| (&before.counts, now.at.saturating_duration_since(before.at)));
        let mut frame = Frame::new(&now.counts, since, &now.held);
        frame.sort(self.sort);
        frame.cut(queues_max.min(self.limit), self.locks);
        frame
    }

    /// With as many queues as leave room for the locks.
    fn shown(&self, screen: &Screen, now: &Look, before: Option<&Look>) -> String {
        let room = screen.rows().saturating_sub(OTHER_LINES + self.locks.min(now.held.len()));
        let frame = self.frame(now, before, room.max(1));
        format!("{}, every {}\n\n{frame}", now.endpoint, duration::format(self.interval))
    }

    fn print(&self, now: &Look, before: Option<&Look>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match self.json {
            true => {
                serde_json::to_writer(&mut out, &self.frame(now, before, self.limit))?;
                writeln!(out)?;
            }
            false => writeln!(out, "{}\n", self.frame(now, before, self.limit))?,
        }
        out.flush()
    }
}

/// What is asked.
struct Server {
    endpoint: String,
    figures: Client,
    locks: Locks,
}

/// What it answered, and when.
struct Look {
    at: Instant,
    endpoint: String,
    counts: Counts,
    held: Held,
}

impl Server {
    async fn look(&self) -> Result<Look, Failure> {
        let figures = self.figures.metrics().await.map_err(|error| match error {
            leasehold_client::Error::Answered { status: 400 | 501, .. } => Failure::from(error).next(
                "the server does not serve /metrics here: name its admin-address with --admin-endpoint",
            ),
            error => Failure::from(error),
        })?;
        let at = Instant::now();
        let request = ListRequest { after: None, len_max: HOLDS_MAX };
        let held = match self.locks.list(&request).await {
            Ok(records) => Held::Listed { records, is_all_below: HOLDS_MAX },
            // Queues can be watched by who may not see locks.
            Err(error) => Held::Unseen(Failure::from(error).line()),
        };
        let counts = Counts::of(&prometheus::parse(&figures));
        Ok(Look { at, endpoint: self.endpoint.clone(), counts, held })
    }
}
