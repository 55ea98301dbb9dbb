//! Lists: pivots, limits, filters.

use leasehold_access::{Page, Permission};

use super::fixture::{anyone, server};

fn page(pivot: &str, limit: i32) -> Page {
    Page { pivot: pivot.to_owned(), limit }
}

#[tokio::test]
async fn namespaces_start_with_the_system_and_at_the_pivot() {
    let server = server();
    for name in ["b", "a", "c"] {
        server.namespace(name).await;
    }
    let list = async |pivot: &str, limit| {
        let listed = server.list_namespaces(&anyone(), &page(pivot, limit)).await.expect("answers");
        listed.into_iter().map(|info| info.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(list("", 0).await, ["_system", "a", "b", "c"]);
    assert_eq!(list("  ", 0).await, ["_system", "a", "b", "c"], "a blank pivot is none");
    assert_eq!(list("b", 0).await, ["b", "c"]);
    assert_eq!(list("bb", 0).await, ["c"]);
    assert!(list("d", 0).await.is_empty(), "past the end");
    assert_eq!(list("", 2).await, ["_system", "a"]);
    assert!(list("", -1).await.is_empty());
    assert_eq!(list("", i32::MAX).await.len(), 4);
}

#[tokio::test]
async fn limit_of_zero_is_a_thousand() {
    let server = server();
    for number in 0..1_001 {
        server.user(&format!("user {number}")).await;
    }
    let list = async |limit| server.list_users(&anyone(), &page("", limit)).await.expect("answers").len();
    assert_eq!(list(0).await, 1_000);
    assert_eq!(list(5_000).await, 1_002, "with the anonymous one");
    assert_eq!(list(i32::MIN).await, 0);
}

#[tokio::test]
async fn every_other_list_takes_negative_limits_as_nothing() {
    let server = server();
    let ann = server.user("ann").await;
    server.key(&ann).await;
    let (who, none, all) = (anyone(), page("", -5), page("", 0));
    assert_eq!(server.list_api_keys(&who, "", &all).await.expect("answers").len(), 1);
    assert!(server.list_api_keys(&who, "", &none).await.expect("answers").is_empty());
    assert_eq!(server.list_roles(&who, "", &all).await.expect("answers").len(), 3);
    assert!(server.list_roles(&who, "", &none).await.expect("answers").is_empty());
    assert_eq!(server.list_role_bindings(&who, "", "", &all).await.expect("answers").len(), 1);
    assert!(server.list_role_bindings(&who, "", "", &none).await.expect("answers").is_empty());
}

#[tokio::test]
async fn keys_and_bindings_are_filtered_by_user() {
    let server = server();
    let (ann, bob) = (server.user("ann").await, server.user("bob").await);
    let (of_ann, _) = (server.key(&ann).await, server.key(&bob).await);
    let keys = server.list_api_keys(&anyone(), &ann, &Page::default()).await.expect("answers");
    assert_eq!(keys.iter().map(|key| key.id.as_str()).collect::<Vec<_>>(), [of_ann.id]);
    assert!(!format!("{keys:?}").contains(of_ann.key.expose()));

    server.role("_system", "worker", &[Permission::QueueLease]).await;
    server.bind("_system", "worker", &ann).await;
    let bound = server.bind("_system", "worker", &bob).await;
    let list = async |user_id: &str| {
        let listed =
            server.list_role_bindings(&anyone(), "", user_id, &Page::default()).await.expect("answers");
        listed.into_iter().map(|binding| binding.id).collect::<Vec<_>>()
    };
    assert_eq!(list(&bob).await, [bound]);
    assert_eq!(list("").await.len(), 3);
    assert!(list("who").await.is_empty());
}
