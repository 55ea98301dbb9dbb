//! The words of Redis: key prefix, reserved keys, server time.

use crate::{Error, Key, Result, StorageKeySpace, Timestamp};

/// What every Redis key of one deployment starts with. May be empty. Kept as given; trailing colons are dropped
/// only when keys are derived.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyPrefix(String);

impl KeyPrefix {
    /// The prefix SyncGuard uses unless told otherwise.
    pub const DEFAULT: &str = "syncguard";

    /// Checks a configured prefix. One with `fence:` in it or `fence` at its end is refused, so that deleting
    /// "the locks" by pattern cannot delete fence counters; so is one too long for every key to have a place.
    pub fn parse(text: &str) -> Result<Self> {
        if text.contains("fence:") || text.ends_with("fence") {
            return Err(Error::KeyPrefixReserved);
        }
        StorageKeySpace::new(text, StorageKeySpace::REDIS_LIMIT, StorageKeySpace::REDIS_RESERVE)?;
        Ok(Self(text.into()))
    }

    /// The prefix as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for KeyPrefix {
    fn default() -> Self {
        Self(Self::DEFAULT.into())
    }
}

/// What to do with keys that share their storage key with an index entry (`id:…`) or a fence counter (`fence:…`).
/// Redis has one namespace for all three: locking such a key blocks another key for as long as it is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ReservedKeys {
    /// Refuse them.
    #[default]
    Refuse,
    /// Take them, because peers on the same Redis already use such keys.
    Allow,
}

impl ReservedKeys {
    /// Whether a key may be used on Redis.
    pub fn admit(self, key: &Key) -> Result<()> {
        let reserved = ["id:", "fence:"].into_iter().find(|prefix| key.as_str().starts_with(prefix));
        match (self, reserved) {
            (Self::Refuse, Some(prefix)) => Err(Error::KeyReserved { prefix }),
            _ => Ok(()),
        }
    }
}

/// The server's time, from the two texts of its reply to `TIME`.
pub fn server_time(seconds: &str, micros: &str) -> Result<Timestamp> {
    let time = || {
        let seconds: i64 = seconds.parse().ok()?;
        let micros: i64 = micros.parse().ok().filter(|micros| (0..1_000_000).contains(micros))?;
        seconds.checked_mul(1_000_000)?.checked_add(micros)
    };
    time().map(Timestamp::from_micros).ok_or(Error::RedisTimeMalformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_keys_are_refused_unless_allowed() {
        for (text, reserved) in
            [("id:x", true), ("fence:x", true), ("fence", false), ("ID:x", false), ("my:id:x", false)]
        {
            let key = Key::parse(text).unwrap();
            assert_eq!(ReservedKeys::Refuse.admit(&key).is_err(), reserved, "{text}");
            assert_eq!(ReservedKeys::Allow.admit(&key), Ok(()), "{text}");
        }
    }

    #[test]
    fn prefix_that_leaves_no_room_is_refused() {
        assert!(KeyPrefix::parse(&"p".repeat(951)).is_ok());
        assert_eq!(KeyPrefix::parse(&"p".repeat(952)).unwrap_err().code(), "key_prefix.too_long");
    }

    #[test]
    fn time_that_is_no_time_is_refused() {
        for (seconds, micros) in
            [("", "0"), ("1", ""), ("1", "1000000"), ("1", "-1"), ("x", "0"), ("9223372036854775807", "0")]
        {
            assert_eq!(server_time(seconds, micros), Err(Error::RedisTimeMalformed), "{seconds} {micros}");
        }
    }
}
