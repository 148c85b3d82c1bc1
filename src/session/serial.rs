//! Models and fits in whatever format serde writes: a model as its source and settings, a fit as the text
//! of its file. Reading one compiles its source again.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

use super::compile::{Compiler, Import, Imports, Model, Recipe};
use super::fit::Fit;

/// What a model is made of.
#[derive(serde::Serialize, serde::Deserialize)]
struct Written {
    recipe: Recipe,
    source: String,
    imports: Vec<Import>,
}

impl Serialize for Model {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = Written {
            recipe: self.recipe().clone(),
            source: self.source().to_owned(),
            imports: self.imports(),
        };
        written.serialize(serializer)
    }
}

/// A model that calls functions of the host program cannot be read this way: compile its source with a
/// [`Compiler`] that has them.
impl<'de> Deserialize<'de> for Model {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Model, D::Error> {
        let Written { recipe, source, imports } = Written::deserialize(deserializer)?;
        let compiler = Compiler::new().with_recipe(recipe).loader(Imports(imports));
        compiler.compile(&source).map_err(D::Error::custom)
    }
}

impl Serialize for Fit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.to_bytes().map_err(S::Error::custom)?;
        serializer.serialize_str(&String::from_utf8(bytes).map_err(S::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Fit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fit, D::Error> {
        let text = String::deserialize(deserializer)?;
        Fit::from_bytes(text.as_bytes(), "the fit").map_err(D::Error::custom)
    }
}
