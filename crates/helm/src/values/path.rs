//! Values by dotted paths.

use model::{Map, Value};

/// The map at a path such as `a.b`; nothing where there is none.
pub fn table<'v>(values: &'v Map, path: &str) -> Option<&'v Map> {
    let mut table = values;
    for part in path.split('.') {
        table = table.get(part)?.as_object()?;
    }
    Some(table)
}

/// The value at a path, if it is there and no map.
pub fn scalar<'v>(values: &'v Map, path: &str) -> Option<&'v Value> {
    let (table, key) = match path.rsplit_once('.') {
        Some((above, key)) => (table(values, above)?, key),
        None => (values, path),
    };
    table.get(key).filter(|value| value.as_object().is_none())
}

/// The map below the keys of a path; `.` is no key at all.
pub fn nest(path: &str, map: Map) -> Map {
    if path == "." {
        return map;
    }
    path.rsplit('.').fold(map, |inner, key| {
        let mut outer = Map::new();
        outer.insert(key, inner);
        outer
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::read;

    #[test]
    fn paths_lead_through_maps_and_end_at_what_is_asked_for() {
        let values = read(b"a: {b: {c: 1}, z: null}\nd: 2").unwrap();
        let values = values.as_object().unwrap();
        assert_eq!(table(values, "a.b").unwrap().len(), 1);
        assert!(table(values, "a.b.c").is_none());
        assert!(table(values, "x").is_none());
        assert_eq!(scalar(values, "a.b.c"), Some(&Value::Int(1)));
        assert_eq!(scalar(values, "d"), Some(&Value::Int(2)));
        assert_eq!(scalar(values, "a.z"), Some(&Value::Null));
        assert!(scalar(values, "a.b").is_none());
        assert_eq!(
            Value::Object(nest("x.w", Map::from_iter([("z", 1)]))),
            read(b"x: {w: {z: 1}}").unwrap()
        );
    }
}
