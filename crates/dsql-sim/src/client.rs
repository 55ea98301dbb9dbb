//! One connection: messages in, replies out, the session in between.

use std::{collections::HashMap, io, sync::Arc, time::Instant};

use bytes::Bytes;
use leasehold_dsql_sim_core::{Bound, Failure, Outcome, Prepared, Session, Status, Stop};
use tokio::io::{AsyncWriteExt, ReadHalf, WriteHalf, split};

use crate::{
    frontend::{Message, Messages},
    portal::Portal,
    reply::Replies,
    simulator::Shared,
    startup::Stream,
};

/// What DSQL says it is.
const SERVER_VERSION: &str = "16.0";
/// Replies are sent when they are this many bytes, even if more are to come.
const FLUSH_BYTES: usize = 64 * 1024;

/// A client that was let in.
pub(crate) struct Client<'a> {
    messages: Messages<ReadHalf<Box<dyn Stream>>>,
    writer: WriteHalf<Box<dyn Stream>>,
    replies: Replies,
    session: Session,
    shared: &'a Shared,
    statements: HashMap<String, Arc<Prepared>>,
    portals: HashMap<String, Portal>,
    /// An error was reported; messages are read over until the next Sync.
    skips: bool,
    connected_at: Instant,
}

/// Why the connection ends.
enum End {
    /// With nothing more to say.
    Quiet,
    /// After this.
    Told(Failure),
    /// The stream broke.
    Broken(io::Error),
}

type Handled = Result<(), End>;

impl From<io::Error> for End {
    fn from(error: io::Error) -> End {
        End::Broken(error)
    }
}

