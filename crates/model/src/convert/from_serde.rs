use serde::ser::{self, Serialize, Serializer};

use super::Error;
use crate::{Map, Str, Value};

/// Turns any type that serde can write into a [`Value`], as `serde_json::to_value` does. Maps come out sorted.
pub fn from_serde<T: Serialize + ?Sized>(source: &T) -> Result<Value, Error> {
    source.serialize(ToValue)
}

struct ToValue;

fn whole(number: impl TryInto<i64> + Copy, float: f64) -> Result<Value, Error> {
    Ok(number.try_into().map_or(Value::Float(float), Value::Int))
}

fn variant(name: &'static str, data: Value) -> Value {
    let mut map = Map::with_capacity(1);
    map.insert(name, data);
    Value::Object(map)
}

impl Serializer for ToValue {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Items;
    type SerializeMap = Pairs;
    type SerializeStruct = Pairs;
    type SerializeStructVariant = Pairs;

    fn serialize_bool(self, flag: bool) -> Result<Value, Error> {
        Ok(Value::Bool(flag))
    }

    fn serialize_i8(self, number: i8) -> Result<Value, Error> {
        Ok(Value::Int(number.into()))
    }

    fn serialize_i16(self, number: i16) -> Result<Value, Error> {
        Ok(Value::Int(number.into()))
    }

    fn serialize_i32(self, number: i32) -> Result<Value, Error> {
        Ok(Value::Int(number.into()))
    }

    fn serialize_i64(self, number: i64) -> Result<Value, Error> {
        Ok(Value::Int(number))
    }

    fn serialize_u8(self, number: u8) -> Result<Value, Error> {
        Ok(Value::Int(number.into()))
    }

    fn serialize_u16(self, number: u16) -> Result<Value, Error> {
        Ok(Value::Int(number.into()))
    }

    fn serialize_u32(self, number: u32) -> Result<Value, Error> {
        Ok(Value::Int(number.into()))
    }

    fn serialize_u64(self, number: u64) -> Result<Value, Error> {
        whole(number, number as f64)
    }

    fn serialize_f32(self, number: f32) -> Result<Value, Error> {
        self.serialize_f64(number.into())
    }

    /// JSON has no form for `NaN` and the infinities: they are `null`.
    fn serialize_f64(self, number: f64) -> Result<Value, Error> {
        Ok(if number.is_finite() {
            Value::Float(number)
        } else {
            Value::Null
        })
    }

    fn serialize_char(self, character: char) -> Result<Value, Error> {
        Ok(Value::str(character.encode_utf8(&mut [0; 4])))
    }

    fn serialize_str(self, text: &str) -> Result<Value, Error> {
        Ok(Value::str(text))
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Value, Error> {
        Ok(bytes.iter().map(|&byte| i64::from(byte)).collect())
    }

    fn serialize_none(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<Value, Error> {
        Ok(Value::str(name))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        Ok(variant(name, value.serialize(self)?))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Items, Error> {
        Ok(Items {
            items: Vec::with_capacity(len.unwrap_or(0)),
            variant: None,
        })
    }

    fn serialize_tuple(self, len: usize) -> Result<Items, Error> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Items, Error> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        len: usize,
    ) -> Result<Items, Error> {
        Ok(Items {
            items: Vec::with_capacity(len),
            variant: Some(name),
        })
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Pairs, Error> {
        Ok(Pairs {
            pairs: Vec::with_capacity(len.unwrap_or(0)),
            key: None,
            variant: None,
        })
    }

    fn serialize_struct(self, _: &'static str, len: usize) -> Result<Pairs, Error> {
        self.serialize_map(Some(len))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        len: usize,
    ) -> Result<Pairs, Error> {
        Ok(Pairs {
            pairs: Vec::with_capacity(len),
            key: None,
            variant: Some(name),
        })
    }
}

struct Items {
    items: Vec<Value>,
    /// The name of the enum variant whose data this is.
    variant: Option<&'static str>,
}

impl Items {
    fn add<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Error> {
        self.items.push(item.serialize(ToValue)?);
        Ok(())
    }

    fn finish(self) -> Value {
        let items = Value::from(self.items);
        match self.variant {
            Some(name) => variant(name, items),
            None => items,
        }
    }
}

macro_rules! collect_items {
    ($($trait:ident $method:ident;)*) => { $(
        impl ser::$trait for Items {
            type Ok = Value;
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Error> {
                self.add(item)
            }

            fn end(self) -> Result<Value, Error> {
                Ok(self.finish())
            }
        }
    )* };
}

collect_items! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

struct Pairs {
    pairs: Vec<(Str, Value)>,
    key: Option<Str>,
    /// The name of the enum variant whose data this is.
    variant: Option<&'static str>,
}

impl Pairs {
    fn finish(self) -> Value {
        let map = Value::Object(Map::from_pairs(self.pairs.into_iter()));
        match self.variant {
            Some(name) => variant(name, map),
            None => map,
        }
    }
}

impl ser::SerializeMap for Pairs {
    type Ok = Value;
    type Error = Error;

    /// Keys that are numbers or booleans become strings, as in JSON.
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key = Some(match key.serialize(ToValue)? {
            Value::Str(text) => text,
            Value::Int(number) => Str::new(itoa::Buffer::new().format(number)),
            Value::Bool(flag) => Str::new(if flag { "true" } else { "false" }),
            _ => return Err(ser::Error::custom("a key of a map must be a string")),
        });
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let key = self.key.take().expect("serde gives a key before its value");
        self.pairs.push((key, value.serialize(ToValue)?));
        Ok(())
    }

    fn end(self) -> Result<Value, Error> {
        Ok(self.finish())
    }
}

macro_rules! collect_fields {
    ($($trait:ident)*) => { $(
        impl ser::$trait for Pairs {
            type Ok = Value;
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
                self.pairs.push((Str::const_new(name), value.serialize(ToValue)?));
                Ok(())
            }

            fn end(self) -> Result<Value, Error> {
                Ok(self.finish())
            }
        }
    )* };
}

collect_fields!(SerializeStruct SerializeStructVariant);
