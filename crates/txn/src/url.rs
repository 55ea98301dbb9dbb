//! The URL form of a connection string, as pairs.

use crate::{Error, Result};

/// Reads what follows `://`. `[user[:password]@][host[:port],…][/database][?key=value&…]`.
pub(crate) fn pairs(rest: &str) -> Result<Vec<(String, String)>> {
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let mut pairs = Vec::new();

    let hosts = match authority.rsplit_once('@') {
        Some((user, hosts)) => {
            let (user, password) =
                user.split_once(':').map_or((user, None), |(user, rest)| (user, Some(rest)));
            push(&mut pairs, "user", user)?;
            if let Some(password) = password {
                push(&mut pairs, "password", password)?;
            }
            hosts
        }
        None => authority,
    };
    push_hosts(&mut pairs, hosts)?;
    push(&mut pairs, "dbname", database)?;

    for (position, pair) in (1..).zip(query.split('&').filter(|pair| !pair.is_empty())) {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| bad(&format!("parameter number {position} of the URL has no value")))?;
        pairs.push((decoded(key)?, decoded(value)?));
    }
    Ok(pairs)
}

fn push_hosts(pairs: &mut Vec<(String, String)>, hosts: &str) -> Result<()> {
    let mut names = Vec::new();
    let mut ports = Vec::new();
    for host in hosts.split(',') {
        let (name, port) = match host.strip_prefix('[') {
            Some(address) => {
                let (address, after) =
                    address.split_once(']').ok_or_else(|| bad("the URL has an open bracket"))?;
                (address, after.strip_prefix(':').unwrap_or(after))
            }
            None => host.split_once(':').unwrap_or((host, "")),
        };
        names.push(decoded(name)?);
        ports.push(port);
    }
    push(pairs, "host", &names.join(","))?;
    // An empty port means the default one, and so does a list of them.
    if ports.iter().any(|port| !port.is_empty()) {
        pairs.push(("port".to_owned(), ports.join(",")));
    }
    Ok(())
}

fn push(pairs: &mut Vec<(String, String)>, key: &str, value: &str) -> Result<()> {
    if !value.is_empty() {
        pairs.push((key.to_owned(), decoded(value)?));
    }
    Ok(())
}

fn decoded(text: &str) -> Result<String> {
    let escape = || bad("the URL has a bad percent escape");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first == b'%' {
            let digits =
                after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok()).ok_or_else(escape)?;
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return Err(escape());
            }
            bytes.push(u8::from_str_radix(digits, 16).map_err(|_| escape())?);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8(bytes).map_err(|_| bad("the URL does not decode to UTF-8"))
}

fn bad(reason: &str) -> Error {
    Error::BadConfig { field: "connection string", reason: reason.to_owned() }
}
