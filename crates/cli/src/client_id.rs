/// A client id nobody else has: `id-` and ten letters, as Querator's command line makes them.
pub(crate) fn random() -> String {
    let mut bytes = [0_u8; 10];
    getrandom::fill(&mut bytes).expect("the system has random bytes");
    bytes.iter().fold("id-".to_owned(), |id, byte| id + char::from(b'a' + byte % 26).encode_utf8(&mut [0; 4]))
}

#[cfg(test)]
mod tests {
    #[test]
    fn random_ids_have_ten_letters_and_differ() {
        let (first, second) = (super::random(), super::random());
        let letters = first.strip_prefix("id-").expect("has its prefix");
        assert!(letters.len() == 10 && letters.bytes().all(|byte| byte.is_ascii_lowercase()), "{first}");
        assert_ne!(first, second);
    }
}
