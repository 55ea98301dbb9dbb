//! Every statement file by the rules of every level.

use leasehold_dsql_sim::rules::{Level, lint};

/// Pieces of other statements.
const PIECES: [&str; 8] =
    ["owned", "here", "held", "bytes", "content", "next_to_clear", "columns", "partition_info"];

#[test]
fn statements_pass_the_rules_of_every_level() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/dsql/sql");
    let piece =
        |name: &str| std::fs::read_to_string(folder.join(name).with_extension("sql")).expect("a piece");
    let mut checked = 0;
    for folder in [folder.clone(), folder.join("queues")] {
        for entry in folder.read_dir().expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() || PIECES.contains(&name.as_str()) {
                continue;
            }
            let mut sql = std::fs::read_to_string(&path).expect("a text");
            for name in ["next_to_clear", "owned", "here", "held", "bytes", "content"] {
                sql = sql.replace(&format!("{{{name}}}"), piece(name).trim_end());
            }
            let sql = sql.replace("{columns}", "1").replace("{there}", "true");
            for level in Level::ALL {
                let findings = lint(&sql, *level, true, false);
                assert!(findings.is_empty(), "{name} at {level}: {findings:?}");
            }
            checked += 1;
        }
    }
    assert!(checked >= 40, "only {checked} statements were found");
}
