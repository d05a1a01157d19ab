//! Fields that are given twice: what a reader makes of them depends on the reader, so they are refused.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::snake_case;
use crate::error::{Error, ErrorCode, Result};

/// Fails if an object in these arguments has a field twice. The arguments themselves may be spelled in two ways, which are the
/// same field.
pub(super) fn refuse_duplicates(command: &str, args: Option<&RawValue>) -> Result<()> {
    let Some(args) = args else { return Ok(()) };
    let found = Unique { is_top: true }.deserialize(&mut serde_json::Deserializer::from_str(args.get()));
    match found {
        // Other errors are found again, and told better, by whoever parses the arguments.
        Err(error) if error.is_data() => {
            let error = error.to_string();
            let what = error.split(" at line ").next().unwrap_or_default();
            Err(Error::new(ErrorCode::InvalidArgs, format!("{command}: {what}"))
                .suggest("give each field once"))
        }
        _ => Ok(()),
    }
}

/// A value of which every object has each field once.
#[derive(Clone, Copy)]
struct Unique {
    /// Whether it is the arguments themselves.
    is_top: bool,
}

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<(), A::Error> {
        while items.next_element_seed(Unique { is_top: false })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> std::result::Result<(), A::Error> {
        let mut seen: HashSet<String> = HashSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            let key = if self.is_top { snake_case(&key) } else { key };
            if seen.contains(&key) {
                return Err(A::Error::custom(format!("the field '{key}' is given twice")));
            }
            seen.insert(key);
            fields.next_value_seed(Unique { is_top: false })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(args: &str) -> Result<()> {
        let raw = RawValue::from_string(args.to_owned()).expect("JSON");
        refuse_duplicates("get", Some(&raw))
    }

    #[test]
    fn a_field_is_given_once_at_every_depth() {
        for args in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"settle_ms":1,"settleMs":2}"#,
            r#"{"items":[{"args":{"x":null,"y":true,"x":-1.5}}]}"#,
        ] {
            let error = check(args).expect_err(args);
            assert!(error.message.ends_with("is given twice"), "{}", error.message);
        }
        for args in [
            r#"{"a":{"a":{"a":[1,"a",{"a":2}]}},"b":1e999}"#,
            r#"{"env":{"aB":"1","a_b":"2"}}"#,
            "{}",
            "3",
            "[]",
        ] {
            check(args).expect(args);
        }
        refuse_duplicates("get", None).expect("no arguments");
    }
}
