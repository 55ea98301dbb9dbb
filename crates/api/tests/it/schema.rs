//! As much of JSON schema as the document uses.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

pub(crate) struct Schemas<'a>(&'a Map<String, Value>);

impl<'a> Schemas<'a> {
    pub(crate) fn of(document: &'a Value) -> Self {
        Schemas(document["components"]["schemas"].as_object().expect("schemas"))
    }

    /// Whether a value is such a message.
    pub(crate) fn check(&self, name: &str, value: &Value) -> Result<(), String> {
        self.check_against(&self.0[name], value).map_err(|reason| format!("{name}: {reason}"))
    }

    fn check_against(&self, schema: &Value, value: &Value) -> Result<(), String> {
        if let Some(reference) = schema["$ref"].as_str() {
            return self.check(reference.rsplit('/').next().expect("a name"), value);
        }
        let fits = match schema["type"].as_str().expect("a type") {
            "object" => return self.check_object(schema, value),
            "array" => {
                let elements = value.as_array().ok_or("no list")?;
                return elements.iter().try_for_each(|element| self.check_against(&schema["items"], element));
            }
            "string" => value.as_str().is_some_and(|text| fits_format(schema, text)),
            "integer" if schema["format"] == "int32" => {
                value.as_i64().is_some_and(|number| i32::try_from(number).is_ok())
            }
            "integer" => value.is_i64(),
            "boolean" => value.is_boolean(),
            other => panic!("the document has a type {other}"),
        };
        fits.then_some(()).ok_or_else(|| format!("{value} is not {schema}"))
    }

    fn check_object(&self, schema: &Value, value: &Value) -> Result<(), String> {
        for (name, field) in value.as_object().ok_or("no object")? {
            let of_field = match (&schema["properties"][name], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => return Err(format!("{name} is not known")),
                (Value::Null, others) => others,
                (property, _) => property,
            };
            self.check_against(of_field, field).map_err(|reason| format!("{name}: {reason}"))?;
        }
        Ok(())
    }
}

fn fits_format(schema: &Value, text: &str) -> bool {
    match (schema["format"].as_str(), schema["contentEncoding"].as_str()) {
        (Some("date-time"), _) => text.len() >= 20 && &text[10..11] == "T" && text.ends_with('Z'),
        (_, Some("base64")) => BASE64_STANDARD.decode(text).is_ok(),
        (None, None) => true,
        other => panic!("the document has a format {other:?}"),
    }
}
