//! What a Linux program needs of the machine, read from its own headers: `ldd` would run it, and is not everywhere.

/// The loader it asks for, and how many libraries. Nothing, if it is static.
pub(crate) fn needs(file: &[u8]) -> Result<Vec<String>, &'static str> {
    // The magic, then 64 bits, then little-endian.
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return Err("not a little-endian 64-bit ELF file");
    }
    let cut = "the file is cut";
    let headers_at = number(file, 0x20, 8).ok_or(cut)?;
    let header_len = number(file, 0x36, 2).ok_or(cut)?;
    let headers = number(file, 0x38, 2).ok_or(cut)?;
    if headers == 0 {
        return Err("it has nothing to load");
    }
    let mut needs = Vec::new();
    for header in 0..headers {
        let at = header.checked_mul(header_len).and_then(|at| at.checked_add(headers_at)).ok_or(cut)?;
        let (kind, from, len) = (
            number(file, at, 4).ok_or(cut)?,
            number(file, at.saturating_add(8), 8).ok_or(cut)?,
            number(file, at.saturating_add(32), 8).ok_or(cut)?,
        );
        let part = from.checked_add(len).and_then(|to| file.get(from..to));
        match kind {
            INTERPRETER => {
                let name = String::from_utf8_lossy(part.ok_or(cut)?);
                needs.push(name.trim_end_matches('\0').to_owned());
            }
            DYNAMIC => {
                // Static programs that can be loaded anywhere have such a table as well, without libraries in it.
                let tags = part.ok_or(cut)?.chunks_exact(16).filter_map(|entry| number(entry, 0, 8));
                let libraries = tags.take_while(|tag| *tag != 0).filter(|tag| *tag == NEEDED).count();
                if libraries > 0 {
                    needs.push(format!("{libraries} shared libraries"));
                }
            }
            _ => {}
        }
    }
    Ok(needs)
}

const DYNAMIC: usize = 2;
const INTERPRETER: usize = 3;
const NEEDED: usize = 1;

fn number(bytes: &[u8], at: usize, len: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(len)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with these parts, each a kind and its bytes.
    fn file(parts: &[(usize, &[u8])]) -> Vec<u8> {
        const HEADER_LEN: usize = 56;
        let mut file = vec![0; 0x40 + HEADER_LEN * parts.len()];
        let put = |file: &mut Vec<u8>, at: usize, number: usize, len: usize| {
            file[at..at + len].copy_from_slice(&number.to_le_bytes()[..len]);
        };
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        put(&mut file, 0x20, 0x40, 8);
        put(&mut file, 0x36, HEADER_LEN, 2);
        put(&mut file, 0x38, parts.len(), 2);
        for (index, (kind, bytes)) in parts.iter().enumerate() {
            let (at, from) = (0x40 + HEADER_LEN * index, file.len());
            put(&mut file, at, *kind, 4);
            put(&mut file, at + 8, from, 8);
            put(&mut file, at + 32, bytes.len(), 8);
            file.extend_from_slice(bytes);
        }
        file
    }

    fn table(tags: &[u64]) -> Vec<u8> {
        tags.iter().flat_map(|tag| [tag.to_le_bytes(), [0; 8]].concat()).collect()
    }

    #[test]
    fn loader_and_libraries_are_needs() {
        let dynamic = table(&[1, 1, 5, 0, 1]);
        let linked = file(&[(1, b"code"), (INTERPRETER, b"/lib64/ld.so\0"), (DYNAMIC, &dynamic)]);
        assert_eq!(needs(&linked).expect("is a program"), ["/lib64/ld.so", "2 shared libraries"]);
    }

    #[test]
    fn static_program_needs_nothing_wherever_it_is_loaded() {
        assert_eq!(needs(&file(&[(1, b"code")])).expect("is a program"), Vec::<String>::new());
        let anywhere = file(&[(1, b"code"), (DYNAMIC, &table(&[5, 6, 0]))]);
        assert_eq!(needs(&anywhere).expect("is a program"), Vec::<String>::new());
    }

    #[test]
    fn what_is_no_program_or_half_of_one_is_refused() {
        assert!(needs(b"#!/bin/sh").is_err());
        let whole = file(&[(INTERPRETER, b"/lib64/ld.so\0")]);
        for len in 0..whole.len() {
            assert!(needs(&whole[..len]).is_err(), "cut at {len}");
        }
    }

    #[test]
    fn this_test_is_linked_as_its_target_says() {
        let path = std::env::current_exe().expect("has a path");
        let needs = needs(&std::fs::read(path).expect("can be read"));
        if cfg!(all(target_os = "linux", target_env = "gnu")) {
            assert!(needs.expect("is a program").len() >= 2, "a loader and libraries");
        }
    }
}
