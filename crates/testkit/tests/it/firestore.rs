//! The Firestore emulator from outside.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use crate::owner::{Owner, is_running};
use leasehold_testkit::firestore::Emulator;

/// The first line of the answer to a web request.
fn answer(address: SocketAddr, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "{request} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")?;
    stream.set_read_timeout(Some(Duration::from_secs(120)))?;
    // Only the line: the emulator keeps the connection open, whatever it is asked for.
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn document(project: &str) -> String {
    format!("/v1/projects/{project}/databases/(default)/documents/kept/one")
}

#[test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
fn dropped_emulator_leaves_no_process_no_folder_no_port() {
    let emulator = Emulator::start().unwrap();
    let (pid, folder, address) = (emulator.pid(), emulator.folder().to_path_buf(), emulator.address());
    assert_eq!(answer(address, "GET /").unwrap(), "HTTP/1.1 200 OK");
    drop(emulator);
    assert!(!is_running(pid) && !folder.exists());
    assert!(std::net::TcpListener::bind(address).is_ok());
}

#[test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
fn shared_emulator_gives_each_caller_its_own_project() {
    let emulator = Emulator::shared();
    assert_eq!(emulator.address(), Emulator::shared().address());
    let (one, two) = (emulator.project(), emulator.project());
    let patch = format!("PATCH {}", document(&one));
    assert_eq!(answer(emulator.address(), &patch).unwrap(), "HTTP/1.1 200 OK");
    let found = |project| answer(emulator.address(), &format!("GET {}", document(project))).unwrap();
    assert_eq!(found(&one), "HTTP/1.1 200 OK");
    assert_eq!(found(&two), "HTTP/1.1 404 Not Found");
}

#[test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
fn killed_emulator_comes_back_empty_on_its_port() {
    let emulator = Emulator::start().unwrap();
    let (killed, address, project) = (emulator.pid(), emulator.address(), emulator.project());
    assert_eq!(answer(address, &format!("PATCH {}", document(&project))).unwrap(), "HTTP/1.1 200 OK");
    emulator.kill().unwrap();
    assert!(!is_running(killed));
    assert!(answer(address, "GET /").is_err());
    emulator.restart().unwrap();
    assert_eq!(emulator.address(), address);
    assert_eq!(answer(address, &format!("GET {}", document(&project))).unwrap(), "HTTP/1.1 404 Not Found");
}

#[test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
fn killed_owner_leaves_nothing() {
    let mut owner = Owner::of("firestore");
    assert!(is_running(owner.pid) && owner.folder.exists());
    owner.process.kill().unwrap();
    owner.assert_nothing_is_left();
}

#[test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
fn interrupted_owner_leaves_nothing() {
    let owner = Owner::of("firestore");
    owner.signal("INT");
    owner.assert_nothing_is_left();
}
