mod access;
mod apikey;
mod bench;
mod binding;
mod completions;
mod config;
mod doctor;
#[cfg(feature = "dsql-sim")]
mod dsql_lint;
#[cfg(feature = "dsql-sim")]
mod dsql_sim;
mod health;
mod items;
#[cfg(not(feature = "dsql-sim"))]
mod left_out;
mod lock;
mod man;
mod namespace;
pub(crate) mod querator;
mod queue;
mod role;
mod schema;
pub(crate) mod serve;
mod state;
mod top;
mod user;

use std::future::Future;

use clap::Subcommand;
use tokio::runtime::Runtime;

use self::querator::Refusal;
use crate::failure::Failure;
use crate::output::Done;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(serve::Serve),
    Lock(lock::Lock),
    Queue(queue::Queue),
    Items(items::Items),
    Namespace(namespace::Namespace),
    User(user::User),
    Apikey(apikey::Apikey),
    Role(role::Role),
    Binding(binding::Binding),
    Access(access::Access),
    Schema(schema::Schema),
    State(state::State),
    Bench(bench::Bench),
    Top(top::Top),
    Doctor(doctor::Doctor),
    Health(health::Health),
    #[cfg(feature = "dsql-sim")]
    DsqlSim(dsql_sim::DsqlSim),
    #[cfg(feature = "dsql-sim")]
    DsqlLint(dsql_lint::DsqlLint),
    /// Aurora DSQL on your machine (left out of this binary; build with --features dsql-sim)
    #[cfg(not(feature = "dsql-sim"))]
    DsqlSim(left_out::LeftOut),
    /// Check SQL files for what Aurora DSQL refuses (left out of this binary; build with --features dsql-sim)
    #[cfg(not(feature = "dsql-sim"))]
    DsqlLint(left_out::LeftOut),
    Config(config::Config),
    Completions(completions::Completions),
    Man(man::Man),
    #[command(flatten)]
    Querator(Querator),
    /// Print the version, as Querator's command does
    Version,
    /// Run the server: 'serve' under Querator's name
    Server(serve::Serve),
}

/// Querator's commands to a server, as they are.
#[derive(Debug, Subcommand)]
pub(crate) enum Querator {
    Produce(querator::Produce),
    Lease(querator::Lease),
    Complete(querator::Complete),
    Create(querator::Create),
    List(querator::List),
    Update(querator::Update),
    Delete(querator::Delete),
}

pub(crate) enum Ended {
    Done(Done),
    Failed(Failure),
    Refused(Refusal),
}

pub(crate) fn run(command: Command) -> Ended {
    let ended = match command {
        Command::Serve(serve) => serve.run(),
        Command::Lock(lock) => lock.run(),
        Command::Queue(queue) => queue.run(),
        Command::Items(items) => items.run(),
        Command::Namespace(namespace) => namespace.run(),
        Command::User(user) => user.run(),
        Command::Apikey(apikey) => apikey.run(),
        Command::Role(role) => role.run(),
        Command::Binding(binding) => binding.run(),
        Command::Access(access) => access.run(),
        Command::Schema(schema) => schema.run(),
        Command::State(state) => state.run(),
        Command::Bench(bench) => bench.run(),
        Command::Top(top) => top.run(),
        Command::Doctor(doctor) => doctor.run(),
        Command::Health(health) => health.run(),
        #[cfg(feature = "dsql-sim")]
        Command::DsqlSim(sim) => sim.run(),
        #[cfg(feature = "dsql-sim")]
        Command::DsqlLint(lint) => lint.run(),
        #[cfg(not(feature = "dsql-sim"))]
        Command::DsqlSim(left_out) | Command::DsqlLint(left_out) => left_out.run("dsql-sim"),
        Command::Config(config) => config.run(),
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(),
        Command::Version => {
            println!("querator {}", env!("CARGO_PKG_VERSION"));
            Ok(Done::Yes)
        }
        Command::Querator(command) => return Ended::from(command.run()),
        Command::Server(serve) => return Ended::from(querator::serve(serve)),
    };
    match ended {
        Ok(done) => Ended::Done(done),
        Err(failure) => Ended::Failed(failure),
    }
}

impl From<Result<(), Refusal>> for Ended {
    fn from(ended: Result<(), Refusal>) -> Self {
        match ended {
            Ok(()) => Ended::Done(Done::Yes),
            Err(refusal) => Ended::Refused(refusal),
        }
    }
}

impl Querator {
    fn run(self) -> Result<(), Refusal> {
        let command = match &self {
            Querator::Produce(_) => "produce",
            Querator::Lease(_) => "lease",
            Querator::Complete(_) => "complete",
            Querator::Create(_) => "create",
            Querator::List(_) => "list",
            Querator::Update(_) => "update",
            Querator::Delete(_) => "delete",
        };
        let refused = |text| Refusal { command, text };
        let runtime = Runtime::new().map_err(|error| refused(error.to_string()))?;
        let ended = runtime.block_on(async {
            match self {
                Querator::Produce(command) => command.run().await,
                Querator::Lease(command) => command.run().await,
                Querator::Complete(command) => command.run().await,
                Querator::Create(command) => command.run().await,
                Querator::List(command) => command.run().await,
                Querator::Update(command) => command.run().await,
                Querator::Delete(command) => command.run().await,
            }
        });
        ended.map_err(refused)
    }
}

/// Runs to the end on a runtime of its own.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    Runtime::new().map_err(Failure::runtime)?.block_on(work)
}
