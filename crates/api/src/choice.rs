//! One of a few words.

/// Declares an enum of the words that a field may have. What is none of them is kept as `Other`: a definition that is
/// newer than this program may allow more, and one such object must not make the rest of a list unreadable.
macro_rules! choice {
    ($(#[doc = $about:literal])+ $name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(
                #[doc = concat!("`", $text, "`")]
                $variant,
            )+
            /// A word that is not known here. The default is the empty one.
            Other(String),
        }

        impl $name {
            /// The words that are known.
            pub const KNOWN: &'static [&'static str] = &[$($text),+];

            /// The word.
            pub fn as_str(&self) -> &str {
                match self {
                    $($name::$variant => $text,)+
                    $name::Other(text) => text,
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                $name::Other(String::new())
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => $name::$variant,)+
                    other => $name::Other(other.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                Ok($name::from(text.as_ref()))
            }
        }

        impl $crate::schema::Described for $name {
            fn schema() -> $crate::schema::Schema {
                $crate::schema::Schema::string().one_of($name::KNOWN)
            }
        }
    };
}
