//! The contract of a store, as public test functions over a [`Harness`].
//!
//! [`access_conformance!`](crate::access_conformance) makes a named test of each, so that one failure hides nothing.
//! A store of your own passes when they all do.
//!
//! Cases panic when the promise is broken: they are tests, and this module is only there with the feature
//! `conformance`.

pub mod administration;
pub mod api_keys;
pub mod bootstrap;
pub mod concurrency;
pub mod dead_queues;
pub mod grants;
pub mod namespaces;
pub mod revocation;
pub mod role_bindings;
pub mod roles;
pub mod users;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use leasehold_core::{ManualClock, Timestamp};
use leasehold_queue::Namespace;

use crate::store::{ApiKeyStore, DeadQueueStore, NamespaceStore, RoleBindingStore, RoleStore, UserStore};
use crate::{
    Access, ApiKey, ApiKeyText, Config, Driver, NamespaceInfo, Permission, Role, RoleBinding, Stores, Tag,
    User,
};

/// One store, empty at the start, that nobody else uses.
#[async_trait]
pub trait Harness: Send + Sync + 'static {
    /// Prepares the store.
    async fn start() -> Self
    where
        Self: Sized;

    /// A way to the store, as another server would have: each call a new one where that is possible.
    async fn stores(&self) -> Stores;
}

/// Prepares a store of a kind that only the test knows: a case is compiled once, whatever runs it.
pub type Start = fn() -> Pin<Box<dyn Future<Output = Box<dyn Harness>> + Send>>;

/// The [`Start`] of a kind of store.
#[must_use]
pub fn start<H: Harness>() -> Pin<Box<dyn Future<Output = Box<dyn Harness>> + Send>> {
    Box::pin(async { Box::new(H::start().await) as Box<dyn Harness> })
}

/// Names that are allowed and that a careless store would mistake for something else.
const HOSTILE: [&str; 16] = [
    "a",
    "A",
    "é",
    "e\u{301}",
    "'; DROP TABLE leasehold_users; --",
    "%",
    "_",
    "\\",
    "\"",
    "a\nb",
    "a\u{1}",
    "a:b",
    "a/b",
    "\u{10ffff}",
    "null",
    "{}",
];

/// A harness with a way to its store at hand.
pub struct Store {
    harness: Box<dyn Harness>,
    stores: Stores,
    clock: ManualClock,
}

impl Store {
    /// Starts the harness.
    pub async fn start(start: Start) -> Self {
        let harness = start().await;
        let stores = harness.stores().await;
        Self { harness, stores, clock: ManualClock::default() }
    }

    fn namespaces(&self) -> &dyn NamespaceStore {
        &**self.stores.namespaces.as_ref().expect("keeps namespaces")
    }

    fn users(&self) -> &dyn UserStore {
        &**self.stores.users.as_ref().expect("keeps users")
    }

    fn api_keys(&self) -> &dyn ApiKeyStore {
        &**self.stores.api_keys.as_ref().expect("keeps keys")
    }

    fn roles(&self) -> &dyn RoleStore {
        &**self.stores.roles.as_ref().expect("keeps roles")
    }

    fn dead_queues(&self) -> &dyn DeadQueueStore {
        &**self.stores.dead_queues.as_ref().expect("keeps permitted dead queues")
    }

    fn role_bindings(&self) -> &dyn RoleBindingStore {
        &**self.stores.role_bindings.as_ref().expect("keeps bindings")
    }

    /// A server that judges requests.
    async fn server(&self) -> Access {
        let config =
            Config { driver: Driver::Internal, clock: Arc::new(self.clock.clone()), ..Config::default() };
        Access::new(self.harness.stores().await, config)
    }

    async fn namespace(&self, name: &str) -> Namespace {
        assert!(self.namespaces().add(&namespace_info(name)).await.expect("answers"), "{name} is free");
        namespace(name)
    }

