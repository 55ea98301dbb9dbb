//! Where Redis is, from its URL.

use redis::{ConnectionAddr, IntoConnectionInfo, ProtocolVersion, RedisConnectionInfo};

use crate::{Error, Result};

/// A server that can be dialled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) host: String,
    pub(super) port: u16,
}

/// What the URL says. Has a password in it, and so no `Debug`.
#[derive(Clone)]
pub(super) struct Location {
    /// At least one; more than one only for a cluster.
    pub(super) nodes: Vec<Node>,
    pub(super) login: RedisConnectionInfo,
    pub(super) tls: bool,
    pub(super) cluster: bool,
}

impl Location {
    pub(super) fn parse(url: &str) -> Result<Self> {
        let (scheme, rest) = url.split_once("://").ok_or_else(|| bad(SCHEMES))?;
        let (tls, cluster) = match scheme {
            "redis" => (false, false),
            "rediss" => (true, false),
            "redis-cluster" => (false, true),
            "rediss-cluster" => (true, true),
            _ => return Err(bad(SCHEMES)),
        };
        let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (format!("{user}@"), hosts),
            None => (String::new(), authority),
        };
        if !cluster && hosts.contains(',') {
            return Err(bad("has several hosts: that is redis-cluster:// or rediss-cluster://"));
        }
        let mut nodes = Vec::new();
        let mut login = RedisConnectionInfo::default();
        for host in hosts.split(',') {
            // The driver knows how to read one host; its errors may repeat the URL and are not passed on.
            let info = format!("redis://{user}{host}{tail}")
                .into_connection_info()
                .map_err(|_| bad("is not redis://[user:password@]host[:port][/database]"))?;
            let ConnectionAddr::Tcp(host, port) = info.addr() else { return Err(bad(SCHEMES)) };
            nodes.push(Node { host: host.clone(), port: *port });
            // Only the older protocol can be used for subscribing on a connection of its own.
            login = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP2);
        }
        if cluster && login.db() != 0 {
            return Err(bad("names a database: a Redis Cluster has only database 0"));
        }
        Ok(Location { nodes, login, tls, cluster })
    }
}

impl Node {
    /// The node a cluster sends us on to, as `host:port`; without a host it is the one we asked.
    pub(super) fn redirected(address: &str, asked: &Node) -> Option<Node> {
        let (host, port) = address.rsplit_once(':')?;
        let host = match host.trim_matches(['[', ']']) {
            "" => asked.host.clone(),
            host => host.to_owned(),
        };
        Some(Node { host, port: port.parse().ok()? })
    }
}

/// Whether keys that begin with this prefix are all in one slot: the text between the first braces decides.
pub(super) fn has_hash_tag(prefix: &str) -> bool {
    prefix.split_once('{').and_then(|(_, rest)| rest.split_once('}')).is_some_and(|(tag, _)| !tag.is_empty())
}

const SCHEMES: &str = "must begin with redis://, rediss://, redis-cluster:// or rediss-cluster://";

fn bad(reason: &str) -> Error {
    Error::BadConfig { field: "url", reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(url: &str) -> Vec<String> {
        let nodes = Location::parse(url).map(|location| location.nodes).unwrap_or_default();
        nodes.into_iter().map(|node| format!("{}:{}", node.host, node.port)).collect()
    }

    #[test]
    fn url_names_hosts_login_and_database() {
        let found = Location::parse("rediss://worker:p%40ss@example.com:7000/3").unwrap();
        assert_eq!(found.nodes, [Node { host: "example.com".into(), port: 7000 }]);
        assert_eq!((found.tls, found.cluster, found.login.db()), (true, false, 3));
        assert_eq!((found.login.username(), found.login.password()), (Some("worker"), Some("p@ss")));
    }

    #[test]
    fn cluster_url_names_several_nodes() {
        assert_eq!(hosts("redis-cluster://u:p@a:1,b,[::1]:3"), ["a:1", "b:6379", "::1:3"]);
        assert!(Location::parse("rediss-cluster://a,b").unwrap().tls);
    }

    #[test]
    fn unusable_url_is_refused_without_repeating_it() {
        for url in [
            "",
            "localhost",
            "http://secret",
            "redis://secret:1,secret:2",
            "redis://secret:notaport",
            "redis-cluster://secret/1",
            "redis-cluster://secret:1,",
            "redis://",
            "unix:///secret",
        ] {
            let error = Location::parse(url).err().unwrap_or_else(|| panic!("{url} was taken"));
            assert_eq!(error.code(), "lock.bad_config", "{url}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn redirection_may_leave_out_the_host() {
        let asked = Node { host: "a".into(), port: 1 };
        assert_eq!(Node::redirected("b:2", &asked), Some(Node { host: "b".into(), port: 2 }));
        assert_eq!(Node::redirected(":2", &asked), Some(Node { host: "a".into(), port: 2 }));
        assert_eq!(Node::redirected("::1:2", &asked), Some(Node { host: "::1".into(), port: 2 }));
        assert_eq!(Node::redirected("b", &asked), None);
    }

    #[test]
    fn hash_tag_is_what_redis_says_it_is() {
        for (prefix, tagged) in [
            ("{a}", true),
            ("x{a}:y", true),
            ("a", false),
            ("{}", false),
            ("{a", false),
            ("}{", false),
            ("{}{a}", false),
        ] {
            assert_eq!(has_hash_tag(prefix), tagged, "{prefix}");
        }
    }
}
