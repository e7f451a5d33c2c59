//! Maps that contain themselves, which counters alone would keep forever.

use std::collections::HashMap;

use super::{Map, Value};

/// Empties maps that can be reached from themselves, so that all in such circles can be freed. Every value is looked at
/// once, however many of the maps lead to it.
pub(crate) fn break_circles(maps: impl Iterator<Item = Map>) {
    let mut walk = Walk::default();
    for map in maps {
        walk.from(Value::Map(map));
    }
    for map in walk.circles {
        map.clear();
    }
}

#[derive(Default)]
struct Walk {
    /// Of each map or list that was seen, whether the walk is inside of it at present.
    inside: HashMap<usize, bool>,
    circles: Vec<Map>,
}

enum Task {
    Enter(Value),
    Leave(usize),
}

impl Walk {
    fn from(&mut self, value: Value) {
        let mut tasks = vec![Task::Enter(value)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Leave(address) => {
                    self.inside.insert(address, false);
                }
                Task::Enter(value) => self.enter(value, &mut tasks),
            }
        }
    }

    fn enter(&mut self, value: Value, tasks: &mut Vec<Task>) {
        let (address, parts) = match &value {
            Value::Map(map) => (map.address(), None),
            Value::List(list) if !list.is_empty() => (list.items().as_ptr() as usize, Some(list)),
            _ => return,
        };
        match (self.inside.get(&address), &value) {
            (Some(true), Value::Map(map)) => self.circles.push(map.clone()),
            (Some(_), _) => {}
            (None, value) => {
                self.inside.insert(address, true);
                tasks.push(Task::Leave(address));
                let parts = match (parts, value) {
                    (Some(list), _) => list.items().to_vec(),
                    (None, Value::Map(map)) => map.values(),
                    _ => Vec::new(),
                };
                tasks.extend(parts.into_iter().filter(super::drop::has_parts).map(Task::Enter));
            }
        }
    }
}
