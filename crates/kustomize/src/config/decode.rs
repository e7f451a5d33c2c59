//! Making typed values of JSON as Go's `encoding/json` does: names in any case, `null` for nothing, and its messages.

use std::collections::BTreeMap;

use model::Value;
use yaml::Step;

/// Whether fields that nobody knows are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    Strict,
    /// They are not, and numbers and booleans are texts where texts are wanted, as Go's reader of YAML has it when it knows
    /// the type.
    Lax,
}

/// Where in a value the decoder is.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) strictness: Strictness,
    /// The type and the names of the fields above.
    pub(crate) structure: &'static str,
    pub(crate) path: Vec<&'static str>,
    /// The way to the value, with the numbers of elements.
    pub(crate) steps: Vec<Step>,
    /// What is wrong so far.
    pub(crate) mistakes: Vec<Mistake>,
}

/// Something in a value that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// In Go's words.
    pub(crate) message: String,
    /// The way to it.
    pub(crate) steps: Vec<Step>,
    /// Whether nobody knows the field. Go stops at the first such one, and looks for values of the wrong type only then.
    unknown: bool,
}

/// What can be made of JSON.
pub(crate) trait Decode: Sized + Default {
    fn decode(value: &Value, context: &mut Context) -> Result<Self, String>;
}

/// Makes a typed value. Of several mistakes, that which Go tells is told.
pub(crate) fn decode<T: Decode>(value: &Value, strictness: Strictness) -> Result<T, String> {
    let (decoded, mut mistakes) = decode_all(value, strictness);
    if mistakes.is_empty() {
        return Ok(decoded);
    }
    let told = mistakes.iter().position(|mistake| mistake.unknown);
    Err(mistakes.swap_remove(told.unwrap_or(0)).message)
}

/// Makes a typed value, in which what is wrong is missing, and tells all that is.
pub(crate) fn decode_all<T: Decode>(value: &Value, strictness: Strictness) -> (T, Vec<Mistake>) {
    let mut context = Context {
        strictness,
        structure: "",
        path: Vec::new(),
        steps: Vec::new(),
        mistakes: Vec::new(),
    };
    let decoded = T::decode(value, &mut context).unwrap_or_else(|message| {
        context.note(message, false);
        T::default()
    });
    (decoded, context.mistakes)
}

impl Mistake {
    /// Something that is wrong with the value at the end of a path.
    pub(crate) fn new(steps: Vec<Step>, message: String) -> Mistake {
        Mistake {
            message,
            steps,
            unknown: false,
        }
    }
}

impl Context {
    /// Notes that a value is of the wrong type; it counts as missing.
    pub(crate) fn mismatch<T: Default>(&mut self, value: &Value, wanted: &str) -> T {
        if !value.is_null() {
            let got = match value {
                Value::Bool(_) => "bool",
                Value::Int(_) | Value::Float(_) => "number",
                Value::Str(_) => "string",
                other => other.type_name(),
            };
            let mut message = if self.path.is_empty() {
                format!("json: cannot unmarshal {got} into Go value of type {wanted}")
            } else {
                format!(
                    "json: cannot unmarshal {got} into Go struct field {}.{} of type {wanted}",
                    self.structure,
                    self.path.join(".")
                )
            };
            // YAML takes yes, no, on and off for booleans.
            if wanted == "string" && matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_)) {
                message.push_str(": put quotes around it");
            }
            self.note(message, false);
        }
        T::default()
    }

    /// Whether numbers and booleans are texts here. Go's reader of YAML does not see the types of fields that a structure has
    /// from another one inside of it.
    fn wants_texts(&self) -> bool {
        let field = self.path.last().copied().unwrap_or_default();
        let is_hidden = match self.structure {
            "Selector" | "SourceSelector" => {
                matches!(field, "group" | "version" | "kind" | "name" | "namespace")
            }
            "FieldSpec" | "Target" => matches!(field, "group" | "version" | "kind"),
            "Kustomization" => matches!(field, "kind" | "apiVersion"),
            "GeneratorArgs" | "IAMPolicyGeneratorArgs" | "KubernetesService" | "ServiceAccount" => true,
            _ => false,
        };
        self.strictness == Strictness::Lax && !is_hidden
    }

    /// Notes a field that nobody knows, if that is a mistake.
    pub(crate) fn unknown(&mut self, key: &str, known: &[&str]) {
        if self.strictness == Strictness::Strict {
            self.steps.push(Step::Key(key.to_owned()));
            let mut message = format!("json: unknown field {key:?}");
            if let Some(meant) = super::meant(key, known) {
                message.push_str(&format!("; did you mean {meant:?}?"));
            }
            self.note(message, true);
            self.steps.pop();
        }
    }

    fn note(&mut self, message: String, unknown: bool) {
        self.mistakes.push(Mistake {
            message,
            steps: self.steps.clone(),
            unknown,
        });
    }
}

