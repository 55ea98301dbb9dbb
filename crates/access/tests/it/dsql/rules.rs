//! Every statement file by the rules of every level, also those that are PostgreSQL's.

use std::collections::BTreeMap;
use std::path::Path;

use leasehold_dsql_sim::rules::{Level, lint};

/// What DSQL has no words for, and the store does not say to it.
const POSTGRES_ONLY: [&str; 3] = ["channel.sql", "schema_exists.sql", "setup_lock.sql"];

#[test]
fn statements_pass_the_rules_of_every_level() {
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store");
    let mut statements = BTreeMap::new();
    // The later one of a name is the one that counts.
    for folder in ["postgres/sql", "dsql/sql"] {
        for entry in store.join(folder).read_dir().expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            statements.insert(name, std::fs::read_to_string(&path).expect("a text"));
        }
    }
    statements.retain(|name, _| !POSTGRES_ONLY.contains(&name.as_str()));
    assert!(statements.len() >= 50, "only {} statements were found", statements.len());
    for (name, sql) in statements {
        for level in Level::ALL {
            let findings = lint(&sql, *level, true, false);
            assert!(findings.is_empty(), "{name} at {level}: {findings:?}");
        }
    }
}
