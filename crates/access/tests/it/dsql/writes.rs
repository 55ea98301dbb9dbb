//! Every kind of write, on a store in which each has something to do.

use std::future::Future;
use std::pin::Pin;

use leasehold_access::store::{
    ApiKeyAdded, ApiKeyStore, DeadQueueStore, Deleted, NamespaceStore, Result, RoleAdded, RoleBindingAdded,
    RoleBindingStore, RoleStore, UserAdded, UserStore, Withdrawn,
};
use leasehold_access::{
    ApiKey, ApiKeyText, DeadQueuePair, NamespaceInfo, Permission, Role, RoleBinding, Stores, Tag, User,
};
use leasehold_core::Timestamp;
use leasehold_queue::Namespace;
use tokio_postgres::Client;

pub(crate) const TIME: Timestamp = Timestamp::from_micros(1_700_000_000_123_456);

/// The kinds, none of them missing.
#[derive(Clone)]
pub(crate) struct All(Stores);

impl From<Stores> for All {
    fn from(stores: Stores) -> Self {
        All(stores)
    }
}

impl All {
    pub(crate) fn namespaces(&self) -> &dyn NamespaceStore {
        &**self.0.namespaces.as_ref().expect("keeps namespaces")
    }

    pub(crate) fn users(&self) -> &dyn UserStore {
        &**self.0.users.as_ref().expect("keeps users")
    }

    pub(crate) fn api_keys(&self) -> &dyn ApiKeyStore {
        &**self.0.api_keys.as_ref().expect("keeps keys")
    }

    pub(crate) fn roles(&self) -> &dyn RoleStore {
        &**self.0.roles.as_ref().expect("keeps roles")
    }

    pub(crate) fn dead_queues(&self) -> &dyn DeadQueueStore {
        &**self.0.dead_queues.as_ref().expect("keeps permitted dead queues")
    }

    pub(crate) fn role_bindings(&self) -> &dyn RoleBindingStore {
        &**self.0.role_bindings.as_ref().expect("keeps bindings")
    }
}

/// Whether the write did what it is for.
type Written<'a> = Pin<Box<dyn Future<Output = Result<bool>> + Send + 'a>>;

pub(crate) struct Write {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&All) -> Written<'_>,
}

fn done(withdrawn: Result<Withdrawn>) -> Result<bool> {
    withdrawn.map(|withdrawn| withdrawn == Withdrawn::Done)
}

pub(crate) const ALL: [Write; 16] = [
    Write {
        name: "namespace add",
        run: |all| Box::pin(async { all.namespaces().add(&namespace_info("new")).await }),
    },
    Write {
        name: "namespace update",
        run: |all| Box::pin(async { all.namespaces().update(&namespace("used"), "other", None).await }),
    },
    Write {
        name: "namespace delete",
        run: |all| {
            Box::pin(async { Ok(all.namespaces().delete(&namespace("empty")).await? == Deleted::Deleted) })
        },
    },
    Write {
        name: "user add",
        run: |all| Box::pin(async { Ok(all.users().add(&user("new")).await? == UserAdded::Added) }),
    },
    Write {
        name: "user delete",
        run: |all| Box::pin(async { done(all.users().delete("used", TIME).await) }),
    },
    Write {
        name: "key add",
        run: |all| {
            Box::pin(async { Ok(all.api_keys().add(&api_key("new", "used")).await? == ApiKeyAdded::Added) })
        },
    },
    Write {
        name: "key delete",
        run: |all| Box::pin(async { done(all.api_keys().delete("used", TIME).await) }),
    },
    Write {
        name: "key use",
        run: |all| Box::pin(async { all.api_keys().update_last_used("used", TIME).await.map(|()| true) }),
    },
    Write {
        name: "role add",
        run: |all| Box::pin(async { Ok(all.roles().add(&role("new", "used")).await? == RoleAdded::Added) }),
    },
    Write {
        name: "role update",
        run: |all| {
            Box::pin(async { done(all.roles().update("used", &[Permission::QueueRetry], TIME).await) })
        },
    },
    Write {
        name: "role delete",
        run: |all| Box::pin(async { Ok(all.roles().delete("unused").await? == Deleted::Deleted) }),
    },
    Write {
        name: "binding add",
        run: |all| {
            Box::pin(async {
                let added = all.role_bindings().add(&binding("new", "used", "unused")).await?;
                Ok(added == RoleBindingAdded::Added)
            })
        },
    },
    Write {
        name: "binding add once",
        run: |all| {
            Box::pin(async {
                let added = all.role_bindings().add_once("mark", &binding("new", "used", "unused")).await?;
                Ok(added == Some(RoleBindingAdded::Added))
            })
        },
    },
    Write {
        name: "binding delete",
        run: |all| {
            Box::pin(async {
                done(all.role_bindings().delete(&namespace("used"), "used", "used", TIME).await)
            })
        },
    },
    Write {
        name: "dead queue permit",
        run: |all| Box::pin(async { all.dead_queues().permit(&pair("new")).await.map(|()| true) }),
    },
    Write {
        name: "dead queue forget",
        run: |all| Box::pin(async { all.dead_queues().forget(&pair("used").queue).await.map(|()| true) }),
    },
];

