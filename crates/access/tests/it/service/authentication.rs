//! Headers, drivers, ends of keys.

use std::sync::Arc;
use std::time::Duration;

use leasehold_access::store::memory::MemoryStore;
use leasehold_access::{ApiKeyRequest, Driver, Page, Permission, Principal, Stores};
use leasehold_core::Clock;

use super::fixture::{anyone, header, nobody, over, server, user};
use crate::assert_refused;

const ENTROPY: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[tokio::test]
async fn request_without_a_header_is_anonymous() {
    let server = server();
    for header in [None, Some(b"".as_slice())] {
        assert_eq!(server.authenticate(header).await.expect("is let through"), Principal::anonymous());
    }
}

#[tokio::test]
async fn header_of_another_form_is_refused_by_both_drivers() {
    for driver in [Driver::None, Driver::Internal] {
        let server = over(Stores::of(Arc::new(MemoryStore::new())), driver);
        for header in ["Basic abc", "bearer x", "Bearer", "BEARER x", " Bearer x", "Bearer\tx", "x", "\u{ff}"]
        {
            let answer = server.authenticate(Some(header.as_bytes())).await;
            assert_refused!(answer, 401, "invalid authorization header format");
        }
    }
}

#[tokio::test]
async fn text_that_is_no_key_is_invalid_and_a_key_nobody_has_unknown() {
    let server = server();
    for text in ["", " ", "x", "qtr-live-short", "qtr-LIVE-", &format!(" qtr-live-{ENTROPY}")] {
        let answer = server.authenticate(Some(format!("Bearer {text}").as_bytes())).await;
        assert_refused!(answer, 401, "api key is invalid");
    }
    let answer = server.authenticate(Some(b"Bearer \xff\xfe")).await;
    assert_refused!(answer, 401, "api key is invalid");
    let answer = server.authenticate(Some(format!("Bearer qtr-live-{ENTROPY}").as_bytes())).await;
    assert_refused!(answer, 401, "api key does not exist");
}

#[tokio::test]
async fn key_makes_its_user_with_its_scope() {
    let server = server();
    let ann = server.user("ann").await;
    let request = ApiKeyRequest {
        user_id: ann.clone(),
        namespace_scope: "orders".to_owned(),
        ..ApiKeyRequest::default()
    };
    let key = server.create_api_key(&anyone(), &request).await.expect("creates");
    let principal = server.sent(&key).await.expect("is valid");
    assert_eq!(principal, Principal::user(ann, Some("orders".to_owned())));
    // One character off.
    let text = header(&key);
    let last = if text.ends_with('0') { '1' } else { '0' };
    let other = format!("{}{last}", &text[..text.len() - 1]);
    assert_refused!(server.authenticate(Some(other.as_bytes())).await, 401, "api key does not exist");
}

#[tokio::test]
async fn key_is_refused_from_its_end_on_known_or_not() {
    let server = server();
    let ann = server.user("ann").await;
    let expires_at = Some(server.clock.now().saturating_add(Duration::from_secs(60)));
    let request = ApiKeyRequest { user_id: ann, expires_at, ..ApiKeyRequest::default() };
    let key = server.create_api_key(&anyone(), &request).await.expect("creates");
    server.sent(&key).await.expect("is valid, and known from now on");
    server.clock.advance(Duration::from_secs(60) - Duration::from_micros(1));
    server.sent(&key).await.expect("is valid to its end");
    server.clock.advance(Duration::from_micros(1));
    assert_refused!(server.sent(&key).await, 401, "api key has expired");
    server.clock.advance(Duration::from_secs(600));
    assert_refused!(server.sent(&key).await, 401, "api key has expired");
}

#[tokio::test]
async fn without_a_driver_everybody_is_anonymous_and_may_do_everything() {
    let server = over(Stores::of(Arc::new(MemoryStore::new())), Driver::None);
    let key = format!("Bearer qtr-live-{ENTROPY}");
    for header in [None, Some(key.as_bytes()), Some(b"Bearer not a key".as_slice())] {
        assert_eq!(server.authenticate(header).await.expect("is let through"), Principal::anonymous());
    }
    for permission in Permission::ALL {
        server.authorise(&nobody(), "orders", permission).await.expect("everything");
    }
    let namespaces = server.list_namespaces(&anyone(), &Page::default()).await.expect("answers");
    assert_eq!(namespaces.iter().map(|info| info.name.as_str()).collect::<Vec<_>>(), ["_system"]);
    server.bootstrap().await.expect("starts");
    assert!(server.list_users(&anyone(), &Page::default()).await.expect("answers").is_empty());
    assert!(server.list_roles(&anyone(), "", &Page::default()).await.expect("answers").is_empty());
}

#[tokio::test]
async fn stores_filled_without_a_driver_serve_one_later() {
    let stores = Stores::of(Arc::new(MemoryStore::new()));
    let before = over(stores.clone(), Driver::None);
    before.user("ann").await;
    let text = "username is already taken; 'anonymous' is already taken";
    assert_refused!(before.create_user(&anyone(), &user("anonymous")).await, 400, text);
    let later = over(stores, Driver::Internal);
    let users = later.list_users(&anyone(), &Page::default()).await.expect("the door is open");
    assert_eq!(users.len(), 2);
}
