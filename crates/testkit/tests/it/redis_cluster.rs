//! Redis Cluster from outside.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use leasehold_testkit::redis::{Cluster, Settings};

/// One command, first line of its answer.
fn ask(address: SocketAddr, command: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("connect");
    stream.set_read_timeout(Some(Duration::from_secs(5))).expect("timeout");
    writeln!(stream, "{command}\r").expect("send");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("answer");
    line.trim_end().to_owned()
}

/// The node a command for `key` was sent on to, from `MOVED <slot> <address>`; itself when it serves the key.
fn server_of(asked: SocketAddr, key: &str) -> SocketAddr {
    let answer = ask(asked, &format!("STRLEN {key}"));
    match answer.strip_prefix("-MOVED ") {
        Some(rest) => rest.split(' ').nth(1).expect("an address").parse().expect("an address"),
        None => asked,
    }
}

#[test]
#[ignore = "needs Redis: cargo xtask test redis"]
fn every_primary_serves_its_slots_and_sends_on_for_others() {
    let cluster = Cluster::start(Settings::volatile()).unwrap();
    assert_eq!((cluster.primaries().len(), cluster.replicas().len(), cluster.urls().len()), (3, 3, 6));
    let mut served = [0; 3];
    for n in 0..60 {
        let key = format!("key:{n}");
        let owner = server_of(cluster.primaries()[n % 3].address(), &key);
        assert_eq!(ask(owner, &format!("SET {key} x")), "+OK");
        let index = cluster.primaries().iter().position(|node| node.address() == owner).expect("a primary");
        served[index] += 1;
    }
    assert!(served.iter().all(|count| *count > 0), "{served:?}");
}

#[test]
#[ignore = "needs Redis: cargo xtask test redis"]
fn replica_takes_over_from_a_killed_primary() {
    let cluster = Cluster::start(Settings::volatile().with("cluster-node-timeout", "1000")).unwrap();
    let asked = cluster.primaries()[1].address();
    let key = (0..)
        .map(|n| format!("key:{n}"))
        .find(|key| server_of(asked, key) == cluster.primaries()[0].address());
    let key = key.unwrap();
    // WAIT answers how many replicas have the write.
    let set = format!("SET {key} abc\r\nWAIT 1 5000");
    assert_eq!(ask(cluster.primaries()[0].address(), &set), "+OK");
    cluster.primaries()[0].kill().unwrap();
    cluster.await_ok().unwrap();
    let taken_over = server_of(asked, &key);
    assert_eq!(taken_over, cluster.replicas()[0].address());
    // The killed one comes back as a replica.
    cluster.primaries()[0].restart().unwrap();
    cluster.await_ok().unwrap();
    assert_eq!(server_of(cluster.primaries()[0].address(), &key), taken_over);
}

#[test]
#[ignore = "needs Redis: cargo xtask test redis"]
fn number_of_nodes_can_be_chosen_and_all_go() {
    let cluster = Cluster::start_with(Settings::durable(), 1, 0).unwrap();
    assert_eq!(ask(cluster.nodes()[0].address(), "SET a 1"), "+OK");
    let folders: Vec<_> = cluster.nodes().iter().map(|node| node.folder().to_path_buf()).collect();
    assert!(folders.iter().all(|folder| folder.exists()));
    drop(cluster);
    assert!(folders.iter().all(|folder| !folder.exists()));
}
