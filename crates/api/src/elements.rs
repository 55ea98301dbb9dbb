//! How many elements the lists of an encoded request have, before anything is made of them: an element of a few bytes
//! may take hundreds once it is decoded.

use prost::encoding::{DecodeContext, WireType, decode_key, skip_field};

/// At least as many as a decoder gets to see: texts and messages of a message count, those within them do not, as no
/// request has lists there.
pub fn protobuf_elements(mut body: &[u8]) -> usize {
    let mut elements = 0;
    while !body.is_empty() {
        let Ok((tag, wire_type)) = decode_key(&mut body) else { break };
        elements += usize::from(wire_type == WireType::LengthDelimited);
        if skip_field(wire_type, tag, &mut body, DecodeContext::default()).is_err() {
            break;
        }
    }
    elements
}

/// Deeper than any decoder goes.
const DEPTH_MAX: u32 = 128;

/// At least as many as a decoder gets to see, in lists at any depth.
pub fn json_elements(body: &[u8]) -> usize {
    // Whether the containers around what follows are lists, the innermost in the lowest bit.
    let (mut is_list, mut depth) = (0_u128, 0_u32);
    let (mut elements, mut rest) = (0, body.iter());
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => {
                while rest
                    .next()
                    .is_some_and(|byte| *byte != b'"' && (*byte != b'\\' || rest.next().is_some()))
                {
                }
            }
            b'[' | b'{' => {
                is_list = is_list << 1 | u128::from(*byte == b'[');
                depth += 1;
                elements += usize::from(*byte == b'[');
            }
            b']' | b'}' => {
                is_list >>= 1;
                depth = depth.saturating_sub(1);
            }
            b',' => elements += (is_list & 1) as usize,
            _ => {}
        }
        if depth > DEPTH_MAX {
            break;
        }
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_lists_are_counted_and_nothing_else_is() {
        for (text, elements) in [
            ("{}", 0),
            (r#"{"a": 1, "b": {"c": 2, "d": 3}}"#, 0),
            (r#"{"items": [{"a": 1, "b": 2}, {}, {}], "c": 1}"#, 3),
            (r#"{"ids": ["a,[", "\",", "\\", "{"]}"#, 4),
            (r#"[[1, 2], [3]]"#, 5),
            // Never fewer than a decoder sees before it stops.
            (r#"{"items": [{},{},{"#, 3),
            (r#"{"items": [{},{},"#, 3),
            (r#"{"items": [{},"a"#, 2),
            ("]]],,", 0),
        ] {
            assert_eq!(json_elements(text.as_bytes()), elements, "{text}");
        }
        assert!(json_elements(&b"[".repeat(1_000)) >= 128);
    }

    #[test]
    fn fields_with_a_length_are_counted_as_far_as_they_can_be_read() {
        for (body, elements) in [
            (&b""[..], 0),
            (b"\x1a\x00\x1a\x02\x1a\x00\x1a\x00", 3),
            // A number, and a text.
            (b"\x10\x05\x0a\x01q", 1),
            (b"\x1a\x00\x1a\x09x", 2),
            (b"\x1a\x00\x07", 1),
        ] {
            assert_eq!(protobuf_elements(body), elements, "{body:?}");
        }
    }
}
