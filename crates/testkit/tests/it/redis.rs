//! Redis servers from outside.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use crate::owner::{Owner, is_running};
use leasehold_testkit::redis::{Server, Settings};

/// One command, first line of its answer; values are asked for with STRLEN or EXISTS, so one line is enough.
fn ask(address: SocketAddr, command: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    writeln!(stream, "{command}\r")?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

#[test]
#[ignore = "needs Redis: cargo xtask test redis"]
fn dropped_server_leaves_no_process_no_folder_no_port() {
    let server = Server::start(Settings::volatile()).unwrap();
    let (pid, folder, address) = (server.pid(), server.folder().to_path_buf(), server.address());
    assert_eq!(ask(address, "PING").unwrap(), "+PONG");
    assert_eq!(server.url(), format!("redis://{address}"));
    drop(server);
    assert!(!is_running(pid) && !folder.exists());
    assert!(std::net::TcpListener::bind(address).is_ok());
}

#[test]
#[ignore = "needs Redis: cargo xtask test redis"]
fn answered_writes_survive_kill_under_durable_settings() {
    let server = Server::start(Settings::durable()).unwrap();
    for n in 0..50 {
        assert_eq!(ask(server.address(), &format!("SET kept:{n} x")).unwrap(), "+OK");
    }
    let (killed, address) = (server.pid(), server.address());
    server.kill().unwrap();
    assert!(!is_running(killed));
    assert!(ask(address, "PING").is_err());
    server.restart().unwrap();
    assert_eq!(server.address(), address);
    assert_eq!(ask(address, "DBSIZE").unwrap(), ":50");
}

#[test]
#[ignore = "needs Redis: cargo xtask test redis"]
fn volatile_server_comes_back_empty() {
    let server = Server::start(Settings::volatile()).unwrap();
    assert_eq!(ask(server.address(), "SET lost x").unwrap(), "+OK");
    server.kill().unwrap();
    server.restart().unwrap();
    assert_eq!(ask(server.address(), "DBSIZE").unwrap(), ":0");
}

#[test]
#[ignore = "needs Redis: cargo xtask test redis"]
fn stopped_server_keeps_durable_data_and_its_port() {
    let server = Server::start(Settings::durable()).unwrap();
    assert_eq!(ask(server.address(), "SET kept x").unwrap(), "+OK");
    server.stop().unwrap();
    assert!(ask(server.address(), "PING").is_err());
    server.restart().unwrap();
    assert_eq!(ask(server.address(), "EXISTS kept").unwrap(), ":1");
}

#[test]
#[ignore = "needs Redis: cargo xtask test redis"]
fn shared_server_gives_each_caller_its_own_prefix() {
    let server = Server::shared();
    assert_eq!(server.pid(), Server::shared().pid());
    let (one, two) = (server.prefix(), server.prefix());
    assert_ne!(one, two);
    assert_eq!(ask(server.address(), &format!("SET {one}key x")).unwrap(), "+OK");
    assert_eq!(ask(server.address(), &format!("EXISTS {two}key")).unwrap(), ":0");
}

#[test]
#[ignore = "needs Redis: cargo xtask test redis"]
fn unknown_setting_fails_with_the_servers_own_words() {
    let error = Server::start(Settings::volatile().with("no-such-setting", "1")).unwrap_err();
    assert_eq!(error.code(), "throwaway.not_ready");
    assert!(error.to_string().contains("no-such-setting"), "{error}");
}

#[test]
#[ignore = "needs Redis: cargo xtask test redis"]
fn killed_owner_leaves_nothing() {
    let owner = Owner::of("redis");
    assert!(is_running(owner.pid) && owner.folder.exists());
    owner.signal("KILL");
    owner.assert_nothing_is_left();
}

#[test]
#[ignore = "needs Redis: cargo xtask test redis"]
fn interrupted_owner_leaves_nothing() {
    let owner = Owner::of("redis");
    owner.signal("INT");
    owner.assert_nothing_is_left();
}
