/// What can be asked: a message there, a message back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// Where to POST.
    pub path: &'static str,
    /// The full name of the message to send.
    pub request: &'static str,
    /// The full name of the message that answers.
    pub response: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
}

impl Endpoint {
    /// The noun of its path.
    pub(super) fn tag(&self) -> &'static str {
        let name = self.path.trim_start_matches("/v1/");
        name.split(['.', '/']).next().unwrap_or(name)
    }
}

/// The one at this path.
#[must_use]
pub fn endpoint(path: &str) -> Option<&'static Endpoint> {
    ENDPOINTS.iter().find(|endpoint| endpoint.path == path)
}

/// Nouns, and what they are.
pub(super) const TAGS: [(&str, &str); 10] = [
    ("queue", "The items of a queue."),
    ("queues", "Queues themselves."),
    ("storage", "Items as they are stored, for repair and migration."),
    ("lock", "Locks: a key, held by one at a time."),
    ("namespaces", "Groups of queues that roles are given in."),
    ("users", "Whom keys and roles belong to."),
    ("apikeys", "What a client proves itself with."),
    ("roles", "Sets of permissions."),
    ("rolebindings", "Which user has which role."),
    ("server", "The server itself."),
];

/// All of them.
pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/v1/queue.produce",
        request: "querator.QueueProduceRequest",
        response: "duh.v1.Reply",
        summary: "Put items into a queue: all or none, in their order.",
    },
    Endpoint {
        path: "/v1/queue.lease",
        request: "querator.QueueLeaseRequest",
        response: "querator.QueueLeaseResponse",
        summary: "Take items for a while, up to so many; waits for the first. 454 if none came in time, or if too \
                  much of what was leased before is still on its way.",
    },
    Endpoint {
        path: "/v1/queue.complete",
        request: "querator.QueueCompleteRequest",
        response: "duh.v1.Reply",
        summary: "Leased items are done: all or none.",
    },
    Endpoint {
        path: "/v1/queue.retry",
        request: "querator.QueueRetryRequest",
        response: "duh.v1.Reply",
        summary: "Give leased items back: now, later, or to the dead queue.",
    },
    Endpoint {
        path: "/v1/queue.extend",
        request: "querator.QueueExtendRequest",
        response: "querator.QueueExtendResponse",
        summary: "Hold leased items longer.",
    },
    Endpoint {
        path: "/v1/queue.stats",
        request: "querator.QueueStatsRequest",
        response: "querator.QueueStatsResponse",
        summary: "What is in a queue, and who waits for it.",
    },
    Endpoint {
        path: "/v1/queue.clear",
        request: "querator.QueueClearRequest",
        response: "duh.v1.Reply",
        summary: "Remove items from a queue.",
    },
    Endpoint {
        path: "/v1/queue.reload",
        request: "querator.QueueReloadRequest",
        response: "duh.v1.Reply",
        summary: "Open a queue anew.",
    },
    Endpoint {
        path: "/v1/queues.create",
        request: "querator.QueueInfo",
        response: "duh.v1.Reply",
        summary: "Make a queue.",
    },
    Endpoint {
        path: "/v1/queues.list",
        request: "querator.QueuesListRequest",
        response: "querator.QueuesListResponse",
        summary: "Queues of a namespace, page by page.",
    },
    Endpoint {
        path: "/v1/queues.update",
        request: "querator.QueueInfo",
        response: "duh.v1.Reply",
        summary: "Change a queue; every field is replaced.",
    },
    Endpoint {
        path: "/v1/queues.delete",
        request: "querator.QueuesDeleteRequest",
        response: "duh.v1.Reply",
        summary: "Delete a queue.",
    },
    Endpoint {
        path: "/v1/queues.info",
        request: "querator.QueuesInfoRequest",
        response: "querator.QueueInfo",
        summary: "A queue as it was made.",
    },
    Endpoint {
        path: "/v1/storage/items.list",
        request: "querator.StorageItemsListRequest",
        response: "querator.StorageItemsListResponse",
        summary: "Items of a partition as they are stored.",
    },
    Endpoint {
        path: "/v1/storage/scheduled.list",
        request: "querator.StorageItemsListRequest",
        response: "querator.StorageItemsListResponse",
        summary: "Items of a partition that are ready later.",
    },
    Endpoint {
        path: "/v1/storage/items.import",
        request: "querator.StorageItemsImportRequest",
        response: "querator.StorageItemsImportResponse",
        summary: "Store items as they are told, with new ids.",
    },
    Endpoint {
        path: "/v1/storage/items.delete",
        request: "querator.StorageItemsDeleteRequest",
        response: "duh.v1.Reply",
        summary: "Delete stored items, leased or not.",
    },
    Endpoint {
        path: "/v1/lock.acquire",
        request: "leasehold.v1.LockAcquireRequest",
        response: "leasehold.v1.LockAcquireResponse",
        summary: "Hold a key, at once or within a time. That it is held by another is an answer, not an error.",
    },
    Endpoint {
        path: "/v1/lock.extend",
        request: "leasehold.v1.LockExtendRequest",
        response: "leasehold.v1.LockExtendResponse",
        summary: "Hold a key longer.",
    },
    Endpoint {
        path: "/v1/lock.release",
        request: "leasehold.v1.LockReleaseRequest",
        response: "leasehold.v1.LockReleaseResponse",
        summary: "End a hold.",
    },
    Endpoint {
        path: "/v1/lock.isLocked",
        request: "leasehold.v1.LockIsLockedRequest",
        response: "leasehold.v1.LockIsLockedResponse",
        summary: "Whether a key is held.",
    },
    Endpoint {
        path: "/v1/lock.lookup",
        request: "leasehold.v1.LockLookupRequest",
        response: "leasehold.v1.LockInfo",
        summary: "What is known of a hold, by key or by lock id.",
    },
    Endpoint {
        path: "/v1/lock.list",
        request: "leasehold.v1.LockListRequest",
        response: "leasehold.v1.LockListResponse",
        summary: "Live holds, page by page.",
    },
    Endpoint {
        path: "/v1/lock.watch",
        request: "leasehold.v1.LockWatchRequest",
        response: "leasehold.v1.LockWatchResponse",
        summary: "Wait until a key may have become free.",
    },
    Endpoint {
        path: "/v1/namespaces.create",
        request: "querator.NamespaceInfo",
        response: "duh.v1.Reply",
        summary: "Make a namespace.",
    },
    Endpoint {
        path: "/v1/namespaces.update",
        request: "querator.NamespaceInfo",
        response: "duh.v1.Reply",
        summary: "Replace description and tag of a namespace.",
    },
    Endpoint {
        path: "/v1/namespaces.list",
        request: "querator.NamespacesListRequest",
        response: "querator.NamespacesListResponse",
        summary: "Namespaces, page by page.",
    },
    Endpoint {
        path: "/v1/namespaces.delete",
        request: "querator.NamespacesDeleteRequest",
        response: "duh.v1.Reply",
        summary: "Delete an empty namespace.",
    },
    Endpoint {
        path: "/v1/users.create",
        request: "querator.UserCreateRequest",
        response: "querator.UserCreateResponse",
        summary: "Make a user.",
    },
    Endpoint {
        path: "/v1/users.list",
        request: "querator.UsersListRequest",
        response: "querator.UsersListResponse",
        summary: "Users, page by page.",
    },
    Endpoint {
        path: "/v1/users.delete",
        request: "querator.UsersDeleteRequest",
        response: "duh.v1.Reply",
        summary: "Delete a user, with its keys and bindings.",
    },
    Endpoint {
        path: "/v1/apikeys.create",
        request: "querator.APIKeyCreateRequest",
        response: "querator.APIKeyCreateResponse",
        summary: "Make an API key; only this answer shows it.",
    },
    Endpoint {
        path: "/v1/apikeys.list",
        request: "querator.APIKeysListRequest",
        response: "querator.APIKeysListResponse",
        summary: "API keys of a user, page by page, without the keys themselves.",
    },
    Endpoint {
        path: "/v1/apikeys.delete",
        request: "querator.APIKeysDeleteRequest",
        response: "duh.v1.Reply",
        summary: "Delete an API key; it is refused at once.",
    },
    Endpoint {
        path: "/v1/roles.create",
        request: "querator.RoleCreateRequest",
        response: "querator.RoleCreateResponse",
        summary: "Make a role.",
    },
    Endpoint {
        path: "/v1/roles.update",
        request: "querator.RoleUpdateRequest",
        response: "duh.v1.Reply",
        summary: "Replace the permissions of a role.",
    },
    Endpoint {
        path: "/v1/roles.list",
        request: "querator.RolesListRequest",
        response: "querator.RolesListResponse",
        summary: "Roles of a namespace, page by page.",
    },
    Endpoint {
        path: "/v1/roles.delete",
        request: "querator.RolesDeleteRequest",
        response: "duh.v1.Reply",
        summary: "Delete a role.",
    },
    Endpoint {
        path: "/v1/rolebindings.create",
        request: "querator.RoleBindingCreateRequest",
        response: "querator.RoleBindingCreateResponse",
        summary: "Give a user a role.",
    },
    Endpoint {
        path: "/v1/rolebindings.list",
        request: "querator.RoleBindingsListRequest",
        response: "querator.RoleBindingsListResponse",
        summary: "Who has which role in a namespace, page by page.",
    },
    Endpoint {
        path: "/v1/rolebindings.delete",
        request: "querator.RoleBindingDeleteRequest",
        response: "duh.v1.Reply",
        summary: "Take a role from a user.",
    },
];
