//! `generatorOptions`: what holds for all generators of a kustomization.

use std::collections::BTreeMap;

use crate::config::{GeneratorArgs, GeneratorOptions};

/// The generator with what holds for all added; its own labels and annotations win.
pub(crate) fn with_globals(args: &GeneratorArgs, globals: Option<&GeneratorOptions>) -> GeneratorArgs {
    let mut args = args.clone();
    let Some(globals) = globals else {
        return args;
    };
    let mut options = args.options.take().unwrap_or_default();
    add(&mut options.labels, &globals.labels);
    add(&mut options.annotations, &globals.annotations);
    options.disable_name_suffix_hash |= globals.disable_name_suffix_hash;
    options.immutable |= globals.immutable;
    args.options = Some(options);
    args
}

fn add(own: &mut BTreeMap<String, String>, globals: &BTreeMap<String, String>) {
    for (key, text) in globals {
        own.entry(key.clone()).or_insert_with(|| text.clone());
    }
}