    async fn user(&self, id: &str) -> User {
        let user = user(id);
        let added = self.users().add(&user).await.expect("answers");
        assert_eq!(added, crate::store::UserAdded::Added, "{id}");
        user
    }

    /// In a namespace that is there.
    async fn role(&self, id: &str, namespace: &Namespace, permissions: &[Permission]) -> Role {
        let role = role(id, namespace, permissions);
        let added = self.roles().add(&role).await.expect("answers");
        assert_eq!(added, crate::store::RoleAdded::Added, "{id}");
        role
    }

    async fn unbind(&self, namespace: &Namespace, user_id: &str, role_id: &str) {
        let unbound = self.role_bindings().delete(namespace, user_id, role_id, TIME).await;
        assert_eq!(unbound.expect("answers"), crate::store::Withdrawn::Done, "{user_id} {role_id}");
    }

    async fn bind(&self, id: &str, user: &User, role: &Role) -> RoleBinding {
        let binding = binding(id, user, role);
        let added = self.role_bindings().add(&binding).await.expect("answers");
        assert_eq!(added, crate::store::RoleBindingAdded::Added, "{id}");
        binding
    }
}

/// Finer than milliseconds, as all stores keep it.
const TIME: Timestamp = Timestamp::from_micros(1_700_000_000_123_456);

fn namespace(name: &str) -> Namespace {
    name.parse().expect("a name of a case is valid")
}

fn namespace_info(name: &str) -> NamespaceInfo {
    NamespaceInfo {
        name: namespace(name),
        description: format!("about {name}"),
        api_key_tag: Tag::parse("api_key_tag", "tag1").expect("a tag"),
        created_at: TIME,
    }
}

fn user(id: &str) -> User {
    User {
        id: id.to_owned(),
        username: format!("name of {id}"),
        external_id: "external".to_owned(),
        email: "someone@example.com".to_owned(),
        created_at: TIME,
        updated_at: TIME,
    }
}

fn api_key(id: &str, user: &User) -> ApiKey {
    let key = ApiKeyText::generate(&Tag::default());
    ApiKey {
        id: id.to_owned(),
        user_id: user.id.clone(),
        namespace_scope: Some("orders".to_owned()),
        name: format!("name of {id}"),
        prefix: key.prefix(),
        hash: key.hash(),
        expires_at: Some(Timestamp::from_micros(1_800_000_000_654_321)),
        last_used_at: None,
        created_at: TIME,
    }
}

fn role(id: &str, namespace: &Namespace, permissions: &[Permission]) -> Role {
    Role {
        id: id.to_owned(),
        namespace: namespace.clone(),
        name: format!("name of {id}"),
        permissions: permissions.to_vec(),
        created_at: TIME,
    }
}

fn binding(id: &str, user: &User, role: &Role) -> RoleBinding {
    RoleBinding {
        id: id.to_owned(),
        namespace: role.namespace.clone(),
        user_id: user.id.clone(),
        role_id: role.id.clone(),
        created_at: TIME,
    }
}

