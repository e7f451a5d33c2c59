//! `range` over lists, maps and integers.

use arcstr::ArcStr;

use super::{At, Exec, Flow, Slot};
use crate::error::Error;
use crate::parse::ast::Branch;
use crate::print;
use crate::value::{Kind, Type, Value};

/// The bytes of an entry of a map.
const ENTRY: usize = size_of::<(ArcStr, Value)>();

impl<'t> Exec<'t, '_, '_> {
    pub(super) fn range(&mut self, dot: &Slot, branch: &'t Branch) -> Result<Flow, Error> {
        self.at = At::Branch(branch);
        self.step()?;
        let mark = self.variables.len();
        let value = self.pipeline(dot, &branch.pipe)?;
        let any = self.iterate(branch, &value)?;
        let mut flow = Flow::Next;
        if !any && let Some(list) = &branch.otherwise {
            flow = self.nested(|exec| exec.walk_list(dot, list))?;
        }
        self.variables.truncate(mark);
        Ok(flow)
    }

    /// Goes through what the value has, and tells whether there was anything.
    fn iterate(&mut self, branch: &'t Branch, value: &Value) -> Result<bool, Error> {
        // All of a list is shared, and of what else there is entries are taken out before the first is looked at.
        let taken_out = match value {
            Value::Map(map) => map.len() * ENTRY,
            Value::Bytes(bytes) => bytes.len() * ENTRY,
            Value::Object(object) => object.weight(),
            _ => 0,
        };
        if let Err(error) = self.session.work(taken_out) {
            return Err(self.wrap(&error, &error));
        }
        if let Err(error) = self.session.fits(taken_out) {
            return Err(self.wrap(&error, &error));
        }
        match value {
            Value::None | Value::Nil => Ok(false),
            Value::Int(int, count) => {
                if branch.pipe.variables.len() > 1 {
                    let shown = print::sprint_value(value);
                    return Err(self.error(format_args!(
                        "can't use {shown} to iterate over more than one variable"
                    )));
                }
                let count = match int.is_signed() {
                    true => u64::try_from(*count).unwrap_or(0),
                    false => count.cast_unsigned(),
                };
                let items = (0..count).map(|number| Value::Int(*int, number.cast_signed()));
                self.items(branch, false, items.map(|item| (Value::None, item)))?;
                Ok(count > 0)
            }
            Value::List(list) => {
                let boxed = list.element() == Type::Any;
                let items = list.items().iter().cloned();
                self.items(branch, boxed, numbered(items))?;
                Ok(!list.is_empty())
            }
            Value::Map(map) => {
                let boxed = map.element() == Type::Any;
                let entries = map.entries();
                let any = !entries.is_empty();
                self.items(
                    branch,
                    boxed,
                    entries.into_iter().map(|(key, item)| (Value::Str(key), item)),
                )?;
                Ok(any)
            }
            Value::Object(object) if object.kind() == Kind::Map => {
                let entries = object.fields();
                let any = !entries.is_empty();
                self.items(
                    branch,
                    false,
                    entries.into_iter().map(|(key, item)| (Value::Str(key), item)),
                )?;
                Ok(any)
            }
            Value::Object(object)
                if object
                    .scalar()
                    .is_some_and(|scalar| matches!(scalar, Value::Int(..))) =>
            {
                self.iterate(branch, &object.scalar().unwrap_or_default())
            }
            other => match other.items() {
                Some(items) => {
                    self.items(branch, false, numbered(items.iter().cloned()))?;
                    Ok(!items.is_empty())
                }
                None => {
                    let shown = print::sprint_value(other);
                    Err(self.error(format_args!("range can't iterate over {shown}")))
                }
            },
        }
    }

    fn items(
        &mut self,
        branch: &'t Branch,
        boxed: bool,
        items: impl Iterator<Item = (Value, Value)>,
    ) -> Result<(), Error> {
        let mark = self.variables.len();
        for (index, value) in items {
            self.at = At::Branch(branch);
            self.step()?;
            let item = Slot { value, boxed };
            self.bind(branch, index, &item)?;
            let flow = self.nested(|exec| exec.walk_list(&item, &branch.list))?;
            self.variables.truncate(mark);
            if flow == Flow::Break {
                break;
            }
        }
        Ok(())
    }

    /// Gives the variables of the range their values: the last is the item, the one before it the index or key.
    fn bind(&mut self, branch: &'t Branch, index: Value, item: &Slot) -> Result<(), Error> {
        let names = &branch.pipe.variables;
        let values = [item.clone(), Slot::plain(index)];
        for (back, (name, slot)) in names.iter().rev().zip(values).enumerate() {
            if branch.pipe.assigns {
                self.set_variable(name.id, &name.name, slot)?;
            } else {
                // The pipeline has declared them, on top of all others.
                let at = self.variables.len() - 1 - back;
                self.variables[at].1 = slot;
            }
        }
        Ok(())
    }
}

fn numbered(items: impl Iterator<Item = Value>) -> impl Iterator<Item = (Value, Value)> {
    items
        .enumerate()
        .map(|(index, item)| (Value::int(index as i64), item))
}
