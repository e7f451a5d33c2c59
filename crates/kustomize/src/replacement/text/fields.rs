//! The fields of a text, and making what is missing.

use super::{Body, Document, Item, read, write};
use crate::field::Growing;

impl Growing for Item {
    fn list() -> Item {
        Item::of(Body::List {
            items: Vec::new(),
            flow: false,
        })
    }

    fn map() -> Item {
        Item::of(Body::Map {
            pairs: Vec::new(),
            flow: false,
        })
    }

    fn blank() -> Item {
        Item::scalar("")
    }

    fn made(text: &str) -> Item {
        Item::scalar(text)
    }

    fn read(text: &str) -> Result<Option<Item>, String> {
        Ok(read(text)?.map(|document| document.root))
    }

    fn is_null(&self) -> bool {
        Item::is_null(self)
    }

    fn scalar(&self) -> Option<&str> {
        match &self.body {
            Body::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    fn field(&self, key: &str) -> Option<&Item> {
        let Body::Map { pairs, .. } = &self.body else {
            return None;
        };
        let found = pairs.iter().find(|(name, _)| name.text() == key);
        found.map(|(_, value)| value)
    }

    fn field_mut(&mut self, key: &str, make: Option<&dyn Fn() -> Item>) -> Result<Option<&mut Item>, String> {
        let kind = self.kind_name();
        let Body::Map { pairs, .. } = &mut self.body else {
            return Err(format!("wrong node kind: expected MappingNode but got {kind}"));
        };
        let at = match (pairs.iter().position(|(name, _)| name.text() == key), make) {
            (Some(at), _) => at,
            (None, Some(make)) => {
                pairs.push((Item::scalar(key), make()));
                pairs.len() - 1
            }
            (None, None) => return Ok(None),
        };
        Ok(Some(&mut pairs[at].1))
    }

    fn elements(&mut self) -> Result<&mut [Item], String> {
        let kind = self.kind_name();
        match &mut self.body {
            Body::List { items, .. } => Ok(items),
            _ => Err(format!("wrong node kind: expected SequenceNode but got {kind}")),
        }
    }

    fn push(&mut self, element: Item) {
        if let Body::List { items, .. } = &mut self.body {
            items.push(element);
        }
    }

    fn written(&self) -> String {
        write(&Document {
            root: self.clone(),
            ..Document::default()
        })
    }
}
