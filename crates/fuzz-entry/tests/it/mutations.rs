//! Every target over mutations of its seeds: the same in every run, and in bounds.

use std::collections::BTreeSet;
use std::path::Path;

use leasehold_fuzz_entry::TARGETS;

/// Mutations of each seed; more of those that are few.
const RUNS: usize = 20_000;

/// xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("64 bits") % below.max(1)
    }
}

fn mutate(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = seeds[random.next(seeds.len())].clone();
    for _ in 0..=random.next(4) {
        let at = random.next(bytes.len() + 1);
        match random.next(7) {
            0 => bytes.insert(at, u8::try_from(random.next(256)).expect("a byte")),
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 if at < bytes.len() => bytes[at] ^= 1 << random.next(8),
            3 => bytes.truncate(at),
            4 => {
                let other = &seeds[random.next(seeds.len())];
                bytes.truncate(at);
                bytes.extend_from_slice(&other[random.next(other.len() + 1)..]);
            }
            5 if at < bytes.len() => {
                let piece = bytes[at..(at + random.next(8) + 1).min(bytes.len())].to_vec();
                let to = random.next(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => {
                const ODD: [&[u8]; 8] = [
                    b"\0",
                    b"\xff\xff\xff\xff\x0f",
                    b"{}",
                    b"null",
                    b"-1",
                    b"9999999999999999999",
                    "é".as_bytes(),
                    b"\"",
                ];
                let odd = ODD[random.next(ODD.len())];
                bytes.splice(at..at, odd.iter().copied());
            }
        }
    }
    bytes
}

macro_rules! targets {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            hold(stringify!($name));
        })*

        #[test]
        fn every_target_is_run_here_and_by_the_fuzzer() {
            let here = BTreeSet::from([$(stringify!($name).to_owned()),*]);
            let known = TARGETS.iter().map(|target| target.name.to_owned()).collect::<BTreeSet<_>>();
            assert_eq!(here, known);
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
            let files = std::fs::read_dir(folder.join("fuzz_targets")).expect("a folder");
            let names = files.map(|file| file.expect("a file").path().file_stem().expect("a name").to_owned());
            let names: BTreeSet<_> = names.map(|name| name.into_string().expect("text")).collect();
            assert_eq!(names, known);
            for name in known {
                assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not in the manifest");
            }
        }
    };
}

targets!(config_yaml, duration, json, key, location, name, ndjson, protobuf);

fn hold(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let seeds = (target.seeds)();
    for seed in &seeds {
        (target.run)(seed);
    }
    let mut random = Random(0x2319_2319_2319_2319);
    // Messages are decoded as every type there is.
    let runs = if matches!(name, "json" | "protobuf") { RUNS / 10 } else { RUNS };
    for _ in 0..runs {
        let bytes = mutate(&seeds, &mut random);
        let held = std::panic::catch_unwind(|| (target.run)(&bytes));
        assert!(held.is_ok(), "{name} broke on {:?}", String::from_utf8_lossy(&bytes));
    }
}