pub(crate) fn pair(queue: &str) -> DeadQueuePair {
    DeadQueuePair {
        queue: queue.parse().expect("a name"),
        queue_created_at: TIME,
        dead_queue: "dead".parse().expect("a name"),
        dead_queue_created_at: TIME,
    }
}

pub(crate) fn namespace(name: &str) -> Namespace {
    name.parse().expect("a name")
}

pub(crate) fn namespace_info(name: &str) -> NamespaceInfo {
    let api_key_tag = Tag::parse("api_key_tag", "tag").expect("a tag");
    NamespaceInfo { name: namespace(name), description: String::new(), api_key_tag, created_at: TIME }
}

pub(crate) fn user(id: &str) -> User {
    User {
        id: id.to_owned(),
        username: format!("name of {id}"),
        external_id: String::new(),
        email: String::new(),
        created_at: TIME,
        updated_at: TIME,
    }
}

pub(crate) fn api_key(id: &str, user_id: &str) -> ApiKey {
    let key = ApiKeyText::generate(&Tag::default());
    ApiKey {
        id: id.to_owned(),
        user_id: user_id.to_owned(),
        namespace_scope: None,
        name: String::new(),
        prefix: key.prefix(),
        hash: key.hash(),
        expires_at: None,
        last_used_at: None,
        created_at: TIME,
    }
}

pub(crate) fn role(id: &str, space: &str) -> Role {
    Role {
        id: id.to_owned(),
        namespace: namespace(space),
        name: format!("name of {id}"),
        permissions: vec![Permission::QueueLease],
        created_at: TIME,
    }
}

/// In the namespace that is used.
pub(crate) fn binding(id: &str, user_id: &str, role_id: &str) -> RoleBinding {
    RoleBinding {
        id: id.to_owned(),
        namespace: namespace("used"),
        user_id: user_id.to_owned(),
        role_id: role_id.to_owned(),
        created_at: TIME,
    }
}

/// Empties the tables and fills them: a namespace with two roles and an empty one, a user with a key and one of the roles.
pub(crate) async fn fill(outside: &Client, all: &All) {
    for table in TABLES {
        outside.batch_execute(&format!("DELETE FROM {table}")).await.expect("empties");
    }
    for name in ["used", "empty"] {
        assert!(all.namespaces().add(&namespace_info(name)).await.expect("answers"));
    }
    assert_eq!(all.users().add(&user("used")).await.expect("answers"), UserAdded::Added);
    assert_eq!(all.api_keys().add(&api_key("used", "used")).await.expect("answers"), ApiKeyAdded::Added);
    for id in ["used", "unused"] {
        assert_eq!(all.roles().add(&role(id, "used")).await.expect("answers"), RoleAdded::Added);
    }
    let bound = all.role_bindings().add(&binding("used", "used", "used")).await.expect("answers");
    assert_eq!(bound, RoleBindingAdded::Added);
    all.dead_queues().permit(&pair("used")).await.expect("answers");
}

const TABLES: [&str; 8] = [
    "leasehold_namespaces",
    "leasehold_users",
    "leasehold_api_keys",
    "leasehold_roles",
    "leasehold_role_bindings",
    "leasehold_access_marks",
    "leasehold_access_versions",
    "leasehold_dead_queues",
];

/// All that is stored.
pub(crate) async fn content(outside: &Client) -> String {
    let mut content = String::new();
    for table in TABLES {
        let sql = format!(
            "SELECT coalesce(string_agg(kept::text, ';' ORDER BY kept::text), '') FROM {table} AS kept"
        );
        content += outside.query_one(&sql, &[]).await.expect("content").get(0);
        content.push('\n');
    }
    content
}
