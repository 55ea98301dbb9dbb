//! What is done to the owners, and what must be true in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::Duration;

use leasehold_persistence::Database;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::timers::fired;
use crate::{FENCED, Failed};

const TIMERS: usize = 40;
/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// What owners said.
#[derive(Default)]
struct Heard {
    set: BTreeSet<String>,
    /// How often each fired, as far as its owner lived to say so.
    fired: BTreeMap<String, usize>,
    idle: bool,
}

pub(crate) async fn run(url: &str, database: &Database) -> Result<(), Failed> {
    let mut heard = Heard::default();

    let mut first = Owner::start(url, TIMERS)?;
    first.listen(&mut heard, |heard| heard.set.len() == TIMERS && heard.fired.len() >= TIMERS / 4).await?;
    first.process.kill().await?;
    println!("  the first owner set {TIMERS} timers, fired {} and was killed", heard.fired.len());

    let mut second = Owner::start(url, 0)?;
    let before = heard.fired.len();
    second.listen(&mut heard, |heard| heard.fired.len() >= before + TIMERS / 8).await?;
    println!("  the second owner took over, and {} have fired", heard.fired.len());

    // Started twice: both believe to own the shard, and one of them is wrong.
    let mut third = Owner::start(url, 0)?;
    second.listen(&mut heard, |_| false).await?;
    let ended = second.process.wait().await?;
    if ended.code() != Some(i32::from(FENCED)) {
        return Err(format!("the second owner was not fenced, but ended with {ended}").into());
    }
    println!("  a third owner was started beside it; the second was fenced, and stopped");

    heard.idle = false;
    third.listen(&mut heard, |heard| heard.idle).await?;
    third.process.kill().await?;

    let recorded = fired(database).await?;
    let names: BTreeSet<String> = recorded.iter().map(|(name, _)| name.clone()).collect();
    if names != heard.set || recorded.len() != heard.set.len() {
        return Err(
            format!("{} timers were set, {} fired: {recorded:?}", heard.set.len(), recorded.len()).into()
        );
    }
    if let Some((name, times)) = heard.fired.iter().find(|(_, times)| **times > 1) {
        return Err(format!("{name} fired {times} times").into());
    }
    let owners: BTreeSet<i64> = recorded.iter().map(|(_, range_id)| *range_id).collect();
    println!("  {} timers fired, each once, under {} owners", recorded.len(), owners.len());
    Ok(())
}

/// A process that owns the shard, or believes so.
struct Owner {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Owner {
    fn start(url: &str, timers: usize) -> Result<Self, Failed> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["own", url, &timers.to_string()]).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn()?;
        let stdout = process.stdout.take().ok_or("its output is piped")?;
        Ok(Self { process, lines: BufReader::new(stdout).lines() })
    }

    /// Takes down what it says until that is enough, or it ends.
    async fn listen(&mut self, heard: &mut Heard, is_enough: impl Fn(&Heard) -> bool) -> Result<(), Failed> {
        while !is_enough(heard) {
            let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
            match line.map_err(|_| "an owner said nothing for too long")?? {
                Some(line) => heard.take_down(&line),
                None => break,
            }
        }
        Ok(())
    }
}

impl Heard {
    fn take_down(&mut self, line: &str) {
        match line.split_once(' ') {
            Some(("set", name)) => {
                self.set.insert(name.to_owned());
            }
            Some(("fired", name)) => *self.fired.entry(name.to_owned()).or_default() += 1,
            _ => self.idle |= line == "idle",
        }
    }
}
