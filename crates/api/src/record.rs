//! A struct and its schema from one text.

/// Declares a struct with named fields, its serde form and its schema.
///
/// ```text
///    record! {
///        /// What the whole is for.
///        GitRepositorySpec {
///            /// What the field is for.                      the documentation, and the description in the schema
///            required url: String { .pattern("^https://") }   what is checked besides the type
///            optional match_oidc as "matchOIDC": bool {}      a name that camel case does not give
///        }
///        rules {
///            "has(self.url)" => "url must be set",            a CEL rule and what is said when it does not hold
///        }
///    }
/// ```
///
/// | word | in the current version | in older ones |
/// |---|---|---|
/// | `required` | must be there | must be there |
/// | `needed` | must be there | may be there: they did not ask for it |
/// | `optional` | may be there | may be there |
/// | `older` | may be there, so that nothing is lost; it has no effect or an older one's | may be there |
macro_rules! record {
    (
        $(#[doc = $about:literal])+
        $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $(#[serde($($serde:tt)+)])?
                $presence:ident $field:ident $(as $rename:literal)? : $type:ty { $($checks:tt)* }
            )*
        }
        $(rules { $($rule:expr => $message:expr,)+ })?
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name {
            $(
                $(#[doc = $doc])+
                $(#[serde(rename = $rename)])?
                $(#[serde($($serde)+)])?
                #[serde(skip_serializing_if = "crate::schema::is_absent")]
                pub $field: $type,
            )*
        }

        impl $crate::schema::Described for $name {
            fn schema() -> $crate::schema::Schema {
                use $crate::schema::{Described, Field, Presence, Schema};
                Schema::object(vec![
                    $(
                        Field::new(
                            stringify!($field),
                            &[$($rename)?],
                            Presence::$presence(),
                            <$type as Described>::schema().described(&[$($doc),+]) $($checks)*,
                        ),
                    )*
                ])
                .described(&[$($about),+])
                $($(.rule($rule, $message))+)?
            }
        }
    };
}
