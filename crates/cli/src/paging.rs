use clap::Args;
use leasehold_client::{Client, List};

use crate::failure::Failure;

/// Which part of a list.
#[derive(Debug, Args)]
pub(crate) struct Paging {
    /// Begin here, or at what comes after it
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(crate) pivot: String,

    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: usize,
}

/// How much is asked for at once.
const PAGE_LEN: u16 = 1000;

impl Paging {
    pub(crate) async fn take<L: List>(&self, client: &Client, list: L) -> Result<Vec<L::Entry>, Failure> {
        let page_len = u16::try_from(self.limit).unwrap_or(PAGE_LEN).min(PAGE_LEN);
        Ok(client.pages(list, page_len).take(self.limit).await?)
    }
}
