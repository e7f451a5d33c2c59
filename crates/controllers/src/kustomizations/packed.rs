//! The objects of a build for as long as nobody looks at them.

use model::{Manifest, Value, json};

/// What was built, as text. A process has the objects of all its Kustomizations and looks at few of them at a time: as trees they take
/// several times as much memory, and are made of the text in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Packed(Form);

#[derive(Clone, Debug)]
enum Form {
    /// A JSON list.
    Text(Box<[u8]>),
    /// What JSON cannot tell, such as what is nested too deep for it.
    Trees(Vec<Manifest>),
}

impl Packed {
    pub(super) fn new(manifests: Vec<Manifest>) -> Self {
        let mut text = vec![b'['];
        for (place, manifest) in manifests.iter().enumerate() {
            if place > 0 {
                text.push(b',');
            }
            json::write(manifest.value(), &mut text);
        }
        text.push(b']');
        let is_same = unpacked(&text).is_some_and(|unpacked| unpacked == manifests);
        Packed(match is_same {
            true => Form::Text(text.into_boxed_slice()),
            false => Form::Trees(manifests),
        })
    }

    /// The objects.
    pub(super) fn manifests(&self) -> Vec<Manifest> {
        match &self.0 {
            Form::Text(text) => unpacked(text).unwrap_or_default(),
            Form::Trees(manifests) => manifests.clone(),
        }
    }
}

fn unpacked(text: &[u8]) -> Option<Vec<Manifest>> {
    let Value::Array(objects) = json::parse(text).ok()? else {
        return None;
    };
    let manifests = objects.into_iter().map(|object| Manifest::new(object, None).ok());
    manifests.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(data: Value) -> Manifest {
        let object = model::value!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": data});
        Manifest::new(object, None).unwrap()
    }

    #[test]
    fn objects_are_the_same_when_they_are_looked_at() {
        let numbers = vec![
            Value::from(1),
            Value::from(-2),
            Value::from(1.5),
            Value::from(1e300),
        ];
        let list = [numbers, vec![Value::from(true), Value::Null, Value::from("1")]].concat();
        let mut data = model::value!({"b": "<&>\u{2028}"});
        data.set_at(&["a"], Value::from(list));
        let manifests = vec![manifest(data), manifest(Value::Null)];
        let packed = Packed::new(manifests.clone());
        assert!(matches!(packed.0, Form::Text(_)));
        assert_eq!(packed.manifests(), manifests);
        assert_eq!(Packed::new(Vec::new()).manifests(), []);
    }

    #[test]
    fn what_text_cannot_tell_is_kept_as_it_is() {
        let mut deep = Value::Null;
        for _ in 0..400 {
            deep = model::value!([deep]);
        }
        let manifests = vec![manifest(deep)];
        let packed = Packed::new(manifests.clone());
        assert!(matches!(packed.0, Form::Trees(_)));
        assert_eq!(packed.manifests(), manifests);
    }
}
