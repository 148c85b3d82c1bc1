//! JSON in which no object has a key twice: of two values the last would win, and a reader of the file could
//! not tell which was meant.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Reads JSON through without keeping anything.
///
/// # Errors
/// A key that stands twice in its object, or text that is no JSON.
pub(crate) fn verify(json: &[u8]) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    Unique.deserialize(&mut reader)?;
    reader.end()
}

struct Unique;

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value_seed(Unique)?;
            if seen.contains(&key) {
                return Err(A::Error::custom(format!("the key `{key}` stands twice")));
            }
            seen.insert(key);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Unique)?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_twice_is_an_error_at_any_depth() {
        assert!(verify(br#"{"a": [1, {"b": 2, "c": null}], "b": "x"}"#).is_ok());
        for twice in [r#"{"a": 1, "a": 1}"#, r#"[0.5, {"x": {"y": 1, "z": 2, "y": 3}}]"#] {
            let error = verify(twice.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("stands twice"), "{error}");
        }
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        for text in ["", "{", "{}x", "nul", deep.as_str()] {
            assert!(verify(text.as_bytes()).is_err(), "{text}");
        }
    }
}
