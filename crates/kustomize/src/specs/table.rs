//! Reads our own list of field specs. Its notation is told at its top.

use super::{BackReferences, Specs};
use crate::field::FieldSpec;
use crate::id::Gvk;

pub(super) fn read(text: &str) -> Specs {
    let mut specs = Specs::default();
    let mut heading = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some(spec) = line.strip_prefix("  ") else {
            heading = line;
            if let Some(target) = heading.strip_prefix("nameReference ") {
                specs.name_reference.push(BackReferences {
                    target: gvk(target),
                    referrers: Vec::new(),
                });
            }
            continue;
        };
        let mut words = spec.split(' ');
        let spec = FieldSpec {
            gvk: gvk(words.next().unwrap_or_default()),
            path: words.next().unwrap_or_default().into(),
            create: words.next() == Some("create"),
        };
        match heading {
            "namePrefix" => specs.name_prefix.push(spec),
            "nameSuffix" => specs.name_suffix.push(spec),
            "namespace" => specs.namespace.push(spec),
            "commonLabels" => specs.common_labels.push(spec),
            "templateLabels" => specs.template_labels.push(spec),
            "commonAnnotations" => specs.common_annotations.push(spec),
            "images" => specs.images.push(spec),
            "replicas" => specs.replicas.push(spec),
            "varReference" => specs.var_reference.push(spec),
            _ => {
                if let Some(last) = specs.name_reference.last_mut() {
                    last.referrers.push(spec);
                }
            }
        }
    }
    specs
}

/// `KIND.VERSION.GROUP`
fn gvk(text: &str) -> Gvk {
    let mut parts = text.splitn(3, '.');
    let mut part = || parts.next().unwrap_or_default();
    let (kind, version, group) = (part(), part(), part());
    Gvk {
        group: group.into(),
        version: version.into(),
        kind: if kind == "*" { "" } else { kind }.into(),
    }
}
