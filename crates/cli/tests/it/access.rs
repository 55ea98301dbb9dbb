//! Who may do what, from the command line; and a key that is in no output but the one it is made in.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::served::{Ran, Server, leasehold};

struct Guarded {
    server: Server,
    key: String,
    user: String,
}

/// A server whose door is closed to whoever has no key, and an administrator's key.
fn guarded() -> Guarded {
    let folder = tempfile::tempdir().expect("temporary folder");
    let config = folder.path().join("config.yaml");
    fs::write(&config, "auth-backend:\n  driver: internal\n").expect("writes");
    let server = Server::start_with(&["--config", config.to_str().expect("is text")]);
    let user = server.json(&["user", "create", "ada", "--email", "ada@example.org"])["id"]
        .as_str()
        .expect("has an id")
        .to_owned();
    server.json(&["binding", "create", "Admin", &user]);
    let created = server.json(&[
        "apikey",
        "create",
        &user,
        "--name",
        "laptop",
        "--expires-at",
        "720h",
        "--tag",
        "test",
    ]);
    let key = created["key"].as_str().expect("is shown once").to_owned();
    assert!(key.starts_with("qtr-test-"), "has its tag");
    server.json(&["binding", "delete", "Admin", "anonymous"]);
    Guarded { server, key, user }
}

impl Guarded {
    fn run(&self, arguments: &[&str]) -> Ran {
        let ran = Ran::from(
            self.server.command(arguments).env("LEASEHOLD_API_KEY", &self.key).output().expect("runs"),
        );
        self.hides_the_key(&ran);
        ran
    }

    fn hides_the_key(&self, ran: &Ran) {
        let secret = self.key.rsplit('-').next().expect("has parts");
        // The first eight characters are its prefix, which lists show on purpose.
        assert!(!ran.out.contains(&secret[8..]) && !ran.err.contains(&secret[8..]), "the key is shown");
    }
}

