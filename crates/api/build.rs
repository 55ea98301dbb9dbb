//! Compiles the `.proto` files without `protoc`, and gives each message the JSON form its file describes.

use std::error::Error;

use prost_build::Config;

const FILES: [&str; 2] = ["proto/duh/v1/reply.proto", "proto/leasehold/v1/lock.proto"];

/// Fields that say something even when they are false.
const ALWAYS_THERE: [&str; 3] = ["ok", "locked", "freed"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    let compiled = protox::compile(FILES, ["proto"])?;
    let mut config = Config::new();
    config.btree_map(["."]);
    for file in &compiled.file {
        for message in &file.message_type {
            let path = format!(".{}.{}", file.package(), message.name());
            config.message_attribute(&path, "#[derive(serde::Serialize, serde::Deserialize)]");
            config.message_attribute(&path, "#[serde(default, deny_unknown_fields)]");
            for field in &message.field {
                let path = format!("{path}.{}", field.name());
                config.field_attribute(&path, json_form(field.name(), field.json_name()));
            }
        }
    }
    config.compile_fds(compiled)?;
    Ok(())
}

/// The rules of proto3 JSON: the JSON name out, either name in, null means the default, defaults are left out.
fn json_form(name: &str, json_name: &str) -> String {
    let mut form = format!("rename = \"{json_name}\", alias = \"{name}\"");
    form += ", deserialize_with = \"crate::json::null_is_default\"";
    if !ALWAYS_THERE.contains(&name) {
        form += ", skip_serializing_if = \"crate::json::is_default\"";
    }
    format!("#[serde({form})]")
}