impl Decode for String {
    fn decode(value: &Value, context: &mut Context) -> Result<Self, String> {
        Ok(match value {
            Value::Str(text) => text.to_string(),
            Value::Bool(_) | Value::Int(_) if context.wants_texts() => model::json::to_string(value),
            Value::Float(number) if context.wants_texts() => yaml::go::format_float32(*number),
            other => context.mismatch(other, "string"),
        })
    }
}

impl Decode for bool {
    fn decode(value: &Value, context: &mut Context) -> Result<Self, String> {
        Ok(match value {
            Value::Bool(flag) => *flag,
            other => context.mismatch(other, "bool"),
        })
    }
}

impl Decode for i64 {
    fn decode(value: &Value, context: &mut Context) -> Result<Self, String> {
        Ok(match value {
            Value::Int(number) => *number,
            other => context.mismatch(other, "int64"),
        })
    }
}

impl Decode for Value {
    fn decode(value: &Value, _: &mut Context) -> Result<Self, String> {
        Ok(value.clone())
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(value: &Value, context: &mut Context) -> Result<Self, String> {
        if value.is_null() {
            return Ok(None);
        }
        T::decode(value, context).map(Some)
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(value: &Value, context: &mut Context) -> Result<Self, String> {
        match value {
            Value::Array(items) => {
                let decoded = items.iter().enumerate().map(|(index, item)| {
                    context.steps.push(Step::Item(index));
                    let decoded = T::decode(item, context);
                    context.steps.pop();
                    decoded
                });
                decoded.collect()
            }
            other => Ok(context.mismatch(other, "[]string")),
        }
    }
}

impl Decode for BTreeMap<String, String> {
    fn decode(value: &Value, context: &mut Context) -> Result<Self, String> {
        match value {
            Value::Object(map) => {
                let decoded = map.iter().map(|(key, value)| {
                    context.steps.push(Step::Key(key.to_owned()));
                    let decoded = String::decode(value, context);
                    context.steps.pop();
                    Ok((key.to_owned(), decoded?))
                });
                decoded.collect()
            }
            other => Ok(context.mismatch(other, "map[string]string")),
        }
    }
}

/// The name of the field that a key means.
pub(crate) fn field_of(key: &str, known: &[&'static str]) -> Option<&'static str> {
    let exact = known.iter().find(|name| **name == key);
    exact
        .or_else(|| known.iter().find(|name| name.eq_ignore_ascii_case(key)))
        .copied()
}

/// Declares a structure with the names its fields have in YAML, and how it is read.
macro_rules! fields {
    (
        $(#[$doc:meta])*
        $visibility:vis struct $name:ident in $go:literal {
            $( $(#[$field_doc:meta])* $field:ident : $kind:ty = $key:literal, )*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $visibility struct $name {
            $( $(#[$field_doc])* $visibility $field: $kind, )*
        }

        impl $name {
            /// The names of its fields.
            pub(crate) const KNOWN: &[&'static str] = &[$($key),*];
        }

        impl crate::config::Decode for $name {
            fn decode(
                value: &model::Value,
                context: &mut crate::config::Context,
            ) -> Result<Self, String> {
                let model::Value::Object(map) = value else {
                    return Ok(context.mismatch(value, concat!("types.", $go)));
                };
                let mut result = Self::default();
                for (key, value) in map.iter() {
                    let Some(name) = crate::config::field_of(key, Self::KNOWN) else {
                        context.unknown(key, Self::KNOWN);
                        continue;
                    };
                    context.steps.push(yaml::Step::Key(key.to_owned()));
                    let above = std::mem::replace(&mut context.structure, $go);
                    context.path.push(name);
                    match name {
                        $( $key => {
                            result.$field = <$kind as crate::config::Decode>::decode(value, context)?;
                        } )*
                        _ => {}
                    }
                    context.path.pop();
                    context.steps.pop();
                    context.structure = above;
                }
                Ok(result)
            }
        }
    };
}
pub(crate) use fields;
