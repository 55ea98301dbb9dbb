//! Who changed what is told, and no key.

use std::io::Write;
use std::sync::{Arc, Mutex};

use leasehold_access::{Permission, Principal};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

use super::fixture::{anyone, binding, namespace, nobody, role, server, user};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}

impl Log {
    /// Takes the lines of everything that is logged on this thread while the guard lives.
    fn start() -> (Self, (tracing::subscriber::DefaultGuard, tracing::Dispatch)) {
        // With one subscriber in the process, tracing asks the thread that first comes by an event whether it is wanted, and
        // remembers that for all: it may be a thread of another test, which has none.
        let second = tracing::Dispatch::new(tracing_subscriber::registry());
        let log = Log::default();
        let layer = tracing_subscriber::fmt::layer().with_ansi(false).without_time().with_writer(log.clone());
        let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
        (log, (guard, second))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no panic").clone()).expect("is text")
    }

    fn audited(&self) -> Vec<String> {
        self.text().lines().filter(|line| line.contains("leasehold::audit")).map(str::to_owned).collect()
    }
}

#[tokio::test]
async fn every_change_leaves_one_line_with_actor_action_and_object() {
    let (log, _guard) = Log::start();
    let server = server();
    let who = anyone();
    server.namespace("orders").await;
    server.update_namespace(&who, &namespace("orders")).await.expect("updates");
    let ann = server.user("ann").await;
    let key = server.key(&ann).await;
    let role_id = server.role("orders", "worker", &[Permission::QueueLease]).await;
    server.update_role(&who, &role("orders", "worker", &[])).await.expect("updates");
    let bound = server.bind("orders", "worker", &ann).await;
    server.delete_role_binding(&who, &binding("orders", "worker", &ann)).await.expect("unbinds");
    server.delete_role(&who, "orders", "worker").await.expect("deletes");
    server.delete_api_key(&who, &key.id).await.expect("deletes");
    server.delete_user(&who, &ann).await.expect("deletes");
    server.delete_namespace(&who, "orders").await.expect("deletes");

    let expected = [
        ("namespace.create", "orders"),
        ("namespace.update", "orders"),
        ("user.create", &ann),
        ("apikey.create", &key.id),
        ("role.create", &role_id),
        ("role.update", &role_id),
        ("rolebinding.create", &bound),
        ("rolebinding.delete", &format!("{ann}:{role_id}")),
        ("role.delete", &role_id),
        ("apikey.delete", &key.id),
        ("user.delete", &ann),
        ("namespace.delete", "orders"),
    ];
    let lines = log.audited();
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    for (line, (action, object)) in lines.iter().zip(expected) {
        for part in [
            "actor=\"anonymous\"",
            &format!("action=\"{action}\""),
            &format!("object=\"{object}\""),
            "outcome=\"done\"",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }
}

#[tokio::test]
async fn refusal_is_told_and_cannot_forge_a_line() {
    let (log, _guard) = Log::start();
    let server = server();
    let forged = "x\nINFO leasehold::audit: actor=\"root\"";
    server.create_user(&nobody(), &user(forged)).await.expect_err("may not");
    let lines = log.audited();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(lines[0].contains("actor=\"nobody\"") && lines[0].contains("outcome=\"denied\""), "{lines:#?}");
    server.delete_user(&nobody(), &"x".repeat(1_000_000)).await.expect_err("may not");
    assert!(log.text().len() < 4_000, "names are cut");
}

#[tokio::test]
async fn reading_and_failing_requests_leave_no_line() {
    let (log, _guard) = Log::start();
    let server = server();
    server.list_users(&anyone(), &Default::default()).await.expect("answers");
    server.delete_user(&anyone(), "who").await.expect_err("unknown");
    server.create_namespace(&anyone(), &namespace("")).await.expect_err("malformed");
    server.authorise(&Principal::user("who", None), "", Permission::QueueLease).await.expect_err("may not");
    assert!(log.audited().is_empty(), "{:#?}", log.audited());
}

#[tokio::test]
async fn no_key_and_no_hash_is_logged() {
    let (log, _guard) = Log::start();
    let server = server();
    let ann = server.user("ann").await;
    let key = server.key(&ann).await;
    server.sent(&key).await.expect("is valid");
    server.delete_api_key(&anyone(), &key.id).await.expect("deletes");
    server.sent(&key).await.expect_err("is gone");
    let text = format!("{} {key:?}", log.text());
    let entropy = key.key.expose().rsplit('-').next().expect("has parts");
    assert!(!text.contains(&entropy[9..]), "{text}");
    assert!(!text.contains(&key.key.hash().to_text()), "{text}");
    assert!(text.contains("the door is open"), "a fresh server warns: {text}");
}
