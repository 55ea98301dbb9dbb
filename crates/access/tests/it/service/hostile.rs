//! Names and sizes that nobody means well.

use leasehold_access::{ApiKeyRequest, Error, NamespaceRequest, Page, Permission, Principal, UserRequest};

use super::fixture::{anyone, binding, namespace, role, server, user};
use crate::assert_refused;

#[tokio::test]
async fn nul_is_refused_where_it_would_be_kept() {
    let server = server();
    let ann = server.user("ann").await;
    let who = anyone();
    let text = |field: &str| format!("{field} is invalid; cannot contain NUL character");
    assert_refused!(server.create_namespace(&who, &namespace("a\0b")).await, 400, text("namespace name"));
    let described = NamespaceRequest { description: "\0".to_owned(), ..namespace("a") };
    assert_refused!(server.create_namespace(&who, &described).await, 400, text("description"));
    assert_refused!(server.update_namespace(&who, &described).await, 400, text("description"));
    assert_refused!(server.create_user(&who, &user("a\0")).await, 400, text("username"));
    let mailed = UserRequest { email: "\0".to_owned(), ..user("a") };
    assert_refused!(server.create_user(&who, &mailed).await, 400, text("email"));
    let named = UserRequest { external_id: "\0".to_owned(), ..user("a") };
    assert_refused!(server.create_user(&who, &named).await, 400, text("external_id"));
    let key = ApiKeyRequest { user_id: ann.clone(), name: "\0".to_owned(), ..ApiKeyRequest::default() };
    assert_refused!(server.create_api_key(&who, &key).await, 400, text("name"));
    let key = ApiKeyRequest { user_id: ann, namespace_scope: "\0".to_owned(), ..ApiKeyRequest::default() };
    assert_refused!(server.create_api_key(&who, &key).await, 400, text("namespace_scope"));
    assert_refused!(server.create_role(&who, &role("_system", "a\0", &[])).await, 400, text("name"));
}

#[tokio::test]
async fn huge_names_are_refused_or_found_nowhere() {
    let server = server();
    let (who, huge) = (anyone(), "x".repeat(1_000_000));
    let ann = server.user("ann").await;
    let scoped =
        ApiKeyRequest { user_id: ann.clone(), namespace_scope: "s".repeat(257), ..ApiKeyRequest::default() };
    let text = "namespace_scope is invalid; cannot be greater than '256' characters";
    assert_refused!(server.create_api_key(&who, &scoped).await, 400, text);
    server.authorise(&who, &huge, Permission::QueueLease).await.expect("the door is open everywhere");
    let denied = server.authorise(&Principal::user(huge.clone(), None), &huge, Permission::QueueLease).await;
    assert!(matches!(denied, Err(Error::Denied)), "{denied:?}");
    assert_eq!(server.delete_user(&who, &huge).await.expect_err("unknown").reply_code(), 453);
    assert_eq!(server.delete_api_key(&who, &huge).await.expect_err("unknown").reply_code(), 401);
    assert_eq!(server.delete_role(&who, &huge, &huge).await.expect_err("unknown").reply_code(), 453);
    let bound = server.create_role_binding(&who, &binding("_system", "Admin", &huge)).await;
    assert_eq!(bound.expect_err("unknown").reply_code(), 453);
    assert!(server.list_roles(&who, &huge, &Page::default()).await.expect("answers").is_empty());
    let far = Page { pivot: huge.clone(), limit: 0 };
    assert!(server.list_users(&who, &far).await.expect("answers").iter().all(|user| user.id >= huge));
    let key = format!("Bearer qtr-live-{huge}");
    assert_eq!(server.authenticate(Some(key.as_bytes())).await.expect_err("unknown").reply_code(), 401);
}

#[tokio::test]
async fn strange_names_work_and_do_not_meet() {
    let server = server();
    let names = ["é", "e\u{301}", "'; --", "%", "a\nb", "\u{202e}abc", "A", "a", "🦀"];
    for name in names {
        server.user(name).await;
        if !name.contains(char::is_whitespace) {
            server.namespace(name).await;
            server.role(name, name, &[Permission::QueueLease]).await;
        }
    }
    let ann = server.user("ann").await;
    server.bind("é", "é", &ann).await;
    let ann = Principal::user(ann, None);
    server.authorise(&ann, "é", Permission::QueueLease).await.expect("is bound there");
    for other in ["e\u{301}", "e", "É"] {
        assert!(server.authorise(&ann, other, Permission::QueueLease).await.is_err(), "{other}");
    }
}
