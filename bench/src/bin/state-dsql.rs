//! Executions on the DSQL simulator while a share of their commits is refused: how often they are tried again, and what that
//! costs.

use std::time::Duration;

use clap::Parser;
use leasehold_bench::state::{Failed, Work, Writer, make_shards, measure_writers};
use leasehold_dsql_sim::faults::Rule;
use leasehold_dsql_sim::rules::Level;
use leasehold_dsql_sim::{Config as SimulatorConfig, Simulator};
use leasehold_persistence::{Config, Database, FenceMode, Schema};
use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_txn::{ConnectionString, Dialect, DsqlLevel, Pool};
use metrics_exporter_prometheus::PrometheusHandle;

const TASKS: [usize; 3] = [1, 8, 32];
/// Shares of commits that are refused.
const REFUSED: [f64; 3] = [0.0, 0.01, 0.1];
const MODES: [FenceMode; 2] = [FenceMode::KeyShare, FenceMode::Update];
/// What the transaction layer counts.
const RETRIES: &str = "dsql_tx_retries_total";

/// Measures writes of executions on the simulator.
#[derive(Debug, Parser)]
struct Arguments {
    /// How long each measurement lasts, in seconds.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Shards that the tasks write to.
    #[arg(long, default_value_t = 16)]
    shards: usize,
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let arguments = Arguments::parse();
    if cfg!(debug_assertions) {
        eprintln!("warning: not a release build, the figures mean nothing");
    }
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().install_recorder()?;
    let cluster = Cluster::start(Settings::fast())?;
    let mut config =
        SimulatorConfig::new(cluster.url("postgres").parse().map_err(|error| format!("{error:?}"))?);
    config.cluster.level = Level::L2026_09;
    let simulator = Simulator::start(config).await?;
    let url = format!("postgres://admin:any@{}/postgres", simulator.address());
    let connection: ConnectionString = url.parse()?;
    let dialect = Dialect::Dsql { level: DsqlLevel::KeyShare };
    let pool = Pool::new(leasehold_txn::Config::new(connection).dialect(dialect).size_max(34))?;
    Schema::of(dialect).apply(&pool).await?;

    println!(
        "writes of executions on the simulator, {} shards; a share of the commits is refused with a conflict; a slice of {} s each",
        arguments.shards, arguments.seconds
    );
    println!(
        "| work | fence | tasks | refused | /s | tried again per write | given up | median ms | p99 ms |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut run = 0;
    for mode in MODES {
        let config = Config { fence_mode: Some(mode), ..Config::new(dialect) };
        let database = Database::open(pool.clone(), config).await?;
        make_shards(&database, arguments.shards).await?;
        for work in Work::ALL {
            for tasks in TASKS {
                for refused in REFUSED {
                    run += 1;
                    let writers =
                        (0..tasks).map(|number| Writer::new(&database, run, number, arguments.shards));
                    let row =
                        measure(&arguments, &simulator, &recorder, work, writers.collect(), refused).await?;
                    println!("| {} | {mode} | {tasks} | {:.0} % | {row} |", work.name(), refused * 100.0);
                }
            }
        }
    }
    Ok(())
}

async fn measure(
    arguments: &Arguments,
    simulator: &Simulator,
    recorder: &PrometheusHandle,
    work: Work,
    writers: Vec<Writer>,
    refused: f64,
) -> Result<String, Failed> {
    simulator.faults().clear();
    // Statements are prepared, and every writer has its first execution.
    let (_, writers) = measure_writers(writers, work, Duration::from_millis(200)).await?;
    let rule = format!(
        r#"{{"name": "refuse", "action": "conflict_at_commit", "table": "executions", "probability": {refused}}}"#
    );
    simulator.faults().arm(Rule::read(&rule)?);
    let before = retries(recorder);
    let slice = Duration::from_secs_f64(arguments.seconds);
    let (measured, _) = measure_writers(writers, work, slice).await?;
    let again = (retries(recorder) - before) / measured.writes.max(1) as f64;
    Ok(format!(
        "{:.0} | {again:.3} | {} | {:.2} | {:.2}",
        measured.rate,
        measured.failures,
        measured.milliseconds(0.5),
        measured.milliseconds(0.99)
    ))
}

/// How often anything was tried again so far.
fn retries(recorder: &PrometheusHandle) -> f64 {
    let rendered = recorder.render();
    let counts = rendered.lines().filter(|line| line.starts_with(RETRIES));
    counts.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}
