//! A Redis error reply to our code.

use super::LockCode;

impl LockCode {
    /// The code of an error Redis replied with, by the first word in it that is a known error word. Usually
    /// that is its first word; older servers wrap the errors of scripts in a text of their own.
    pub fn from_redis_error(reply: &str) -> Self {
        reply
            .split(|character: char| !character.is_ascii_alphanumeric())
            .find_map(known)
            .unwrap_or(Self::Internal)
    }
}

fn known(word: &str) -> Option<LockCode> {
    match word {
        "READONLY" | "LOADING" | "CLUSTERDOWN" | "MASTERDOWN" | "TRYAGAIN" => {
            Some(LockCode::ServiceUnavailable)
        }
        "NOAUTH" | "WRONGPASS" | "NOPERM" => Some(LockCode::AuthFailed),
        "WRONGTYPE" | "SYNTAX" | "INVALID" | "CROSSSLOT" => Some(LockCode::InvalidArgument),
        "OOM" | "BUSY" => Some(LockCode::RateLimited),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_a_cluster_are_outages() {
        for reply in
            ["MASTERDOWN Link with MASTER is down", "TRYAGAIN Multiple keys request during rehashing"]
        {
            assert_eq!(LockCode::from_redis_error(reply), LockCode::ServiceUnavailable, "{reply}");
        }
    }

    #[test]
    fn error_inside_a_script_keeps_its_code() {
        let reply =
            "ERR Error running script (call to f_1): @user_script:1: WRONGTYPE Operation against a key";
        assert_eq!(LockCode::from_redis_error(reply), LockCode::InvalidArgument);
    }
}
