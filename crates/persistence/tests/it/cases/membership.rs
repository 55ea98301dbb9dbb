//! The hosts of a cluster: found by what they said of themselves, for as long as they said.

use std::time::Duration;

use leasehold_core::Timestamp;
use leasehold_persistence::{
    ClusterMember, Error, Heartbeat, HostId, MemberFilter, Membership, PageSize, PageToken,
};

use crate::fixture::{Dice, Fixture, all_pages};

macro_rules! membership_cases {
    ($target:ident) => {
        $target!(
            membership:
            last_heartbeat_of_a_host_is_right,
            heartbeat_is_timed_by_the_database,
            filters_are_a_conjunction,
            time_that_is_longer_than_the_databases_filters_nothing,
            expired_hosts_are_not_found,
            pages_have_every_host_once,
            token_of_another_list_is_refused,
            only_expired_hosts_are_pruned_and_no_more_than_asked_for,
            more_hosts_than_a_transaction_takes_are_pruned,
        );
    };
}

const HOUR: Duration = Duration::from_secs(3_600);

fn store(fixture: &Fixture) -> Membership {
    Membership::new(fixture.database.clone())
}

fn host(number: u8) -> HostId {
    HostId::from_bytes([number; 16])
}

fn heartbeat(number: u8, address: &str, role: i16, joined: i64) -> Heartbeat {
    let joined = Timestamp::from_millis(joined);
    Heartbeat::new(host(number), address, 7_233, role, joined, HOUR).expect("a heartbeat")
}

async fn found(fixture: &Fixture, filter: &MemberFilter) -> Vec<ClusterMember> {
    store(fixture).members(filter, PageSize::MAX, None).await.expect("members").items
}

fn hosts(members: &[ClusterMember]) -> Vec<u8> {
    members.iter().map(|member| member.host_id.as_bytes()[0]).collect()
}

/// Lets the clock of everything that is stored of a host run ahead by so many seconds.
async fn age(fixture: &Fixture, number: u8, seconds: i32) {
    let sql = format!(
        "UPDATE cluster_membership
         SET last_heartbeat = last_heartbeat - interval '{seconds} s', record_expiry = record_expiry - interval '{seconds} s'
         WHERE replace(replace(host_id::text, '-', ''), '\\x', '') = repeat('{number:02x}', 16)"
    );
    assert_eq!(fixture.outside().await.execute(&sql, &[]).await.expect("an update"), 1);
}

pub(crate) async fn last_heartbeat_of_a_host_is_right(fixture: &Fixture) {
    let membership = store(fixture);
    membership.upsert(&heartbeat(1, "10.0.0.1", 1, 5)).await.expect("a heartbeat");
    membership.upsert(&heartbeat(1, "10.0.0.2", 3, 9)).await.expect("a heartbeat");
    let members = found(fixture, &MemberFilter::default()).await;
    assert_eq!(members.len(), 1);
    let member = &members[0];
    assert_eq!((member.host_id, member.rpc_address.as_str(), member.rpc_port), (host(1), "10.0.0.2", 7_233));
    assert_eq!((member.role, member.session_start), (3, Timestamp::from_millis(9)));
}

pub(crate) async fn heartbeat_is_timed_by_the_database(fixture: &Fixture) {
    let outside = fixture.outside().await;
    let now = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
    let before: i64 = outside.query_one(now, &[]).await.expect("a time").get(0);
    store(fixture).upsert(&heartbeat(1, "10.0.0.1", 1, 5)).await.expect("a heartbeat");
    let after: i64 = outside.query_one(now, &[]).await.expect("a time").get(0);
    let member = found(fixture, &MemberFilter::default()).await.remove(0);
    let heard = member.last_heartbeat.as_micros();
    assert!((before..=after).contains(&heard), "{before} {heard} {after}");
    assert_eq!(member.record_expiry, member.last_heartbeat.saturating_add(HOUR));
}

/// Every filter against a model of what passes it, in combinations of chance.
pub(crate) async fn filters_are_a_conjunction(fixture: &Fixture) {
    let mut dice = Dice(7);
    let (mut model, addresses) = (Vec::new(), ["10.0.0.1", "10.0.0.2"]);
    for number in 1..=12 {
        let address = addresses[usize::from(dice.once_in(2))];
        let (role, joined) = (i16::from(dice.once_in(2)) + 1, dice.between(0..=3));
        let aged = i32::from(dice.once_in(2)) * 600;
        store(fixture).upsert(&heartbeat(number, address, role, joined)).await.expect("a heartbeat");
        age(fixture, number, aged).await;
        model.push((number, address, role, joined, aged));
    }
    for _ in 0..40 {
        let number = u8::try_from(dice.between(1..=12)).expect("a number");
        let filter = MemberFilter {
            host_id: dice.once_in(6).then(|| host(number)),
            rpc_address: dice.once_in(2).then(|| addresses[usize::from(dice.once_in(2))].to_owned()),
            role: i16::try_from(dice.between(0..=2)).expect("a role"),
            heard_within: dice.once_in(2).then_some(Duration::from_secs(300)),
            joined_since: dice.once_in(2).then(|| Timestamp::from_millis(dice.between(0..=3))),
        };
        let wanted: Vec<u8> = model
            .iter()
            .filter(|(member, address, role, joined, aged)| {
                filter.host_id.is_none_or(|_| *member == number)
                    && filter.rpc_address.as_deref().is_none_or(|wanted| wanted == *address)
                    && (filter.role == 0 || filter.role == *role)
                    && (filter.heard_within.is_none() || *aged == 0)
                    && filter.joined_since.is_none_or(|since| Timestamp::from_millis(*joined) >= since)
            })
            .map(|(member, ..)| *member)
            .collect();
        assert_eq!(hosts(&found(fixture, &filter).await), wanted, "{filter:?}");
    }
    let nobody = MemberFilter { host_id: Some(host(99)), ..MemberFilter::default() };
    assert_eq!(found(fixture, &nobody).await, []);
}

