//! Shards, namespaces, clusters, endpoints.

use std::time::Duration;

use leasehold_core::Timestamp;
use leasehold_persistence::{
    Blob, ClusterMetadatas, Endpoint, EndpointId, Endpoints, Error, Heartbeat, HostId, Membership,
    NamespaceBy, NamespaceId, NamespaceRecord, Namespaces, Shards,
};

use super::{Write, bytes, prepared, writes};

fn blob(data: u8) -> Blob {
    Blob::proto3(vec![data])
}

fn namespace(seed: u16, data: u8) -> NamespaceRecord {
    let id = NamespaceId::from_bytes(bytes(seed));
    NamespaceRecord::new(id, format!("namespace {seed} {data}"), blob(data), false).expect("a record")
}

fn cluster(seed: u16) -> String {
    format!("cluster {seed}")
}

fn heartbeat(seed: u16, ttl: Duration) -> Heartbeat {
    let host = HostId::from_bytes(bytes(seed));
    Heartbeat::new(host, "10.0.0.1", 7_233, 1, Timestamp::EPOCH, ttl).expect("a heartbeat")
}

fn endpoint(seed: u16, version: i64) -> Endpoint {
    Endpoint { id: EndpointId::from_bytes(bytes(seed)), blob: blob(1), version }
}

/// Saves an endpoint, however often others are faster; the version of the table after it.
async fn saved(endpoints: &Endpoints, seed: u16) -> i64 {
    loop {
        let table = endpoints.table_version().await.expect("a version");
        match endpoints.save(&endpoint(seed, 0), table).await {
            Ok(()) => return table + 1,
            Err(Error::ConditionFailed { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}

writes! {
    "shard.get_or_create", None, |_database, seed| {
        prepared(move |database| async move {
            Shards::new(database).get_or_create(seed.into(), || (1, blob(1))).await.map(drop)
        })
    };
    "shard.take_over", Some("state.shard_ownership_lost"), |database, seed| {
        let shard = Shards::new(database).get_or_create(seed.into(), || (1, blob(1))).await.expect("a shard");
        prepared(move |database| {
            let shard = shard.clone();
            async move { Shards::new(database).take_over(&shard, blob(2)).await.map(drop) }
        })
    };
    "namespace.create", Some("state.namespace_already_exists"), |_database, seed| {
        prepared(move |database| async move { Namespaces::new(database).create(&namespace(seed, 1)).await.map(drop) })
    };
    "namespace.update", Some("state.condition_failed"), |database, seed| {
        let namespaces = Namespaces::new(database);
        namespaces.create(&namespace(seed, 1)).await.expect("a namespace");
        let version = namespaces.notification_version().await.expect("a version");
        prepared(move |database| async move {
            let record = NamespaceRecord::new(namespace(seed, 1).id(), namespace(seed, 1).name(), blob(9), true);
            Namespaces::new(database).update(&record.expect("a record"), version).await
        })
    };
    "namespace.rename", Some("state.condition_failed"), |database, seed| {
        let namespaces = Namespaces::new(database);
        namespaces.create(&namespace(seed, 1)).await.expect("a namespace");
        let version = namespaces.notification_version().await.expect("a version");
        prepared(move |database| async move { Namespaces::new(database).update(&namespace(seed, 2), version).await })
    };
    "namespace.delete", None, |database, seed| {
        Namespaces::new(database).create(&namespace(seed, 1)).await.expect("a namespace");
        prepared(move |database| async move {
            Namespaces::new(database).delete(NamespaceBy::Name(namespace(seed, 1).name())).await
        })
    };
    "cluster.save_first", Some("state.condition_failed"), |_database, seed| {
        prepared(move |database| async move {
            ClusterMetadatas::new(database).save(&cluster(seed), &blob(1), 0).await.map(drop)
        })
    };
    "cluster.save", Some("state.condition_failed"), |database, seed| {
        ClusterMetadatas::new(database).save(&cluster(seed), &blob(1), 0).await.expect("a version");
        prepared(move |database| async move {
            ClusterMetadatas::new(database).save(&cluster(seed), &blob(2), 1).await.map(drop)
        })
    };
    "cluster.delete", None, |database, seed| {
        ClusterMetadatas::new(database).save(&cluster(seed), &blob(1), 0).await.expect("a version");
        prepared(move |database| async move { ClusterMetadatas::new(database).delete(&cluster(seed)).await })
    };
    "membership.upsert", None, |_database, seed| {
        prepared(move |database| async move {
            Membership::new(database).upsert(&heartbeat(seed, Duration::from_secs(3_600))).await
        })
    };
    "membership.prune", None, |database, seed| {
        // Its time is over when the database hears of it again.
        Membership::new(database).upsert(&heartbeat(seed, Duration::from_micros(1))).await.expect("a heartbeat");
        prepared(move |database| async move { Membership::new(database).prune(10).await.map(drop) })
    };
    "nexus.save_first", Some("state.condition_failed"), |database, seed| {
        // The first of all also makes the version of the table; this is not to be that one.
        let table = saved(&Endpoints::new(database), u16::MAX - seed).await;
        prepared(move |database| async move { Endpoints::new(database).save(&endpoint(seed, 0), table).await })
    };
    "nexus.save", Some("state.condition_failed"), |database, seed| {
        let table = saved(&Endpoints::new(database), seed).await;
        prepared(move |database| async move { Endpoints::new(database).save(&endpoint(seed, 1), table).await })
    };
    "nexus.delete", Some("state.condition_failed"), |database, seed| {
        let table = saved(&Endpoints::new(database), seed).await;
        prepared(move |database| async move { Endpoints::new(database).delete(endpoint(seed, 1).id, table).await })
    };
}
