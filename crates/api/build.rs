//! Compiles the `.proto` files without `protoc`, and gives each message the JSON form its file describes.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use prost::Message;
use prost_build::Config;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};

const FILES: [&str; 5] = [
    "proto/duh/v1/reply.proto",
    "proto/leasehold/v1/lock.proto",
    "proto/querator/access.proto",
    "proto/querator/queue.proto",
    "proto/querator/storage.proto",
];

/// Fields that say something even when they are false.
const ALWAYS_THERE: [&str; 3] = ["ok", "locked", "freed"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    let compiled = protox::compile(FILES, ["proto"])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("descriptors.bin"), compiled.encode_to_vec())?;
    let mut config = Config::new();
    config.enable_type_names();
    config.btree_map(["."]);
    config.bytes(["."]);
    for file in compiled.file.iter().filter(|file| file.package() != "google.protobuf") {
        for message in &file.message_type {
            let path = format!(".{}.{}", file.package(), message.name());
            config.message_attribute(&path, "#[derive(serde::Serialize, serde::Deserialize)]");
            config.message_attribute(&path, "#[serde(default, deny_unknown_fields)]");
            for field in &message.field {
                config.field_attribute(format!("{path}.{}", field.name()), json_form(field));
            }
        }
    }
    fs::write(out.join("about.rs"), about(&compiled))?;
    config.compile_fds(compiled)?;
    Ok(())
}

/// What each message says it is about, in its own fields.
fn about(compiled: &FileDescriptorSet) -> String {
    let mut code = String::new();
    for file in &compiled.file {
        let module = match file.package() {
            "duh.v1" => "reply",
            "leasehold.v1" => "lock",
            "querator" => "queue",
            _ => continue,
        };
        for message in &file.message_type {
            let named = |field: &str| message.field.iter().any(|known| known.name() == field);
            let mut methods = String::new();
            for (method, field, member) in
                [("queue", "queueName", "queue_name"), ("namespace", "namespace", "namespace")]
            {
                if named(field) {
                    methods += &format!("fn {method}(&self) -> Option<&str> {{ Some(&self.{member}) }}");
                }
            }
            let name = rust_name(message.name());
            let elements = element_bytes(message, module);
            code += &format!("impl About for crate::{module}::{name} {{ {elements} {methods} }}\n");
        }
    }
    code
}

fn rust_name(message: &str) -> String {
    message.replace("API", "Api")
}

/// The size of an element of its lists. Messages of lists are in the package of the message that has them.
fn element_bytes(message: &DescriptorProto, module: &str) -> String {
    let lists = message.field.iter().filter(|field| field.label() == Label::Repeated);
    let sizes = lists.map(|field| match field.type_name().rsplit('.').next() {
        Some(element) if !element.is_empty() && !element.ends_with("Entry") => {
            format!("size_of::<crate::{module}::{}>()", rust_name(element))
        }
        _ => "size_of::<String>()".to_owned(),
    });
    // A sum where there are several: no message has more than one today.
    let sizes: Vec<_> = sizes.collect();
    match sizes.is_empty() {
        true => String::new(),
        false => format!("const ELEMENT_BYTES: usize = {};", sizes.join(" + ")),
    }
}

/// The rules of proto3 JSON: the JSON name out, either name in, null means the default, defaults are left out.
fn json_form(field: &FieldDescriptorProto) -> String {
    let (name, json_name) = (field.name(), field.json_name());
    let mut form = format!("rename = \"{json_name}\", alias = \"{name}\"");
    form += &match text_form(field) {
        Some(module) => format!(", with = \"crate::json::{module}\""),
        None => ", deserialize_with = \"crate::json::null_is_default\"".to_owned(),
    };
    if !ALWAYS_THERE.contains(&name) {
        form += ", skip_serializing_if = \"crate::json::is_default\"";
    }
    format!("#[serde({form})]")
}

/// The module that knows how a field of this type is written, where serde does not.
fn text_form(field: &FieldDescriptorProto) -> Option<&'static str> {
    match field.r#type() {
        // A map is a list of entries to protobuf, an object to JSON.
        Type::Message if field.label() == Label::Repeated && !field.type_name().ends_with("Entry") => {
            Some("messages")
        }
        _ if field.label() == Label::Repeated => None,
        Type::Bytes => Some("base64"),
        Type::Int32 | Type::Int64 => Some("whole_number"),
        Type::Message if field.type_name() == ".google.protobuf.Timestamp" => Some("timestamp"),
        _ => None,
    }
}
