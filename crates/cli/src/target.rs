use clap::Args;
use leasehold_client::Client;

use crate::connection::Connection;
use crate::failure::Failure;

/// Which server, and how to print.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,

    #[command(flatten)]
    connection: Connection,
}

impl Target {
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        self.connection.client()
    }
}
