//! Servers that replace each other on one database: the older is told to stop, under load, while the newer serves.

use crate::audit::{Blow, Load, Server, client, free_address, serves};

/// Runs clients that go from one server to the other, replaces the servers so often, and audits.
pub(crate) async fn roll(store: &str, rolls: u32) {
    let addresses = [free_address(), free_address()];
    let clients = addresses.each_ref().map(|address| client(address));
    let mut old = Server::started(store, &addresses[0]);
    let load = Load::start(&clients).await;
    for number in 1..=rolls {
        load.goes_on("one server alone").await;
        let at = number as usize % 2;
        let new = Server::started(store, &addresses[at]);
        serves(&clients[at]).await;
        load.goes_on("both serve").await;
        old.strike(Blow::Terminate);
        load.goes_on("the old one has gone").await;
        old = new;
    }
    load.judged(&clients[rolls as usize % 2]).await;
}
