//! Lists: in the order of bytes, and only what is live.

use std::time::Duration;

use leasehold_core::Ttl;
use leasehold_locks::{AcquireRequest, Key, ListRequest, LockBackend};
use serde_json::json;

use super::peer::put;
use super::{Project, request};

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn order_is_that_of_bytes_beyond_the_basic_plane_too() {
    let project = Project::new();
    let backend = project.backend().await;
    // In UTF-16 the last two would change places.
    let texts = ["A", "Z", "a", "a!", "é", "鍵", "\u{ff5e}", "🔑"];
    for text in texts.iter().rev() {
        backend.acquire(&request(text)).await.unwrap().acquired().unwrap();
    }
    let mut found: Vec<Key> = Vec::new();
    while found.len() < texts.len() {
        let page = ListRequest { after: found.last().cloned(), len_max: 3 };
        let page = backend.list(&page).await.unwrap();
        assert!((1..=3).contains(&page.len()), "a page of {}", page.len());
        found.extend(page.into_iter().map(|record| record.key));
    }
    assert_eq!(found.iter().map(Key::as_str).collect::<Vec<_>>(), texts);
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn ended_holds_and_other_documents_are_passed_over() {
    let project = Project::new();
    let backend = project.backend().await;
    for number in 0..120 {
        let short = AcquireRequest { ttl: Ttl::MIN, ..request(&format!("ended:{number:03}")) };
        backend.acquire(&short).await.unwrap().acquired().unwrap();
    }
    project.clock.advance(Duration::from_secs(10));
    put(&project.name, "locks/foreign", &json!({ "key": { "stringValue": "foreign" } }));
    backend.acquire(&request("live")).await.unwrap().acquired().unwrap();
    let page = backend.list(&ListRequest { after: None, len_max: 5 }).await.unwrap();
    assert_eq!(page.iter().map(|record| record.key.as_str()).collect::<Vec<_>>(), ["live"]);
    assert!(backend.list(&ListRequest { after: None, len_max: 0 }).await.unwrap().is_empty());
    let after = Some(Key::parse("k/e/y").unwrap());
    assert_eq!(backend.list(&ListRequest { after, len_max: 5 }).await.unwrap().len(), 1);
    let after = Some(Key::parse("..").unwrap());
    let error = backend.list(&ListRequest { after, len_max: 5 }).await.unwrap_err();
    assert_eq!(error.code(), "key.not_document_id");
}
