//! `leasehold top` for a script, for a pipe and on a terminal.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use serde_json::Value;

use crate::served::Server;

fn busy() -> Server {
    let server = Server::start();
    for (queue, items) in [("few", 1), ("many", 3), ("none", 0)] {
        server.json(&["queue", "create", queue]);
        for _ in 0..items {
            server.json(&["queue", "produce", queue, "--payload", "x"]);
        }
    }
    server.json(&["queue", "lease", "many"]);
    server.json(&["lock", "acquire", "billing"]);
    server.json(&["lock", "acquire", "nightly"]);
    server
}

fn names(frame: &Value) -> Vec<&str> {
    frame["queues"]
        .as_array()
        .expect("is a list")
        .iter()
        .map(|row| row["queue"].as_str().expect("is text"))
        .collect()
}

#[test]
fn one_frame_of_json_has_queues_by_the_sort_key_and_locks() {
    let server = busy();
    let frame = server.json(&["top", "--once", "--interval", "100ms"]);
    assert_eq!(names(&frame), ["many", "few", "none"]);
    let many = &frame["queues"][0];
    assert_eq!((&many["ready"], &many["leased"], &many["scheduled"]), (&2.into(), &1.into(), &0.into()));
    assert!(many["oldest_seconds"].as_f64() > Some(0.0), "{many}");
    assert_eq!(many["in_per_second"], 0.0, "nothing came between the two looks");
    assert_eq!(frame["locks"]["held"], 2);
    let keys: Vec<&Value> =
        frame["locks"]["list"].as_array().expect("a list").iter().map(|row| &row["key"]).collect();
    assert_eq!(keys, ["billing", "nightly"]);
    assert!(!frame.to_string().contains("lockId"), "who watches cannot release: {frame}");

    let frame = server.json(&[
        "top",
        "--once",
        "--interval",
        "100ms",
        "--sort",
        "name",
        "--limit",
        "2",
        "--locks",
        "0",
    ]);
    assert_eq!((names(&frame), &frame["queues_left_out"]), (vec!["few", "many"], &1.into()));
    assert_eq!((&frame["locks"]["held"], &frame["locks"]["list"]), (&2.into(), &Value::Array(Vec::new())));
}

#[test]
fn bad_arguments_and_servers_that_show_nothing_are_told() {
    let elsewhere = Server::start_with(&["--admin-address", "127.0.0.1:0"]);
    for (arguments, code, told) in [
        (&["top", "--once"][..], 2, "--admin-endpoint"),
        (&["top", "--once", "--admin-endpoint", "nonsense"], 2, "client.endpoint"),
        (&["top", "--once", "--interval", "1ms"], 2, "100ms at least"),
        (&["top", "--sort", "size"], 2, "failing"),
        (&["top", "--endpoint", "http://127.0.0.1:1"], 4, "client.connect"),
    ] {
        let ran = elsewhere.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{arguments:?}: {ran:?}");
        assert!(ran.err.contains(told), "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn without_a_terminal_frames_are_printed_until_it_is_told_to_stop() {
    let server = busy();
    let mut running =
        server.command(&["top", "--interval", "100ms"]).stdout(Stdio::piped()).spawn().expect("starts");
    let mut lines = BufReader::new(running.stdout.take().expect("piped")).lines();
    for _ in 0..2 {
        let head =
            lines.find(|line| line.as_ref().is_ok_and(|line| line.starts_with("QUEUE"))).expect("a frame");
        assert!(!head.expect("is text").contains('\u{1b}'), "no drawing where there is no terminal");
        assert!(lines.next().expect("a row").expect("is text").starts_with("many"));
    }
    kill_process(Pid::from_child(&running), Signal::INT).expect("sent");
    assert_eq!(running.wait().expect("ends").code(), Some(0));
}

#[test]
fn terminal_is_left_as_it_was() {
    let server = busy();
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("can be used");
    let name = ptsname(&terminal, Vec::new()).expect("has a name").into_string().expect("is text");
    let open = || OpenOptions::new().read(true).write(true).open(&name).expect("opens");
    let ours = open();
    tcsetwinsize(&ours, Winsize { ws_row: 12, ws_col: 40, ws_xpixel: 0, ws_ypixel: 0 }).expect("sets");
    let echoes = || tcgetattr(&ours).expect("says").local_modes.contains(LocalModes::ECHO);
    assert!(echoes());
    let mut running = server
        .command(&["top", "--interval", "100ms"])
        .stdin(open())
        .stdout(open())
        .stderr(open())
        .spawn()
        .expect("starts");
    let mut shown = File::from(terminal);
    let mut text = String::new();
    let mut read_until = |words: &str| {
        let mut part = [0; 4096];
        while !text.contains(words) {
            let len = shown.read(&mut part).expect("reads");
            text.push_str(&String::from_utf8_lossy(&part[..len]));
        }
        text.clone()
    };
    let drawn = read_until("nightly");
    assert!(drawn.starts_with("\u{1b}[?1049h\u{1b}[?25l"), "{drawn:?}");
    assert!(drawn.contains("2 lock(s) held") && drawn.contains("many"), "{drawn:?}");
    let widest = drawn.split("\r\n").map(|line| line.split('\u{1b}').next().unwrap_or("").len()).max();
    assert!(widest <= Some(40), "{drawn:?}");
    assert!(!echoes(), "keys are not drawn over the table");
    kill_process(Pid::from_child(&running), Signal::INT).expect("sent");
    assert!(read_until("\u{1b}[?1049l").ends_with("\u{1b}[?25h\u{1b}[?1049l"));
    assert_eq!(running.wait().expect("ends").code(), Some(0));
    assert!(echoes());
}
