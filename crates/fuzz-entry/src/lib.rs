//! Where fuzzing enters: one function per decoder. Each takes any bytes, must not panic, and checks that what was read
//! is written and read again as the same. `fuzz/` runs them under libFuzzer, which needs a nightly compiler; the tests
//! here run them over mutations of good input, on any.

mod lines;
mod locations;
mod messages;
mod words;

/// A name, the function, and input that it takes.
pub struct Target {
    /// Of the file in `fuzz/fuzz_targets`, too.
    pub name: &'static str,
    /// Panics if the decoder breaks a promise.
    pub run: fn(&[u8]),
    /// Where mutations start.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "config_yaml", run: locations::config_yaml, seeds: locations::config_seeds },
    Target { name: "duration", run: words::duration, seeds: words::duration_seeds },
    Target { name: "json", run: messages::json, seeds: messages::json_seeds },
    Target { name: "key", run: words::key, seeds: words::key_seeds },
    Target { name: "location", run: locations::location, seeds: locations::location_seeds },
    Target { name: "name", run: words::name, seeds: words::name_seeds },
    Target { name: "ndjson", run: lines::ndjson, seeds: lines::ndjson_seeds },
    Target { name: "protobuf", run: messages::protobuf, seeds: messages::protobuf_seeds },
];

/// Runs the target of this name.
///
/// # Panics
/// If there is none, or the decoder breaks a promise.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of this name");
    (target.run)(bytes);
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

fn seeds(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