/// Timestamps of the database begin 6,700 years ago.
pub(crate) async fn time_that_is_longer_than_the_databases_filters_nothing(fixture: &Fixture) {
    store(fixture).upsert(&heartbeat(1, "10.0.0.1", 1, 5)).await.expect("a heartbeat");
    age(fixture, 1, 600).await;
    for heard_within in [HOUR, HOUR * 24 * 366 * 7_000, Duration::MAX] {
        let filter = MemberFilter { heard_within: Some(heard_within), ..MemberFilter::default() };
        assert_eq!(hosts(&found(fixture, &filter).await), [1], "{heard_within:?}");
    }
}

pub(crate) async fn expired_hosts_are_not_found(fixture: &Fixture) {
    for number in 1..=3 {
        store(fixture).upsert(&heartbeat(number, "10.0.0.1", 1, 0)).await.expect("a heartbeat");
    }
    age(fixture, 2, 3_601).await;
    assert_eq!(hosts(&found(fixture, &MemberFilter::default()).await), [1, 3]);
    store(fixture).upsert(&heartbeat(2, "10.0.0.1", 1, 0)).await.expect("a heartbeat");
    assert_eq!(hosts(&found(fixture, &MemberFilter::default()).await), [1, 2, 3]);
}

pub(crate) async fn pages_have_every_host_once(fixture: &Fixture) {
    let membership = &store(fixture);
    for number in [200, 1, 127, 128, 3, 255] {
        membership.upsert(&heartbeat(number, "10.0.0.1", 1, 0)).await.expect("a heartbeat");
    }
    let filter = &MemberFilter::default();
    for size in 1..=7 {
        let listed = all_pages(size, |size, token| async move {
            membership.members(filter, size, token.as_ref()).await.expect("a page")
        })
        .await;
        assert_eq!(hosts(&listed), [1, 3, 127, 128, 200, 255], "pages of {size}");
    }
}

pub(crate) async fn token_of_another_list_is_refused(fixture: &Fixture) {
    for len in [0, 8, 15, 17] {
        let token = PageToken::from_bytes(vec![1; len]);
        let members = store(fixture).members(&MemberFilter::default(), PageSize::MAX, Some(&token)).await;
        let error = members.expect_err("a bad token");
        assert!(matches!(error, Error::InvalidRequest { field: "page_token", .. }), "{error:?}");
    }
}

/// Not as upstream, which deletes without a limit, and in every partition.
pub(crate) async fn only_expired_hosts_are_pruned_and_no_more_than_asked_for(fixture: &Fixture) {
    let membership = store(fixture);
    for number in 1..=7 {
        membership.upsert(&heartbeat(number, "10.0.0.1", 1, 0)).await.expect("a heartbeat");
    }
    for number in [1, 2, 4, 5, 6] {
        age(fixture, number, 3_601).await;
    }
    let outside = fixture.outside().await;
    let other = "INSERT INTO cluster_membership (membership_partition, host_id, rpc_address, rpc_port, role)
                 SELECT 9, host_id, rpc_address, rpc_port, 9 FROM cluster_membership WHERE membership_partition = 0";
    outside.batch_execute(other).await.expect("rows of another partition");
    for pruned in [2, 2, 1, 0] {
        assert_eq!(membership.prune(2).await.expect("a number"), pruned);
    }
    let left = "SELECT membership_partition, count(*) FROM cluster_membership GROUP BY 1 ORDER BY 1";
    let left: Vec<(i32, i64)> =
        outside.query(left, &[]).await.expect("rows").iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(left, [(0, 2), (9, 7)]);
    assert_eq!(hosts(&found(fixture, &MemberFilter::default()).await), [3, 7]);
    let error = membership.prune(0).await.expect_err("no limit");
    assert!(matches!(error, Error::InvalidRequest { field: "limit", .. }), "{error:?}");
}

pub(crate) async fn more_hosts_than_a_transaction_takes_are_pruned(fixture: &Fixture) {
    let id = if fixture.is_dsql() { "md5(n::text)::uuid" } else { "decode(md5(n::text), 'hex')" };
    let insert = format!(
        "INSERT INTO cluster_membership (membership_partition, host_id, rpc_address, rpc_port, role)
         SELECT 0, {id}, '10.0.0.1', 7233, 1 FROM generate_series(1, 3500) AS n"
    );
    fixture.outside().await.batch_execute(&insert).await.expect("hosts");
    assert_eq!(store(fixture).prune(3_200).await.expect("a number"), 3_200);
    assert_eq!(store(fixture).prune(3_200).await.expect("a number"), 300);
    assert_eq!(store(fixture).prune(3_200).await.expect("a number"), 0);
    assert_eq!(found(fixture, &MemberFilter::default()).await, []);
}
