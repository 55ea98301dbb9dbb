use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use leasehold_client::ndjson::{self, Stored};
use leasehold_client::{Client, Items, List, Scheduled};

use super::partitions::{listing, partitions};
use crate::failure::Failure;
use crate::output::{Done, written};
use crate::progress::Progress;
use crate::target::Target;

/// Write the items of a queue as lines of JSON, without leasing any.
///
/// Partition after partition: its ready and leased items, then its scheduled ones. The queue may be used meanwhile;
/// what is given back during the export may be in it twice.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  leasehold queue export orders > orders.ndjson
  leasehold queue export orders --output orders.ndjson --resume")]
pub(super) struct Export {
    /// The queue
    queue: String,

    /// Where to; stdout if it is left out
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Go on behind the items that the file has; half a line at its end is written again
    #[arg(long, requires = "output", conflicts_with = "offset")]
    resume: bool,

    /// Pass over so many items
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,

    /// Only this partition
    #[arg(short, long, value_name = "N")]
    partition: Option<i32>,
}

/// Items are asked for in pages of so many; their payloads come along.
const PAGE_LEN: u16 = 500;

impl Export {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let client = target.client()?;
        let found = partitions(&client, &self.queue, self.partition).await?;
        let (out, resumed): (Box<dyn Write>, Option<Stored>) = match &self.output {
            None => (Box::new(io::stdout()), None),
            Some(path) => {
                let (file, last) = open(path, self.resume || self.offset > 0)?;
                (Box::new(file), last.filter(|_| self.resume))
            }
        };
        let mut export = Writing {
            client: &client,
            queue: &self.queue,
            out: BufWriter::new(out),
            skip: self.offset,
            progress: Progress::new("exported", Some(found.items)),
        };
        let done_before = |number: &i32| resumed.as_ref().is_some_and(|last| *number < last.partition);
        for partition in found.numbers.into_iter().filter(|number| !done_before(number)) {
            let last = resumed.as_ref().filter(|last| last.partition == partition).map(|last| &last.item);
            let in_schedule = last.is_some_and(|item| item.enqueue_at.is_some());
            let after = last.map(|item| item.id.as_str());
            let list = listing(&self.queue, partition);
            let ready_after = after.filter(|_| !in_schedule);
            if !in_schedule && !export.walk(Items(list.clone()), partition, ready_after).await? {
                return Ok(Done::Yes);
            }
            let scheduled_after = after.filter(|_| in_schedule);
            if !export.walk(Scheduled(list), partition, scheduled_after).await? {
                return Ok(Done::Yes);
            }
        }
        let count = export.progress.count();
        drop(export);
        eprintln!("exported {count} item(s)");
        Ok(Done::Yes)
    }
}

struct Writing<'a> {
    client: &'a Client,
    queue: &'a str,
    out: BufWriter<Box<dyn Write>>,
    skip: u64,
    progress: Progress,
}

impl Writing<'_> {
    /// False if nobody reads any more.
    async fn walk<L>(&mut self, list: L, partition: i32, after: Option<&str>) -> Result<bool, Failure>
    where
        L: List<Entry = leasehold_api::queue::StorageItem>,
    {
        let mut pages = self.client.pages(list, PAGE_LEN);
        if let Some(after) = after {
            pages = pages.after(after);
        }
        loop {
            let page = pages.next().await.map_err(|error| {
                let (queue, written) = (self.queue, self.progress.count());
                Failure::from(error).next(format!(
                    "{written} item(s) of '{queue}' were written; go on with --resume or --offset"
                ))
            })?;
            if page.is_empty() {
                return Ok(true);
            }
            let len = page.len();
            for item in page {
                if self.skip > 0 {
                    self.skip -= 1;
                } else if !written(ndjson::write(&mut self.out, &Stored { partition, item }))? {
                    return Ok(false);
                }
            }
            if !written(self.out.flush())? {
                return Ok(false);
            }
            self.progress.add(len);
        }
    }
}

/// A file to write to, and the last item it has. Half a line at its end, of an export that was cut, is dropped.
fn open(path: &Path, keep: bool) -> Result<(File, Option<Stored>), Failure> {
    let failed = |error| Failure::file(&path.display().to_string(), error);
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(!keep).open(path).map_err(failed)?;
    let (whole, last) = ndjson::whole_lines(BufReader::new(&file)).map_err(failed)?;
    file.set_len(whole).map_err(failed)?;
    file.seek(SeekFrom::Start(whole)).map_err(failed)?;
    if last.is_empty() {
        return Ok((file, None));
    }
    let last = leasehold_api::from_json(&last).map_err(|error| {
        Failure::input(format!("the last line of {} is not an exported item: {error}", path.display()))
    })?;
    Ok((file, Some(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_is_dropped_and_the_last_whole_one_found() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("items");
        let whole = "{\"partition\":0,\"item\":{\"id\":\"a\"}}\n{\"partition\":1,\"item\":{\"id\":\"b\"}}\n";
        std::fs::write(&path, format!("{whole}{{\"partition\":1,\"it")).expect("writes");
        let (file, last) = open(&path, true).expect("opens");
        let last = last.expect("has one");
        assert_eq!((last.partition, last.item.id.as_str()), (1, "b"));
        drop(file);
        assert_eq!(std::fs::read_to_string(&path).expect("reads"), whole);
        assert!(open(&path, false).expect("opens").1.is_none(), "an export that is not resumed begins anew");
        std::fs::write(&path, "something else\n").expect("writes");
        assert!(open(&path, true).is_err(), "a file of something else is not appended to");
    }
}
