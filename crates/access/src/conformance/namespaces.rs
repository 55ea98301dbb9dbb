//! Namespaces are kept by name.

use super::{Store, namespace, namespace_info};
use crate::store::Deleted;

/// Every field.
pub async fn namespace_reads_back(store: &Store) {
    let name = store.namespace("orders").await;
    assert_eq!(store.namespaces().get(&name).await.expect("answers"), Some(namespace_info("orders")));
    assert_eq!(store.namespaces().get(&namespace("other")).await.expect("answers"), None);
    let bare =
        crate::NamespaceInfo { api_key_tag: None, description: String::new(), ..namespace_info("bare") };
    assert!(store.namespaces().add(&bare).await.expect("answers"));
    assert_eq!(store.namespaces().get(&namespace("bare")).await.expect("answers"), Some(bare));
}

/// The second one is an answer, and changes nothing.
pub async fn taken_namespace_is_left_alone(store: &Store) {
    let name = store.namespace("orders").await;
    let other = crate::NamespaceInfo { description: "other".to_owned(), ..namespace_info("orders") };
    assert!(!store.namespaces().add(&other).await.expect("answers"));
    assert_eq!(store.namespaces().get(&name).await.expect("answers"), Some(namespace_info("orders")));
}

/// Description and tag are replaced, also by nothing; the time it was made is not theirs.
pub async fn update_keeps_the_beginning(store: &Store) {
    let name = store.namespace("orders").await;
    assert!(store.namespaces().update(&name, "new", None).await.expect("answers"));
    let found = store.namespaces().get(&name).await.expect("answers").expect("is there");
    let expected =
        crate::NamespaceInfo { description: "new".to_owned(), api_key_tag: None, ..namespace_info("orders") };
    assert_eq!(found, expected);
}

/// It says that there is none.
pub async fn update_of_an_unknown_namespace_makes_none(store: &Store) {
    let name = namespace("orders");
    assert!(!store.namespaces().update(&name, "new", None).await.expect("answers"));
    assert_eq!(store.namespaces().get(&name).await.expect("answers"), None);
}

/// Whatever the language of the database.
pub async fn namespaces_are_listed_in_byte_order_from_the_pivot(store: &Store) {
    for name in ["b", "_system", "B", "é", "a", "a-1", "A"] {
        store.namespace(name).await;
    }
    let list = async |pivot: &str, limit| {
        let listed = store.namespaces().list(pivot, limit).await.expect("answers");
        listed.into_iter().map(|info| info.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(list("", 100).await, ["A", "B", "_system", "a", "a-1", "b", "é"]);
    assert_eq!(list("a", 2).await, ["a", "a-1"], "the pivot is the first");
    assert_eq!(list("a-", 1).await, ["a-1"], "a pivot that is not there starts at the next");
    assert_eq!(list("zz", 9).await, ["é"]);
    assert_eq!(list("a\0", 1).await, ["a-1"], "nothing stored holds NUL");
    assert!(list("\u{10ffff}", 9).await.is_empty());
    assert!(list("", 0).await.is_empty());
}

/// Or its roles would come back with the next namespace of that name.
pub async fn namespace_with_roles_stays(store: &Store) {
    let name = store.namespace("orders").await;
    store.namespace("orders2").await;
    let role = store.role("r1", &name, &[]).await;
    assert_eq!(store.namespaces().delete(&name).await.expect("answers"), Deleted::InUse);
    assert!(store.namespaces().get(&name).await.expect("answers").is_some());
    assert_eq!(store.namespaces().delete(&namespace("orders2")).await.expect("answers"), Deleted::Deleted);
    assert_eq!(store.roles().delete(&role.id).await.expect("answers"), Deleted::Deleted);
    assert_eq!(store.namespaces().delete(&name).await.expect("answers"), Deleted::Deleted);
    assert_eq!(store.namespaces().delete(&name).await.expect("answers"), Deleted::Missing);
}

/// Case, forms of Unicode, quotes and wildcards all count.
pub async fn hostile_names_do_not_meet(store: &Store) {
    let valid =
        || super::HOSTILE.into_iter().filter(|name| name.parse::<leasehold_queue::Namespace>().is_ok());
    let longest = "n".repeat(256);
    for name in valid().chain([longest.as_str()]) {
        store.namespace(name).await;
    }
    for name in valid().chain([longest.as_str()]) {
        let found = store.namespaces().get(&namespace(name)).await.expect("answers").expect(name);
        assert_eq!(found, namespace_info(name));
        assert_eq!(store.namespaces().delete(&namespace(name)).await.expect("answers"), Deleted::Deleted);
    }
    assert!(store.namespaces().list("", 100).await.expect("answers").is_empty());
}