/// Makes a test of every case over the harness; attributes in brackets go to each of them.
///
/// ```ignore
/// access_conformance!(Postgres, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);
/// ```
#[macro_export]
macro_rules! access_conformance {
    ($harness:ty) => { $crate::access_conformance!($harness, [allow(unused)]); };
    ($harness:ty, [$attribute:meta]) => {
        $crate::access_conformance!(@list tests [$harness] [$attribute]);
    };
    (@list $($into:tt)+) => {
        $crate::access_conformance!(@$($into)+
            namespaces: namespace_reads_back,
            namespaces: taken_namespace_is_left_alone,
            namespaces: update_keeps_the_beginning,
            namespaces: update_of_an_unknown_namespace_makes_none,
            namespaces: namespaces_are_listed_in_byte_order_from_the_pivot,
            namespaces: namespace_with_roles_stays,
            namespaces: hostile_names_do_not_meet,
            users: user_reads_back,
            users: id_and_name_of_a_user_are_unique,
            users: users_are_listed_by_id_from_the_pivot,
            users: keys_and_bindings_go_with_their_user,
            users: hostile_usernames_do_not_meet,
            users: nul_is_found_nowhere,
            api_keys: key_reads_back_by_its_hash,
            api_keys: key_without_ends_reads_back,
            api_keys: id_and_hash_of_a_key_are_unique,
            api_keys: key_needs_its_user,
            api_keys: keys_are_listed_by_id_of_one_user_or_all,
            api_keys: deleted_key_is_gone,
            api_keys: last_use_only_moves_on,
            roles: role_reads_back,
            roles: name_of_a_role_is_unique_in_its_namespace,
            roles: role_needs_its_namespace,
            roles: update_replaces_permissions_only,
            roles: roles_are_listed_by_namespace,
            roles: bound_role_stays,
            role_bindings: binding_is_listed_and_deleted,
            role_bindings: user_has_a_role_once,
            role_bindings: binding_needs_role_and_user,
            role_bindings: bindings_are_listed_by_namespace_and_user,
            role_bindings: permissions_are_those_of_bound_roles,
            role_bindings: user_is_bound_while_any_binding_is_there,
            role_bindings: rights_are_those_of_all_namespaces,
            role_bindings: bindings_beyond_the_limit_do_not_count,
            role_bindings: marked_binding_is_added_once_for_good,
            role_bindings: refused_binding_sets_no_mark,
            role_bindings: binding_found_there_sets_the_mark,
            administration: last_administrator_stays,
            administration: administrator_beside_the_last_one_goes,
            administration: key_that_is_scoped_or_expired_administers_nothing,
            administration: last_key_stays_until_it_expires,
            administration: administrators_who_remove_each_other_leave_one,
            administration: lost_administration_is_recovered,
            grants: nobody_gives_a_right_that_it_does_not_hold,
            dead_queues: permitted_pair_is_known_by_both_beginnings,
            dead_queues: later_pair_replaces_the_former,
            bootstrap: standard_roles_keep_their_ids_and_get_their_permissions_back,
            bootstrap: door_opens_once_and_stays_closed,
            bootstrap: door_stays_closed_when_the_anonymous_user_was_deleted,
            bootstrap: servers_that_start_together_open_one_door,
            revocation: deleted_key_is_refused_at_once,
            revocation: keys_of_a_deleted_user_are_refused_at_once,
            revocation: permissions_change_at_once,
            revocation: last_use_is_noted,
            concurrency: one_namespace_of_a_name_wins,
            concurrency: one_user_of_a_name_wins,
            concurrency: one_key_of_a_hash_wins,
            concurrency: one_role_of_a_name_wins,
            concurrency: one_binding_wins,
            concurrency: role_and_its_namespace_never_miss_each_other,
            concurrency: binding_and_its_role_never_miss_each_other,
            concurrency: key_and_its_user_never_miss_each_other,
        );
    };
    (@tests [$harness:ty] [$attribute:meta] $($promise:ident: $case:ident,)+) => {
        $(
            #[test]
            #[$attribute]
            fn $case() {
                $crate::conformance::cases::$case($crate::conformance::start::<$harness>);
            }
        )+
    };
    (@cases $($promise:ident: $case:ident,)+) => {
        $(
            pub fn $case(start: Start) {
                run(start, |store| Box::pin(super::$promise::$case(store)));
            }
        )+
    };
}

/// Each case as the body of a test, compiled here and not again for every store.
#[doc(hidden)]
#[allow(missing_docs, reason = "each is documented in the module of its promise")]
pub mod cases {
    use std::future::Future;
    use std::pin::Pin;

    use super::{Start, Store};

    /// Runs a case as a test of its own, on two threads.
    fn run(start: Start, case: for<'a> fn(&'a Store) -> Pin<Box<dyn Future<Output = ()> + 'a>>) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let store = Store::start(start).await;
            case(&store).await;
        });
    }

    access_conformance!(@list cases);
}
