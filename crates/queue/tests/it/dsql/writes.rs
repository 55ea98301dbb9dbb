//! Every kind of write, on a partition with an item that is held and one that is ready.

use std::future::Future;
use std::pin::Pin;

use leasehold_queue::store::{Change, Pick};
use leasehold_queue::{ItemId, Store, StoreError};
use tokio_postgres::Client;

use super::fixture::{Line, at};

pub(crate) type Pending<'a> = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>>;

/// A write, and the kind of a statement of it that comes behind the fence.
pub(crate) struct Write {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) run: fn(&mut Line, Ids) -> Pending<'_>,
}

#[derive(Clone, Copy)]
pub(crate) struct Ids {
    pub(crate) held: ItemId,
    pub(crate) ready: ItemId,
}

pub(crate) const ALL: [Write; 8] = [
    Write {
        name: "produce",
        kind: "insert",
        run: |line, _| {
            let item = line.item("late");
            Box::pin(async move { line.owner.produce(&[item]).await.map(drop) })
        },
    },
    Write {
        name: "import",
        kind: "insert",
        run: |line, _| {
            let mut item = line.item("late");
            item.source_id = Some("s".to_owned());
            Box::pin(async move { line.owner.produce(&[item]).await.map(drop) })
        },
    },
    Write {
        name: "lease",
        kind: "update",
        run: |line, ids| {
            let pick = Pick { id: ids.ready, deadline: at(60) };
            Box::pin(async move { line.owner.lease(&[pick]).await.map(drop) })
        },
    },
    Write {
        name: "complete",
        kind: "delete",
        run: |line, ids| {
            let change = Change::Complete { id: ids.held };
            Box::pin(async move { line.owner.change(&[&[change]]).await.map(drop) })
        },
    },
    Write {
        name: "return",
        kind: "update",
        run: |line, ids| {
            let change = Change::Return { id: ids.held, new_id: line.ids.next() };
            Box::pin(async move { line.owner.change(&[&[change]]).await.map(drop) })
        },
    },
    Write {
        name: "requeue",
        kind: "update",
        run: |line, ids| {
            let new_id = line.ids.next();
            Box::pin(async move { line.owner.requeue(&[(ids.held, new_id)]).await.map(drop) })
        },
    },
    Write {
        name: "remove",
        kind: "delete",
        run: |line, ids| Box::pin(async move { line.owner.remove(&[ids.held]).await.map(drop) }),
    },
    Write {
        name: "clear",
        kind: "delete",
        run: |line, _| {
            Box::pin(async move { line.owner.clear(true, true, true, ItemId::MIN).await.map(drop) })
        },
    },
];

/// Opens a partition and fills it.
pub(crate) async fn filled(store: &dyn Store, queue: &str) -> (Line, Ids) {
    let mut line = Line::open(store, queue).await;
    let (held, ready) = (line.item("held"), line.item("ready"));
    let ids = Ids { held: held.id, ready: ready.id };
    line.owner.produce(&[held, ready]).await.expect("produce");
    line.owner.lease(&[Pick { id: ids.held, deadline: at(60) }]).await.expect("lease");
    (line, ids)
}

/// All that is stored of a queue.
pub(crate) async fn content(outside: &Client, queue: &str) -> String {
    let sql = "SELECT coalesce(string_agg(item::text || content::text, ';' ORDER BY item.id), '')
                      || (SELECT count(*) FROM leasehold_contents WHERE queue = $1)::text
                 FROM leasehold_items AS item
                 JOIN leasehold_contents AS content
                   ON content.queue = item.queue AND content.partition = item.partition AND content.id = item.content_id
                WHERE item.queue = $1";
    outside.query_one(sql, &[&queue]).await.expect("content").get(0)
}
