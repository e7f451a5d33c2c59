//! What is done once, when everything is accumulated: hashes, references, vars, order, and what must not be printed.

use std::collections::BTreeMap;

use super::{Accumulated, Build, Parts};
use crate::error::Errors;
use crate::field::FieldSpec;
use crate::labels::Labels;
use crate::options::Reorder;
use crate::origin::{ORIGIN, TRANSFORMATIONS, transformations};
use crate::transform::Transform;
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

impl Accumulated<'_, '_> {
    /// Completes names, references and order.
    pub(crate) fn finish(&mut self, build: &Build<'_>) -> Result<(), Errors> {
        let schema = build.schema();
        let specs = self.accumulator.specs(build);
        let resources = &mut self.accumulator.resources;
        let fail = |field: &'static str, message: String| self.target.here.error((field, None), message);
        hash::add_to_names(resources, &schema).map_err(|problem| fail("", problem))?;
        name_reference::fix(resources, specs.rules(), &schema).map_err(|problems| {
            let spots = build.spots.borrow();
            let errors = problems.into_iter().flat_map(|(spot, problem)| {
                let error = spots.error(spot, &problem);
                error.map_or_else(|| fail("", problem).0, |error| vec![error])
            });
            Errors(errors.collect())
        })?;
        let unused = vars::resolve(&self.accumulator.vars, resources, &specs.var_reference)
            .map_err(|problems| self.target.here.tell(("vars", None), problems))?;
        if !unused.is_empty() {
            let names = unused.join(",");
            self.warnings
                .push(format!("well-defined vars that were never replaced: {names}"));
        }
        // Patches and replacements may have taken the name of one.
        resources.drop_empties();
        for resource in resources.iter() {
            if let Some(problem) = resource.lacks() {
                let told = build.spots.borrow().error(resource.spot, &problem);
                return Err(told.map_or_else(|| fail("", problem), |error| Errors(vec![error])));
            }
        }
        resources.retain(|resource| {
            resource
                .annotation(LOCAL_CONFIG)
                .is_none_or(|value| value == "false")
        });
        // Patches may have given several the same name.
        resources
            .distinct_ids(&schema)
            .map(drop)
            .map_err(|problem| fail("", problem))?;
        let kustomization = &self.target.kustomization;
        match &kustomization.sort_options {
            Some(options) => {
                sort::sort(resources, options).map_err(|problem| fail("sortOptions", problem))?;
            }
            None if build.options.reorder == Reorder::Legacy => {
                sort::legacy(resources, sort::DEFAULT_ORDER);
            }
            None => {}
        }
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
