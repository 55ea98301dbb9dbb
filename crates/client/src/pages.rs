//! Long lists, a page at a time: each page begins where the last one ended.

use leasehold_api::queue::{
    ApiKeyMetadata, ApiKeysListRequest, NamespaceInfo, NamespacesListRequest, QueueInfo, QueuesListRequest,
    Role, RoleBinding, RoleBindingsListRequest, RolesListRequest, StorageItem, StorageItemsListRequest, User,
    UsersListRequest,
};

use crate::{Client, Result};

/// A list that can be walked: asked for from a pivot on, in the order of its entries' pivots.
#[allow(async_fn_in_trait, reason = "implemented here only; its futures stay on the caller's task")]
pub trait List {
    /// What it lists.
    type Entry;
    /// Asks for at most `limit` entries from the pivot on, the pivot included.
    async fn page(&self, client: &Client, pivot: &str, limit: i32) -> Result<Vec<Self::Entry>>;
    /// Where the request itself wants to begin.
    fn start(&self) -> &str;
    /// What to name to go on from an entry.
    fn pivot(entry: &Self::Entry) -> &str;
}

/// Walks a list. Entries added behind the walk are not seen; those ahead of it are.
#[derive(Debug)]
pub struct Pages<'a, L> {
    client: &'a Client,
    list: L,
    page_len: i32,
    pivot: String,
    /// The pivot was an entry of the last page: it comes again and is dropped.
    seen: bool,
}

impl Client {
    /// Walks a list in pages of at most `page_len` entries.
    pub fn pages<L: List>(&self, list: L, page_len: u16) -> Pages<'_, L> {
        let pivot = list.start().to_owned();
        Pages { client: self, list, page_len: i32::from(page_len).max(1), pivot, seen: false }
    }
}

impl<L: List> Pages<'_, L> {
    /// From now on only what comes after this entry, which may be gone.
    pub fn after(mut self, pivot: &str) -> Self {
        pivot.clone_into(&mut self.pivot);
        self.seen = true;
        self
    }

    /// The next page, empty when there is no more. Asking again later shows what was added at the end meanwhile.
    pub async fn next(&mut self) -> Result<Vec<L::Entry>> {
        let limit = self.page_len + i32::from(self.seen);
        let mut entries = self.list.page(self.client, &self.pivot, limit).await?;
        if self.seen && entries.first().is_some_and(|first| L::pivot(first) == self.pivot) {
            entries.remove(0);
        }
        if let Some(last) = entries.last() {
            L::pivot(last).clone_into(&mut self.pivot);
            self.seen = true;
        }
        Ok(entries)
    }

    /// All that is left, up to `limit` entries.
    pub async fn take(&mut self, limit: usize) -> Result<Vec<L::Entry>> {
        let mut taken = Vec::new();
        while taken.len() < limit {
            let page = self.next().await?;
            if page.is_empty() {
                break;
            }
            taken.extend(page);
        }
        taken.truncate(limit);
        Ok(taken)
    }
}

/// Ready and leased items of a partition.
#[derive(Debug, Clone, Default)]
pub struct Items(pub StorageItemsListRequest);

/// Scheduled items of a partition.
#[derive(Debug, Clone, Default)]
pub struct Scheduled(pub StorageItemsListRequest);

macro_rules! list {
    ($list:ty, $request:ident $(.$inner:tt)?, $entry:ty, $call:ident, $pivot:ident) => {
        impl List for $list {
            type Entry = $entry;

            async fn page(&self, client: &Client, pivot: &str, limit: i32) -> Result<Vec<$entry>> {
                let $request = self;
                let mut request = $request$(.$inner)?.clone();
                pivot.clone_into(&mut request.pivot);
                request.limit = limit;
                Ok(client.$call(&request).await?.items)
            }

            fn start(&self) -> &str {
                let $request = self;
                &$request$(.$inner)?.pivot
            }

            fn pivot(entry: &$entry) -> &str {
                &entry.$pivot
            }
        }
    };
}

list!(QueuesListRequest, request, QueueInfo, list_queues, queue_name);
list!(Items, request.0, StorageItem, list_items, id);
list!(Scheduled, request.0, StorageItem, list_scheduled, id);
list!(NamespacesListRequest, request, NamespaceInfo, list_namespaces, name);
list!(UsersListRequest, request, User, list_users, id);
list!(ApiKeysListRequest, request, ApiKeyMetadata, list_api_keys, id);
list!(RolesListRequest, request, Role, list_roles, id);
list!(RoleBindingsListRequest, request, RoleBinding, list_bindings, id);
