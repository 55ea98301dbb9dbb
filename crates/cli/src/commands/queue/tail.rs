use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use leasehold_client::Items;
use leasehold_client::ndjson::{self, Stored};
use leasehold_core::duration;

use super::partitions::{listing, partitions};
use crate::failure::Failure;
use crate::output::{Done, payload, written};
use crate::target::Target;

/// Print the last items of a queue and then new ones, without leasing any.
///
/// Looks at the items as they are stored, again and again: what comes and is completed between two looks is not
/// seen, and what is given back is seen again. Ctrl-C ends it.
#[derive(Debug, Args)]
pub(super) struct Tail {
    /// The queue
    queue: String,

    /// Begin with so many items that are already there
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    lines: usize,

    /// Only this partition
    #[arg(short, long, value_name = "N")]
    partition: Option<i32>,

    /// How often to look
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration::parse)]
    interval: Duration,

    /// End after so many items
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// End after the items that are already there
    #[arg(long)]
    no_follow: bool,
}

const PAGE_LEN: u16 = 500;

impl Tail {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let client = target.client()?;
        let numbers = partitions(&client, &self.queue, self.partition).await?.numbers;
        let mut walks = Vec::new();
        let mut last = VecDeque::new();
        for partition in numbers {
            let mut pages = client.pages(Items(listing(&self.queue, partition)), PAGE_LEN);
            loop {
                let page = pages.next().await?;
                if page.is_empty() {
                    break;
                }
                last.extend(page.into_iter().map(|item| Stored { partition, item }));
                last.drain(..last.len().saturating_sub(self.lines));
            }
            walks.push((partition, pages));
        }
        let mut left = self.limit.unwrap_or(usize::MAX);
        if !show(target.json, last, &mut left)? || self.no_follow {
            return Ok(Done::Yes);
        }
        loop {
            for (partition, pages) in &mut walks {
                let page = pages.next().await?.into_iter();
                let new = page.map(|item| Stored { partition: *partition, item });
                if !show(target.json, new, &mut left)? {
                    return Ok(Done::Yes);
                }
            }
            tokio::time::sleep(self.interval).await;
        }
    }
}

/// False once there is nobody to show more to, or no more is wanted.
fn show(json: bool, items: impl IntoIterator<Item = Stored>, left: &mut usize) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    for stored in items.into_iter().take(*left) {
        *left -= 1;
        let line = match json {
            true => ndjson::write(&mut out, &stored),
            false => {
                let Stored { partition, item } = stored;
                writeln!(
                    out,
                    "{partition}  {}  {:<10}  {}",
                    item.id,
                    item.kind.escape_debug().to_string(),
                    payload(&item.payload)
                )
            }
        };
        if !written(line)? {
            return Ok(false);
        }
    }
    Ok(written(out.flush())? && *left > 0)
}
