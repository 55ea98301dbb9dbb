//! The doctor, who is shown a Firestore that is well and some that are not.

use std::io::{Read, Write};
use std::net::TcpStream;

use leasehold_testkit::firestore::Emulator;

use crate::diagnosis::{Diagnosis, diagnose_in};

fn diagnose(project: &str, emulator: &str) -> Diagnosis {
    diagnose_in(&["--store", &format!("firestore://{project}")], &[("FIRESTORE_EMULATOR_HOST", emulator)])
}

/// Writes a document over the emulator's web interface, as somebody else would.
fn put(project: &str, path: &str, fields: &str) {
    let body = format!(r#"{{"fields":{fields}}}"#);
    let mut stream = TcpStream::connect(Emulator::shared().address()).expect("the emulator listens");
    write!(
        stream,
        "PATCH /v1/projects/{project}/databases/(default)/documents/{path} HTTP/1.1\r\nHost: emulator\r\n\
         Authorization: Bearer owner\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("is sent");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("is answered");
    assert_eq!(&answer, b"HTTP/1.1 200");
}

fn lock(key: &str) -> String {
    format!(
        r#"{{"lockId":{{"stringValue":"{}"}},"expiresAtMs":{{"integerValue":"99999999999999"}},
            "acquiredAtMs":{{"integerValue":"1700000000000"}},"key":{{"stringValue":"{key}"}},
            "fence":{{"stringValue":"000000000000007"}}}}"#,
        "x".repeat(22)
    )
}

fn counter(fence: u64) -> String {
    format!(r#"{{"fence":{{"stringValue":"{fence:015}"}},"keyDebug":{{"stringValue":"k"}}}}"#)
}

#[test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
fn database_that_is_well_is_found_so_and_what_was_lost_is_told() {
    let emulator = Emulator::shared();
    let (project, address) = (emulator.project(), emulator.address().to_string());
    let empty = diagnose(&project, &address);
    assert_eq!(empty.code, 0, "{}", empty.text);
    assert!(empty.has_only("ok"), "{}", empty.text);
    empty.expect("ok", "permissions", "may be written");
    empty.expect("ok", "clock", "the store's clock");

    put(&project, "locks/billing", &lock("billing"));
    put(&project, "fence_counters/fence:billing", &counter(7));
    let held = diagnose(&project, &address);
    assert_eq!(held.code, 0, "{}", held.text);
    held.expect("ok", "locks", "1 live hold");

    put(&project, "fence_counters/fence:billing", &counter(6));
    put(&project, "locks/foreign", r#"{"color":{"stringValue":"red"}}"#);
    let ill = diagnose(&project, &address);
    assert_eq!(ill.code, 8, "{}", ill.text);
    ill.expect("problem", "fences", "1 hold(s)");
    ill.expect("warning", "locks", "1 document(s)");
    assert!(!ill.text.contains("billing"), "keys are nobody's business: {}", ill.text);
}

#[test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
fn emulator_that_is_not_there_is_told_as_such() {
    let gone = diagnose("nobody", "127.0.0.1:1");
    assert_eq!(gone.code, 8, "{}", gone.text);
    assert!(gone.expect("problem", "reach", "lock.unavailable").contains("FIRESTORE_EMULATOR_HOST"));
}
