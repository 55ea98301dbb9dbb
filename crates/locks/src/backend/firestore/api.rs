//! The few names of Google's API that are used here.

use std::collections::BTreeMap;

pub(super) use googleapis_tonic_google_firestore_v1::google::firestore::v1::batch_get_documents_response::Result as Got;
pub(super) use googleapis_tonic_google_firestore_v1::google::firestore::v1::firestore_client::FirestoreClient;
pub(super) use googleapis_tonic_google_firestore_v1::google::firestore::v1::run_query_request::QueryType;
pub(super) use googleapis_tonic_google_firestore_v1::google::firestore::v1::structured_query::{
    CollectionSelector, Direction, FieldFilter, FieldReference, Filter, Order, field_filter, filter,
};
pub(super) use googleapis_tonic_google_firestore_v1::google::firestore::v1::value::ValueType;
pub(super) use googleapis_tonic_google_firestore_v1::google::firestore::v1::{
    BatchGetDocumentsRequest, CommitRequest, Cursor, Document, DocumentMask, Precondition, RunQueryRequest,
    StructuredQuery, Value, Write, precondition::ConditionType, write::Operation,
};

/// When a document was last changed. Firestore never gives two states of one document the same.
pub(super) type Version = prost_types::Timestamp;

/// Replaces the whole document, if it still is as it was read: in that version, or absent.
pub(super) fn replace(name: &str, fields: BTreeMap<String, Value>, seen: Option<Version>) -> Write {
    let condition = seen.map_or(ConditionType::Exists(false), ConditionType::UpdateTime);
    write(Operation::Update(document(name, fields)), condition)
}

/// Changes these fields and no others, if the document still has this version.
pub(super) fn change(name: &str, fields: BTreeMap<String, Value>, seen: Version) -> Write {
    let mask = DocumentMask { field_paths: fields.keys().cloned().collect() };
    let change = write(Operation::Update(document(name, fields)), ConditionType::UpdateTime(seen));
    Write { update_mask: Some(mask), ..change }
}

/// Deletes the document, if it still has this version.
pub(super) fn delete(name: &str, seen: Version) -> Write {
    write(Operation::Delete(name.to_owned()), ConditionType::UpdateTime(seen))
}

fn write(operation: Operation, condition: ConditionType) -> Write {
    Write {
        operation: Some(operation),
        current_document: Some(Precondition { condition_type: Some(condition) }),
        ..Write::default()
    }
}

fn document(name: &str, fields: BTreeMap<String, Value>) -> Document {
    Document { name: name.to_owned(), fields, create_time: None, update_time: None }
}
