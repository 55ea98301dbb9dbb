//! AWS Signature Version 4, presigned query form: pure functions from a request and a secret to text.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// A GET request to presign. Only the `host` header is signed.
pub(crate) struct Request<'a> {
    pub(crate) host: &'a str,
    pub(crate) path: &'a str,
    /// The request's own parameters, unencoded.
    pub(crate) query: &'a [(&'a str, &'a str)],
    pub(crate) region: &'a str,
    pub(crate) service: &'a str,
    /// `YYYYMMDD'T'HHMMSS'Z'`.
    pub(crate) timestamp: &'a str,
    pub(crate) expires_seconds: u64,
    /// SHA-256 of the body in hex, or the word a service takes in its place.
    pub(crate) payload: &'a str,
}

/// Who signs.
pub(crate) struct Signer<'a> {
    pub(crate) access_key_id: &'a str,
    pub(crate) secret_access_key: &'a str,
    pub(crate) session_token: Option<&'a str>,
}

/// The SHA-256 of an empty body.
pub(crate) const EMPTY_PAYLOAD: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The request's address without its scheme, signature included.
pub(crate) fn presigned(request: &Request<'_>, signer: &Signer<'_>) -> String {
    let day = request.timestamp.split('T').next().unwrap_or_default();
    let scope = format!("{day}/{}/{}/aws4_request", request.region, request.service);
    let credential = format!("{}/{scope}", signer.access_key_id);
    let expires = request.expires_seconds.to_string();

    let mut query: Vec<(String, String)> = request
        .query
        .iter()
        .copied()
        .chain([
            ("X-Amz-Algorithm", ALGORITHM),
            ("X-Amz-Credential", credential.as_str()),
            ("X-Amz-Date", request.timestamp),
            ("X-Amz-Expires", expires.as_str()),
            ("X-Amz-SignedHeaders", "host"),
        ])
        .chain(signer.session_token.map(|token| ("X-Amz-Security-Token", token)))
        .map(|(key, value)| (encoded(key), encoded(value)))
        .collect();
    query.sort();
    let query = query.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("&");

    let canonical =
        format!("GET\n{}\n{query}\nhost:{}\n\nhost\n{}", request.path, request.host, request.payload);
    let to_sign = format!(
        "{ALGORITHM}\n{}\n{scope}\n{}",
        request.timestamp,
        hex(&Sha256::digest(canonical.as_bytes()))
    );
    let key = signing_key(signer.secret_access_key, day, request.region, request.service);
    let signature = hex(&hmac(&key, to_sign.as_bytes()));
    format!("{}{}?{query}&X-Amz-Signature={signature}", request.host, request.path)
}

/// A key that is good for one day, one region and one service.
fn signing_key(secret: &str, day: &str, region: &str, service: &str) -> Vec<u8> {
    let mut key = format!("AWS4{secret}").into_bytes();
    for part in [day, region, service, "aws4_request"] {
        key = hmac(&key, part.as_bytes());
    }
    key
}

fn hmac(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(data);
    mac.finalize().into_bytes().to_vec()
}

/// Everything but RFC 3986's unreserved characters as `%XX`, upper case.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{EMPTY_PAYLOAD, Request, Signer, encoded, hex, presigned, signing_key};
    use sha2::{Digest, Sha256};

    #[test]
    fn empty_payload_is_the_hash_of_nothing() {
        assert_eq!(hex(&Sha256::digest(b"")), EMPTY_PAYLOAD);
    }

    /// The worked example of the signing guide.
    #[test]
    fn signing_key_matches_the_published_example() {
        let key = signing_key("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20150830", "us-east-1", "iam");
        assert_eq!(hex(&key), "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
    }

    /// The presigned request of the S3 reference.
    #[test]
    fn signature_matches_the_published_presigned_request() {
        let url = presigned(
            &Request {
                host: "examplebucket.s3.amazonaws.com",
                path: "/test.txt",
                query: &[],
                region: "us-east-1",
                service: "s3",
                timestamp: "20130524T000000Z",
                expires_seconds: 86_400,
                payload: "UNSIGNED-PAYLOAD",
            },
            &Signer {
                access_key_id: "AKIAIOSFODNN7EXAMPLE",
                secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                session_token: None,
            },
        );
        assert!(
            url.ends_with(
                "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
            ),
            "{url}"
        );
    }

    #[test]
    fn only_unreserved_characters_stay() {
        assert_eq!(encoded("aZ09-._~"), "aZ09-._~");
        assert_eq!(encoded("a/b c+é"), "a%2Fb%20c%2B%C3%A9");
    }
}
