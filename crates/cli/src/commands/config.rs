use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use leasehold_server::{ConfigFile, EffectiveConfig};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{self, Done, print};

/// Look at configuration files of the server.
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(Check),
}

/// Check a file, and print what the server would run with: defaults filled in, secrets left out.
///
/// Touches neither the stores nor the network. Unknown keys are refused, with what they may have been meant to be.
#[derive(Debug, Args)]
struct Check {
    /// The file (YAML)
    file: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Config {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        match self.verb {
            Verb::Check(verb) => verb.run(),
        }
    }
}

impl Check {
    fn run(self) -> Result<Done, Failure> {
        let file = ConfigFile::read(&self.file)?;
        let config = file.config()?;
        let handler = file.log_handler()?.map_or("auto", |handler| handler.as_str());
        let level = file.log_level().unwrap_or("info");
        let effective = EffectiveConfig(&config);
        if self.json {
            let shown: Value = serde_saphyr::from_str(&effective.to_string()).expect("it is YAML");
            let store = config.store.to_string();
            let logging = json!({ "handler": handler, "level": level });
            print(true, &json!({ "store": store, "config": shown, "logging": logging }), String::new)?;
            return Ok(Done::Yes);
        }
        output::written(writeln!(io::stdout(), "{effective}# logging: {handler}, {level}"))?;
        Ok(Done::Yes)
    }
}
