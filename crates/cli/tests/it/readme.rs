//! The README's ten lines, run as a reader would: by a shell, from top to bottom.

use crate::document::{Shell, block};

#[test]
fn ten_lines_run_and_print_what_they_promise() {
    let script = block("README.md", "## Ten lines that run", "sh");
    assert_eq!(script.lines().count(), 10, "{script}");
    let (code, printed) = Shell::with_address_to_serve_at().run(&script);
    assert_eq!(code, Some(0), "{printed}");
    let mut rest = printed.as_str();
    for promised in [
        "cargo build --release",
        "well, version",
        "acquired",
        "fence       000000000000001",
        "held by another",
        "exit code 3: held",
        "my fence is 000000000000001",
        "created mail",
        "produced 1 item(s)",
        "\"bytes\":\"aGVsbG8=\"",
        "cargo run --quiet --package paused-holder",
        "exit code 0",
    ] {
        let Some(at) = rest.find(promised) else {
            panic!("no '{promised}' after what came before: {printed}")
        };
        rest = &rest[at + promised.len()..];
    }
}
