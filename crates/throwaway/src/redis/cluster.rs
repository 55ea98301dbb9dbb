//! A Redis Cluster on this machine.

use std::{io, net::SocketAddr, thread, time::Instant};

use super::{Server, Settings, wire::ask};
use crate::{Error, Result, TIME_LIMIT, program};

const SLOTS: usize = 16_384;
/// Primaries and replicas of [`Cluster::start`]: the least that Redis calls a cluster, with a replica each.
const DEFAULT: (usize, usize) = (3, 1);

/// Redis servers that share the slots. Dropping it kills all of them and removes their data.
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Server>,
    primaries: usize,
}

impl Cluster {
    /// Starts 3 primaries with a replica each. Blocks for 2.5 s to 5 s: a Redis node takes no writes in the first
    /// 2 s of its life in a cluster, and the nodes tell each other of their roles from time to time.
    ///
    /// # Errors
    /// When the programs are missing or the cluster does not come up.
    pub fn start(settings: Settings) -> Result<Cluster> {
        Cluster::start_with(settings, DEFAULT.0, DEFAULT.1)
    }

    /// Starts so many primaries, with so many replicas each.
    ///
    /// # Errors
    /// When the programs are missing or the cluster does not come up.
    ///
    /// # Panics
    /// Without a primary there is no cluster.
    pub fn start_with(settings: Settings, primaries: usize, replicas_each: usize) -> Result<Cluster> {
        assert!(primaries > 0, "a cluster has at least one primary");
        let settings = settings
            .with("cluster-enabled", "yes")
            .with("cluster-config-file", "nodes.conf")
            // A node that gets no processor for so long is taken for dead and loses its slots. Who waits for that sets less.
            .or("cluster-node-timeout", "5000")
            // Otherwise each replica waits 5 s for others to share its first copy with.
            .with("repl-diskless-sync-delay", "0");
        let count = primaries * (1 + replicas_each);
        let nodes = start_all(count, &settings)?;
        let cluster = Cluster { nodes, primaries };
        cluster.join().map_err(|error| cluster.not_ready(format!("did not join: {error}")))?;
        cluster.await_ok()?;
        Ok(cluster)
    }

    /// The nodes, those that started as primaries first. Roles change when a primary is killed.
    #[must_use]
    pub fn nodes(&self) -> &[Server] {
        &self.nodes
    }

    /// The nodes that started as primaries.
    #[must_use]
    pub fn primaries(&self) -> &[Server] {
        &self.nodes[..self.primaries]
    }

    /// The nodes that started as replicas; the one at index `n` follows the primary at `n % primaries`.
    #[must_use]
    pub fn replicas(&self) -> &[Server] {
        &self.nodes[self.primaries..]
    }

    /// A connection string for each node.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(Server::url).collect()
    }

    /// Waits until all slots are served and every running node says so and every replica among them follows its
    /// primary: after the start, and after a failover. Killed nodes are left out.
    ///
    /// # Errors
    /// When it takes longer than [`TIME_LIMIT`].
    pub fn await_ok(&self) -> Result<()> {
        let deadline = Instant::now() + TIME_LIMIT;
        loop {
            let live: Vec<SocketAddr> = self
                .nodes
                .iter()
                .filter(|node| program::is_running(node.pid()))
                .map(Server::address)
                .collect();
            let waiting = live.iter().find_map(|address| self.complaint(*address, live.len()).err());
            match waiting {
                None if !live.is_empty() => return Ok(()),
                why if Instant::now() > deadline => {
                    let why = why.map_or_else(|| "has no running node".to_owned(), |error| error.to_string());
                    return Err(self.not_ready(why));
                }
                _ => thread::sleep(program::POLL),
            }
        }
    }

    /// What still keeps this node from serving, as an error.
    fn complaint(&self, node: SocketAddr, live: usize) -> io::Result<()> {
        let missing = |what: &str| Err(io::Error::other(format!("node {node} has no {what} yet")));
        let info = ask(node, &["CLUSTER", "INFO"])?;
        let known = format!("cluster_known_nodes:{}", self.nodes.len());
        for line in ["cluster_state:ok", "cluster_slots_ok:16384", &known] {
            if !info.lines().any(|found| found == line) {
                return missing(line);
            }
        }
        let list = ask(node, &["CLUSTER", "NODES"])?;
        let following = list.lines().filter(|line| line.contains("slave") && !line.contains("fail")).count();
        if following != live - self.primaries {
            return missing("complete list of replicas");
        }
        let replication = ask(node, &["INFO", "replication"])?;
        if replication.contains("role:slave") && !replication.contains("master_link_status:up") {
            return missing("link to its primary");
        }
        Ok(())
    }

    /// Deals out the slots, makes the nodes known to each other and gives each replica its primary.
    fn join(&self) -> io::Result<()> {
        for (index, node) in self.primaries().iter().enumerate() {
            let slots = slots_of(index, self.primaries).map(|slot| slot.to_string()).collect::<Vec<_>>();
            let mut words = vec!["CLUSTER", "ADDSLOTS"];
            words.extend(slots.iter().map(String::as_str));
            ask(node.address(), &words)?;
            // Distinct from the start, so that nodes need not settle it among themselves.
            ask(node.address(), &["CLUSTER", "SET-CONFIG-EPOCH", &(index + 1).to_string()])?;
        }
        // Everybody is introduced to everybody: gossip would take a second longer.
        for (index, node) in self.nodes.iter().enumerate() {
            for other in &self.nodes[..index] {
                ask(node.address(), &["CLUSTER", "MEET", "127.0.0.1", &other.address().port().to_string()])?;
            }
        }
        for (index, replica) in self.replicas().iter().enumerate() {
            let primary = ask(self.nodes[index % self.primaries].address(), &["CLUSTER", "MYID"])?;
            follow(replica.address(), &primary)?;
        }
        Ok(())
    }

    fn not_ready(&self, why: String) -> Error {
        let log = program::log_tail(&self.nodes[0].folder().join("server.log"));
        Error::NotReady { server: "redis cluster", why, log }
    }
}

/// A replica refuses to follow a primary it has not met yet, so it is asked until it has.
fn follow(replica: SocketAddr, primary: &str) -> io::Result<()> {
    let deadline = Instant::now() + TIME_LIMIT;
    loop {
        match ask(replica, &["CLUSTER", "REPLICATE", primary]) {
            Err(error) if Instant::now() < deadline && error.to_string().contains("Unknown node") => {
                thread::sleep(program::POLL);
            }
            followed => return followed.map(drop),
        }
    }
}

fn start_all(count: usize, settings: &Settings) -> Result<Vec<Server>> {
    thread::scope(|scope| {
        let starting: Vec<_> = (0..count).map(|_| scope.spawn(|| Server::start(settings.clone()))).collect();
        starting.into_iter().map(|node| node.join().expect("starting a server does not panic")).collect()
    })
}

/// An even share of the slots, in order.
fn slots_of(index: usize, primaries: usize) -> std::ops::Range<usize> {
    index * SLOTS / primaries..(index + 1) * SLOTS / primaries
}

#[cfg(test)]
mod tests {
    use super::{SLOTS, slots_of};

    #[test]
    fn every_slot_has_one_primary() {
        for primaries in [1, 3, 5, 7] {
            let dealt: Vec<usize> = (0..primaries).flat_map(|index| slots_of(index, primaries)).collect();
            assert!(dealt.into_iter().eq(0..SLOTS), "{primaries} primaries");
        }
    }
}