impl<'a> Client<'a> {
    pub(crate) fn new(stream: Box<dyn Stream>, session: Session, shared: &'a Shared) -> Client<'a> {
        let (reader, writer) = split(stream);
        Client {
            messages: Messages::new(reader),
            writer,
            replies: Replies::default(),
            session,
            shared,
            statements: HashMap::new(),
            portals: HashMap::new(),
            skips: false,
            connected_at: Instant::now(),
        }
    }

    /// Serves until the client leaves or is cut off.
    pub(crate) async fn run(mut self, (pid, secret): (i32, i32)) -> io::Result<()> {
        self.greet(pid, secret).await?;
        loop {
            let Some(message) = self.messages.next().await? else { return Ok(()) };
            match self.handle(message).await {
                Ok(()) => {}
                Err(End::Quiet) => return Ok(()),
                Err(End::Told(failure)) => {
                    self.replies.failure(&failure);
                    self.flush().await?;
                    return self.writer.shutdown().await;
                }
                Err(End::Broken(error)) => return Err(error),
            }
        }
    }

    async fn greet(&mut self, pid: i32, secret: i32) -> io::Result<()> {
        self.replies.put(b'R', &0_u32.to_be_bytes());
        for (name, value) in self.session.parameters() {
            let value = if name == "server_version" { SERVER_VERSION } else { value };
            self.replies.parameter(name, value);
        }
        self.replies.put(b'K', &[pid.to_be_bytes(), secret.to_be_bytes()].concat());
        self.replies.ready(Status::Idle);
        self.flush().await
    }

    async fn handle(&mut self, message: Message) -> Handled {
        if self.skips && !matches!(message, Message::Sync | Message::Terminate) {
            return Ok(());
        }
        match message {
            Message::Query(sql) => self.query(&sql).await,
            Message::Parse { name, sql, types } => self.parse(name, &sql, &types).await,
            Message::Bind { portal, statement, parameters, formats } => {
                self.bind(portal, &statement, Bound { parameters, formats });
                Ok(())
            }
            Message::DescribeStatement(name) => {
                self.describe_statement(&name);
                Ok(())
            }
            Message::DescribePortal(name) => {
                self.describe_portal(&name);
                Ok(())
            }
            Message::Execute { portal, rows_max } => self.execute(&portal, rows_max).await,
            Message::CloseStatement(name) => {
                self.statements.remove(&name);
                self.replies.put(b'3', &[]);
                Ok(())
            }
            Message::ClosePortal(name) => {
                self.portals.remove(&name);
                self.replies.put(b'3', &[]);
                Ok(())
            }
            Message::Flush => Ok(self.flush().await?),
            Message::Sync => self.sync().await,
            Message::Terminate => Err(End::Quiet),
            Message::Stray => Ok(()),
            Message::Unknown(kind) => {
                Err(End::Told(Failure::fatal("08P01", format!("invalid frontend message type {kind}"))))
            }
        }
    }

    async fn query(&mut self, sql: &str) -> Handled {
        self.check_lifetime()?;
        self.portals.clear();
        let (outcomes, stop) = self.session.query(sql).await;
        self.pass_asides();
        for outcome in &outcomes {
            self.forget_deallocated(outcome);
            self.replies.outcome(outcome);
            if self.replies.buffer.len() > FLUSH_BYTES {
                self.flush().await?;
            }
        }
        if let Some(stop) = stop {
            self.stop(stop)?;
            self.skips = false;
        }
        self.replies.ready(self.session.status());
        Ok(self.flush().await?)
    }

    async fn parse(&mut self, name: String, sql: &str, types: &[u32]) -> Handled {
        self.check_lifetime()?;
        match self.session.prepare(sql, types).await {
            Ok(prepared) => {
                self.pass_asides();
                self.statements.insert(name, prepared);
                self.replies.put(b'1', &[]);
                Ok(())
            }
            Err(stop) => self.stop(stop),
        }
    }

    fn bind(&mut self, portal: String, statement: &str, bound: Bound) {
        match self.statements.get(statement) {
            Some(prepared) => {
                self.portals.insert(portal, Portal::new(prepared.clone(), bound));
                self.replies.put(b'2', &[]);
            }
            None => self
                .fail(&Failure::new("26000", format!("prepared statement \"{statement}\" does not exist"))),
        }
    }

    fn describe_statement(&mut self, name: &str) {
        match self.statements.get(name).cloned() {
            Some(prepared) => {
                self.replies.put(b't', &prepared.parameters);
                self.describe(prepared.description.clone());
            }
            None => {
                self.fail(&no_statement(name));
            }
        }
    }

    fn describe_portal(&mut self, name: &str) {
        match self.portals.get(name).map(Portal::description) {
            Some(description) => self.describe(description),
            None => self.fail(&no_portal(name)),
        }
    }

    fn describe(&mut self, description: Option<Bytes>) {
        match description {
            Some(description) => self.replies.put(b'T', &description),
            None => self.replies.put(b'n', &[]),
        }
    }

    async fn execute(&mut self, name: &str, rows_max: usize) -> Handled {
        self.check_lifetime()?;
        let Some(mut portal) = self.portals.remove(name) else {
            self.fail(&no_portal(name));
            return Ok(());
        };
        if portal.prepared.is_empty() {
            self.replies.tag(None);
            return Ok(());
        }
        if portal.is_new() {
            // Statements up to a Sync are one transaction; one that is alone needs none around it.
            let is_alone = matches!(self.messages.peek().await?, Some(Message::Sync));
            if self.session.status() == Status::Idle && !is_alone {
                self.session.begin_implicit();
            }
            let ran = self.session.run(&portal.prepared, &portal.bound).await;
            self.pass_asides();
            match ran {
                Ok(outcome) => {
                    self.forget_deallocated(&outcome);
                    portal.ran(outcome);
                }
                Err(stop) => return self.stop(stop),
            }
        }
        portal.send(rows_max, &mut self.replies);
        self.portals.insert(name.to_owned(), portal);
        if self.replies.buffer.len() > FLUSH_BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    /// As at PostgreSQL, DEALLOCATE ALL ends what was prepared over the protocol too, but for the statement without a
    /// name.
    fn forget_deallocated(&mut self, outcome: &Outcome) {
        if outcome.is_deallocation() {
            self.statements.retain(|name, _| name.is_empty());
        }
    }

    async fn sync(&mut self) -> Handled {
        self.skips = false;
        let ended = self.session.end_implicit().await;
        self.pass_asides();
        if let Err(stop) = ended {
            self.stop(stop)?;
            self.skips = false;
        }
        if self.session.status() == Status::Idle {
            self.portals.clear();
        }
        self.replies.ready(self.session.status());
        Ok(self.flush().await?)
    }

    fn stop(&mut self, stop: Stop) -> Handled {
        match stop {
            Stop::Failed(failure) => {
                self.fail(&failure);
                Ok(())
            }
            Stop::Closed(failure) => Err(End::Told(failure)),
            Stop::Cut => Err(End::Quiet),
        }
    }

    fn fail(&mut self, failure: &Failure) {
        self.replies.failure(failure);
        self.skips = true;
    }

    fn pass_asides(&mut self) {
        for (kind, body) in self.session.take_asides() {
            self.replies.put(kind, &body);
        }
    }

    fn check_lifetime(&self) -> Handled {
        if self.connected_at.elapsed() > self.shared.connection_lifetime {
            return Err(End::Told(Failure::fatal("57P01", "connection closed at the end of its lifetime")));
        }
        Ok(())
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.writer.write_all(&self.replies.buffer).await?;
        self.replies.buffer.clear();
        self.writer.flush().await
    }
}

fn no_portal(name: &str) -> Failure {
    Failure::new("34000", format!("portal \"{name}\" does not exist"))
}

fn no_statement(name: &str) -> Failure {
    Failure::new("26000", format!("prepared statement \"{name}\" does not exist"))
}
