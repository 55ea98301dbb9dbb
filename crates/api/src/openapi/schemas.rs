//! Messages as JSON schemas, from their descriptors.

use std::collections::HashMap;
use std::sync::LazyLock;

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};
use serde_json::{Map, Value, json};

/// As the build script compiled them, comments included.
static DESCRIPTORS: LazyLock<FileDescriptorSet> = LazyLock::new(|| {
    let compiled = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
    FileDescriptorSet::decode(&compiled[..]).expect("the build script wrote it")
});

/// The numbers by which descriptors say where a comment belongs: messages of a file, fields of a message.
const MESSAGES: i32 = 4;
const FIELDS: i32 = 2;

/// Every message, by its name.
pub(super) fn schemas() -> Map<String, Value> {
    let ours = DESCRIPTORS.file.iter().filter(|file| file.package() != "google.protobuf");
    let mut schemas = Map::new();
    for file in ours {
        let comments = comments(file);
        for (index, message) in (0..).zip(&file.message_type) {
            schemas.insert(message.name().to_owned(), schema(message, index, &comments));
        }
    }
    schemas
}

/// Points to a message.
pub(super) fn reference(full_name: &str) -> Value {
    let name = full_name.rsplit('.').next().unwrap_or(full_name);
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn comments(file: &FileDescriptorProto) -> HashMap<&[i32], String> {
    let locations = file.source_code_info.iter().flat_map(|info| &info.location);
    locations
        .filter_map(|location| {
            let text: Vec<_> = location.leading_comments().lines().map(str::trim).collect();
            Some((location.path.as_slice(), text.join(" "))).filter(|(_, text)| !text.is_empty())
        })
        .collect()
}

fn schema(message: &DescriptorProto, index: i32, comments: &HashMap<&[i32], String>) -> Value {
    let mut properties = Map::new();
    for (number, field) in (0..).zip(&message.field) {
        let mut property = property(message, field);
        if let Some(comment) = comments.get(&[MESSAGES, index, FIELDS, number][..]) {
            property["description"] = comment.as_str().into();
        }
        properties.insert(field.json_name().to_owned(), property);
    }
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if let Some(comment) = comments.get(&[MESSAGES, index][..]) {
        schema["description"] = comment.as_str().into();
    }
    schema
}

fn property(message: &DescriptorProto, field: &FieldDescriptorProto) -> Value {
    let is_map = message.nested_type.iter().any(|nested| field.type_name().ends_with(nested.name()));
    match field.label() {
        // To protobuf a map is a list of entries.
        Label::Repeated if is_map => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        Label::Repeated => json!({"type": "array", "items": value(field)}),
        _ => value(field),
    }
}

fn value(field: &FieldDescriptorProto) -> Value {
    match field.r#type() {
        Type::Bool => json!({"type": "boolean"}),
        Type::Int32 => json!({"type": "integer", "format": "int32"}),
        Type::Int64 => json!({"type": "integer", "format": "int64"}),
        Type::Bytes => json!({"type": "string", "contentEncoding": "base64"}),
        Type::Message if field.type_name() == ".google.protobuf.Timestamp" => {
            json!({"type": "string", "format": "date-time"})
        }
        Type::Message => reference(field.type_name()),
        _ => json!({"type": "string"}),
    }
}
