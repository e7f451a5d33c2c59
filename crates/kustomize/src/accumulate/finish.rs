//! What is done once, when everything is accumulated: hashes, references, vars, order, and what must not be printed.

use std::collections::BTreeMap;

use yaml::Step;

use super::{Accumulated, Build, Parts, Spot};
use crate::error::Errors;
use crate::field::FieldSpec;
use crate::labels::Labels;
use crate::options::Reorder;
use crate::origin::{ORIGIN, TRANSFORMATIONS, transformations};
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::transform::Transform;
use crate::unwritable;
use crate::{hash, name_reference, sort, vars};

/// Resources with this annotation are for the build alone.
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// Annotations of kustomize and its functions that are never printed.
const BUILD_ANNOTATIONS: [&str; 19] = [
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/prefixes",
    "internal.config.kubernetes.io/suffixes",
    "internal.config.kubernetes.io/previousNamespaces",
    "internal.config.kubernetes.io/allowNameChange",
    "internal.config.kubernetes.io/allowKindChange",
    "internal.config.kubernetes.io/refBy",
    "internal.config.kubernetes.io/generatorBehavior",
    "internal.config.kubernetes.io/needsHashSuffix",
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/annotations-migration-resource-id",
    "config.kubernetes.io/path",
    "config.kubernetes.io/index",
    "config.k8s.io/id",
    "kustomize.config.k8s.io/helm-generated",
];

fn is_local(resource: &Resource) -> bool {
    let value = resource.annotation(LOCAL_CONFIG);
    value.is_some_and(|value| value != "false")
}

/// All fields that cannot be printed, of the objects that are printed or have been for their hashes: where the object comes
/// from, the way to the field, and what is wrong.
fn unwritable_fields(resources: &ResMap) -> Vec<(Spot, Vec<Step>, String)> {
    let written = resources
        .iter()
        .filter(|resource| !resource.is_unsure() && (resource.needs_hash || !is_local(resource)));
    let fields = written.flat_map(|resource| {
        let fields = unwritable::all(&resource.node).into_iter();
        fields.map(|field| {
            let message = format!("{}: {field}", resource.plain_id());
            (resource.spot, field.path, message)
        })
    });
    fields.collect()
}

impl Accumulated<'_, '_> {
    /// Completes names, references and order.
    pub(crate) fn finish(&mut self, build: &Build<'_>) -> Result<(), Errors> {
        let schema = build.schema();
        let specs = self.accumulator.specs(build);
        let resources = &mut self.accumulator.resources;
        let fail = |field: &'static str, message: String| self.target.here.error((field, None), message);
        // What has no hash cannot be printed either, and is told with all else that cannot.
        let _ = hash::add_to_names(resources, &schema);
        let mut wrong = name_reference::fix(resources, specs.rules(), &schema);
        let resolved = vars::resolve(&self.accumulator.vars, resources, &specs.var_reference);
        // Patches and replacements may have taken the name of one.
        resources.drop_empties();
        let sure = resources.iter().filter(|resource| !resource.is_unsure());
        wrong.extend(sure.filter_map(|resource| Some((resource.spot, resource.lacks()?))));
        let unwritable = unwritable_fields(resources);
        resources.retain(|resource| !is_local(resource));
        let wrong = wrong
            .into_iter()
            .map(|(spot, problem)| (spot, Vec::new(), problem));
        for (spot, path, problem) in wrong.chain(unwritable) {
            let error = build.spots.borrow().field_error(spot, &path, &problem);
            let told = error.map_or_else(|| fail("", problem), Errors::from);
            self.accumulator.note(told);
        }
        match resolved {
            Ok(unused) if unused.is_empty() => {}
            Ok(unused) => {
                let names = unused.join(",");
                self.warnings
                    .push(format!("well-defined vars that were never replaced: {names}"));
            }
            Err(problems) => {
                let problems = self.accumulator.certain(problems);
                self.accumulator
                    .note(self.target.here.tell(("vars", None), problems));
            }
        }
        // Patches may have given several the same name.
        let clashes = self.accumulator.resources.check_ids(&schema);
        self.target
            .tell_clashes(&mut self.accumulator, ("", None), clashes);
        self.order_and_mark(build)
    }

    /// Puts the objects into order, and writes on them what is to be told of the build.
    fn order_and_mark(&mut self, build: &Build<'_>) -> Result<(), Errors> {
        let schema = build.schema();
        let fail = |field: &'static str, message: String| self.target.here.error((field, None), message);
        let mut errors = std::mem::take(&mut self.accumulator.errors);
        let resources = &mut self.accumulator.resources;
        let kustomization = &self.target.kustomization;
        match &kustomization.sort_options {
            Some(options) => {
                errors.keep(sort::sort(resources, options).map_err(|problem| fail("sortOptions", problem)));
            }
            None if build.options.reorder == Reorder::Legacy => {
                sort::legacy(resources, sort::DEFAULT_ORDER);
            }
            None => {}
        }
        errors.or(())?;
        let wants = |option: &str| kustomization.build_metadata.iter().any(|wanted| wanted == option);
        if build.options.managed_by_label || wants("managedByLabel") {
            let label = BTreeMap::from([(
                "app.kubernetes.io/managed-by".to_owned(),
                format!("kustomize-{}", build.options.version),
            )]);
            let spec = FieldSpec {
                path: "metadata/labels".into(),
                create: true,
                ..FieldSpec::default()
            };
            Labels::new(&label, &[spec])
                .transform(resources, &schema)
                .map_err(|problem| fail("buildMetadata", problem))?;
        }
        let (origins, changes) = (wants("originAnnotations"), wants("transformerAnnotations"));
        for resource in resources.contents_mut() {
            resource.tidy_annotations(|key| {
                BUILD_ANNOTATIONS.contains(&key) || key == ORIGIN || key == TRANSFORMATIONS
            });
            if let (true, Some(origin)) = (origins, resource.origin().cloned()) {
                resource.set_annotation(ORIGIN, &origin.to_text());
            }
            if changes && !resource.transformations().is_empty() {
                let text = transformations(resource.transformations());
                resource.set_annotation(TRANSFORMATIONS, &text);
            }
        }
        Ok(())
    }

    pub(crate) fn into_parts(self) -> Parts {
        Parts {
            resources: self.accumulator.resources.into_resources(),
            warnings: self.warnings,
            file: self.target.here.loader.show(self.target.here.file),
        }
    }
}