#[test]
fn closed_door_opens_to_a_key_from_flag_environment_or_profile() {
    let guarded = guarded();
    let refused = guarded.server.run(&["queue", "list"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("access denied") && refused.err.lines().count() == 1, "{}", refused.err);
    guarded.run(&["queue", "list"]).ok();
    let flag = guarded.server.run(&["queue", "list", "--api-key", &guarded.key]).ok();
    guarded.hides_the_key(&flag);
    guarded.run(&["list"]).ok();
    guarded.run(&["lock", "acquire", "billing"]).ok();

    let folder = guarded.server.home().join(".config/leasehold");
    fs::create_dir_all(&folder).expect("is created");
    let file = folder.join("config.toml");
    let text = format!(
        "profile = \"here\"\n[profiles.here]\nendpoint = \"{}\"\napi-key = \"{}\"\n[profiles.other]\nendpoint = \"http://127.0.0.1:1\"\n",
        guarded.server.endpoint, guarded.key
    );
    fs::write(&file, text).expect("writes");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("is set");
    let profile = |arguments: &[&str]| {
        let output = leasehold(guarded.server.home()).args(arguments).output().expect("runs");
        let ran = Ran::from(output);
        guarded.hides_the_key(&ran);
        ran
    };
    profile(&["queue", "list"]).ok();
    profile(&["queue", "list", "--profile", "here"]).ok();
    assert_eq!(profile(&["queue", "list", "--profile", "other"]).code, 4);
    assert!(profile(&["queue", "list", "--profile", "nope"]).err.contains("there is here, other"));
}

#[test]
fn wrong_keys_are_refused_without_being_repeated() {
    let guarded = guarded();
    let unknown = format!("qtr-test-{}", "7".repeat(43));
    for (key, told) in [
        (unknown.as_str(), "api key does not exist"),
        ("hunter2", "api key is invalid"),
        ("hunter2\n", "is not one"),
    ] {
        for arguments in [&["queue", "list"][..], &["list"], &["bench", "--duration", "100ms"]] {
            let ran = Ran::from(
                guarded.server.command(arguments).env("LEASEHOLD_API_KEY", key).output().expect("runs"),
            );
            assert!(ran.code == 1 || ran.code == 2, "{ran:?}");
            assert!(ran.err.contains(told), "{arguments:?} {key:?}: {}", ran.err);
            assert!(!ran.err.contains("hunter2") && !ran.err.contains("7777"), "{}", ran.err);
        }
    }
}

#[test]
fn everything_the_api_has_about_access_can_be_done() {
    let guarded = guarded();
    let json = |arguments: &[&str]| {
        let ran = guarded.run(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran.json()
    };
    let names = |value: &serde_json::Value, field: &str| -> Vec<String> {
        let items = value["items"].as_array().cloned().unwrap_or_default();
        items.iter().map(|item| item[field].as_str().unwrap_or_default().to_owned()).collect()
    };
    json(&["namespace", "create", "shop", "--description", "all of it", "--api-key-tag", "shop"]);
    json(&["namespace", "update", "shop", "--description", "some of it"]);
    assert_eq!(names(&json(&["namespace", "list"]), "name"), ["_system", "shop"]);
    json(&["role", "create", "producer", "--namespace", "shop", "--permission", "queue.produce,queue.list"]);
    json(&[
        "role",
        "update",
        "producer",
        "--namespace",
        "shop",
        "--permission",
        "queue.produce",
        "--permission",
        "queue.create",
    ]);
    let roles = json(&["role", "list", "--namespace", "shop"]);
    assert_eq!(roles["items"][0]["permissions"], serde_json::json!(["queue.produce", "queue.create"]));
    assert!(names(&json(&["role", "list"]), "name").contains(&"Admin".to_owned()));

    let bob = json(&["user", "create", "bob"])["id"].as_str().expect("has an id").to_owned();
    json(&["binding", "create", "producer", &bob, "--namespace", "shop"]);
    assert_eq!(names(&json(&["binding", "list", "--namespace", "shop"]), "user_id"), [bob.as_str()]);
    let created = guarded.run(&["apikey", "create", &bob, "--namespace", "shop", "--json"]).ok().json();
    let key = created["key"].as_str().expect("is shown once");
    let as_bob = |arguments: &[&str]| {
        Ran::from(guarded.server.command(arguments).env("LEASEHOLD_API_KEY", key).output().expect("runs"))
    };
    as_bob(&["queue", "create", "orders", "--namespace", "shop"]).ok();
    as_bob(&["queue", "produce", "orders", "--payload", "x"]).ok();
    let denied = as_bob(&["queue", "lease", "orders"]);
    assert_eq!(denied.code, 2, "{denied:?}");
    assert!(denied.err.contains("leasehold binding create"), "{}", denied.err);

    assert_eq!(names(&json(&["apikey", "list", "--user-id", &bob]), "user_id"), [bob.as_str()]);
    assert_eq!(names(&json(&["apikey", "list"]), "user_id").len(), 2);
    json(&["apikey", "delete", created["id"].as_str().expect("has an id")]);
    assert!(as_bob(&["queue", "list"]).err.contains("api key does not exist"));
    for arguments in [
        &["namespace", "delete", "shop"][..],
        &["role", "delete", "producer", "--namespace", "shop"],
        &["user", "delete", "nobody"],
        &["role", "create", "bad", "--permission", "no.such"],
        &["user", "create", "ada"],
    ] {
        assert_eq!(guarded.run(arguments).code, 2, "{arguments:?}");
    }
    json(&["binding", "delete", "producer", &bob, "--namespace", "shop"]);
    json(&["role", "delete", "producer", "--namespace", "shop"]);
    json(&["queue", "delete", "orders"]);
    json(&["namespace", "delete", "shop"]);
    json(&["user", "delete", &bob]);
    let users = names(&json(&["user", "list"]), "id");
    assert!(users.contains(&guarded.user) && !users.contains(&bob), "{users:?}");
    for noun in ["namespace", "user", "apikey", "role", "binding"] {
        assert!(guarded.run(&[noun, "list"]).ok().out.lines().count() > 1, "{noun} has a table");
    }
}

#[test]
fn lost_administration_is_recovered_in_the_store_itself() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let config = folder.path().join("config.yaml");
    fs::write(&config, "auth-backend:\n  driver: internal\n").expect("writes");
    let store = folder.path().join("data");
    let (config, store) = (config.to_str().expect("is text"), store.to_str().expect("is text"));
    let recover = |store: &str, more: &[&str]| {
        let arguments = [&["access", "recover", "--store", store][..], more].concat();
        Ran::from(leasehold(folder.path()).args(arguments).output().expect("runs"))
    };
    assert_eq!(recover(store, &[]).code, 2, "there is no store yet");
    assert_eq!(recover("memory:", &[]).code, 2);

    let server = Server::start_on(store, &["--config", config]);
    let refused = server.run(&["binding", "delete", "Admin", "anonymous"]);
    assert!(refused.code == 2 && refused.err.contains("last administrator"), "{refused:?}");
    let user = server.json(&["user", "create", "ada"])["id"].as_str().expect("has an id").to_owned();
    server.json(&["binding", "create", "Admin", &user]);
    server.json(&["apikey", "create", &user]);
    let planted =
        server.json(&["user", "create", "recovered-admin"])["id"].as_str().expect("has an id").to_owned();
    server.json(&["apikey", "create", &planted]);
    server.json(&["binding", "delete", "Admin", "anonymous"]);
    let in_use = recover(store, &[]);
    assert_eq!(in_use.code, 4, "{in_use:?}");
    assert!(in_use.err.contains("stop that process") && in_use.out.is_empty(), "{in_use:?}");
    drop(server);

    let refused = recover(store, &[]);
    assert!(
        refused.code == 2 && refused.err.contains("delete its keys"),
        "a key of another would administer: {refused:?}"
    );

    // The key that was made above is lost.
    let recovered = recover(store, &["--user", "ada", "--json"]).ok().json();
    assert_eq!(recovered["user_id"], user.as_str());
    let key = recovered["key"].as_str().expect("is shown once");
    let server = Server::start_on(store, &["--config", config]);
    assert_eq!(server.run(&["user", "list"]).code, 2, "the door is still shut");
    let listed = server.command(&["user", "list", "--json"]).env("LEASEHOLD_API_KEY", key).output();
    let listed = Ran::from(listed.expect("runs")).ok();
    assert!(listed.out.contains(&user) && !listed.out.contains(key), "{listed:?}");
}
