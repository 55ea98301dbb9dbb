//! Another product on the same database: reads and writes documents over the emulator's web interface, where every
//! value names its type.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use leasehold_testkit::firestore::Emulator;
use serde_json::{Value, json};

/// The fields of a document as they are on the wire, or `None` if there is no such document.
pub(crate) fn fields(project: &str, path: &str) -> Option<Value> {
    let (status, body) = ask("GET", project, path, None);
    match status {
        200 => Some(body["fields"].clone()),
        404 => None,
        other => panic!("{other}: {body}"),
    }
}

/// Replaces a document.
pub(crate) fn put(project: &str, path: &str, fields: &Value) {
    let (status, body) = ask("PATCH", project, path, Some(&json!({ "fields": fields })));
    assert_eq!(status, 200, "{body}");
}

/// A lock as SyncGuard writes it.
pub(crate) fn lock(key: &str, lock_id: &str, expires_at: i64, fence: &str) -> Value {
    json!({
        "lockId": { "stringValue": lock_id },
        "expiresAtMs": { "integerValue": expires_at.to_string() },
        "acquiredAtMs": { "integerValue": "1700000000000" },
        "key": { "stringValue": key },
        "fence": { "stringValue": fence },
    })
}

fn ask(method: &str, project: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    let mut stream = TcpStream::connect(Emulator::shared().address()).expect("the emulator listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let (path, body) = (escaped(path), body.map(Value::to_string).unwrap_or_default());
    write!(
        stream,
        "{method} /v1/projects/{project}/databases/(default)/documents/{path} HTTP/1.1\r\nHost: emulator\r\n\
         Authorization: Bearer owner\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("sent");
    answer(&mut BufReader::new(stream))
}

/// The answer has a length or comes in chunks; the connection stays open either way.
fn answer(reader: &mut impl BufRead) -> (u16, Value) {
    let line = read_line(reader);
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let header = read_line(reader).to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length: ") {
            length = value.parse().expect("a length");
        }
        is_chunked |= header == "transfer-encoding: chunked";
    }
    let mut body = read_bytes(reader, length);
    while is_chunked {
        let length = usize::from_str_radix(&read_line(reader), 16).expect("a length");
        body.extend(read_bytes(reader, length));
        read_line(reader);
        is_chunked = length > 0;
    }
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

fn read_line(reader: &mut impl BufRead) -> String {
    let mut line = String::new();
    reader.read_line(&mut line).expect("a line");
    line.trim_end().to_owned()
}

fn read_bytes(reader: &mut impl Read, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).expect("as long as it says");
    bytes
}

fn escaped(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.');
    let escape = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(escape).collect()
}
