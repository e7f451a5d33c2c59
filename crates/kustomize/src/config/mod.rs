//! The kustomization file: all of its fields, read strictly, with those of old turned into those of today.

mod decode;
mod misspelt;
mod parts;

pub(crate) use decode::{Context, Decode, Mistake, Strictness, decode, decode_all, field_of, fields};
pub(crate) use misspelt::meant;
pub(crate) use parts::{
    FieldOptions, FieldSpec, GeneratorArgs, GeneratorOptions, HelmChartArgs, Image, Label, ObjectMeta, Patch,
    PatchOptions, Replacement, Replica, Selector, SortOptions, Source, Target, Var,
};
pub use parts::{HelmChart, HelmGlobals};

use std::collections::BTreeMap;

use yaml::Step;

use crate::hint;
use crate::problem::key;

fields! {
    /// A kustomization or component, as it is written.
    pub(crate) struct Kustomization in "Kustomization" {
        kind: String = "kind",
        api_version: String = "apiVersion",
        metadata: Option<ObjectMeta> = "metadata",
        openapi: BTreeMap<String, String> = "openapi",
        name_prefix: String = "namePrefix",
        name_suffix: String = "nameSuffix",
        namespace: String = "namespace",
        common_labels: Option<BTreeMap<String, String>> = "commonLabels",
        labels: Vec<Label> = "labels",
        common_annotations: BTreeMap<String, String> = "commonAnnotations",
        patches_strategic_merge: Option<Vec<String>> = "patchesStrategicMerge",
        patches_json6902: Option<Vec<Patch>> = "patchesJson6902",
        patches: Vec<Patch> = "patches",
        images: Vec<Image> = "images",
        image_tags: Option<Vec<Image>> = "imageTags",
        replacements: Vec<Replacement> = "replacements",
        replicas: Vec<Replica> = "replicas",
        vars: Option<Vec<Var>> = "vars",
        sort_options: Option<SortOptions> = "sortOptions",
        resources: Vec<String> = "resources",
        components: Vec<String> = "components",
        crds: Vec<String> = "crds",
        bases: Option<Vec<String>> = "bases",
        config_map_generator: Vec<GeneratorArgs> = "configMapGenerator",
        secret_generator: Vec<GeneratorArgs> = "secretGenerator",
        helm_globals: Option<HelmGlobals> = "helmGlobals",
        helm_charts: Vec<HelmChart> = "helmCharts",
        helm_chart_inflation_generator: Vec<HelmChartArgs> = "helmChartInflationGenerator",
        generator_options: Option<GeneratorOptions> = "generatorOptions",
        configurations: Vec<String> = "configurations",
        generators: Vec<String> = "generators",
        transformers: Vec<String> = "transformers",
        validators: Vec<String> = "validators",
        build_metadata: Vec<String> = "buildMetadata",
    }
}

/// The names that a kustomization file may have.
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

const KUSTOMIZATION: (&str, &str) = ("Kustomization", "kustomize.config.k8s.io/v1beta1");
const COMPONENT: (&str, &str) = ("Component", "kustomize.config.k8s.io/v1alpha1");

/// A kustomization file that was read, as far as it could be.
pub(crate) struct Read {
    pub(crate) kustomization: Kustomization,
    /// About fields of old.
    pub(crate) warnings: Vec<String>,
    /// The fields that cannot be read; they count as missing.
    pub(crate) mistakes: Vec<Mistake>,
}

impl Kustomization {
    /// Reads a kustomization file. What is none at all is an error, with the line where it is known.
    pub(crate) fn parse(text: &[u8], strictness: Strictness) -> Result<Read, (String, Option<usize>)> {
        let value = yaml::parse(text).map_err(|error| {
            let line = error.line();
            let hint = std::str::from_utf8(text).map_or("", |text| hint::about_line(text, line));
            let message = format!(
                "invalid Kustomization: error converting YAML to JSON: {}{hint}",
                error.without_values()
            );
            (message, Some(line))
        })?;
        let (mut kustomization, mut mistakes) = if value.is_null() {
            Default::default()
        } else {
            decode_all::<Kustomization>(&value, strictness)
        };
        if mistakes.is_empty() && says_nothing(&value) {
            return Err(("kustomization.yaml is empty".to_owned(), None));
        }
        mistakes.extend(booleans(text));
        let warnings = kustomization.warnings();
        kustomization.modernize();
        kustomization.check(&mut mistakes);
        Ok(Read {
            kustomization,
            warnings,
            mistakes,
        })
    }

    /// The field that is meant by what may be misspelt.
    pub(crate) fn meant(field: &str) -> Option<&'static str> {
        field_of(field, Self::KNOWN).or_else(|| misspelt::meant(field, Self::KNOWN))
    }

    pub(crate) fn is_component(&self) -> bool {
        self.kind == COMPONENT.0
    }

    fn warnings(&self) -> Vec<String> {
        const FIX: &str = "Run 'kustomize edit fix' to update your Kustomization automatically.";
        let old = [
            (self.bases.is_some(), "bases", "resources", ""),
            (self.common_labels.is_some(), "commonLabels", "labels", ""),
            (self.image_tags.is_some(), "imageTags", "images", ""),
            (self.patches_json6902.is_some(), "patchesJson6902", "patches", ""),
            (
                self.patches_strategic_merge.is_some(),
                "patchesStrategicMerge",
                "patches",
                "",
            ),
            (self.vars.is_some(), "vars", "replacements", "[EXPERIMENTAL] "),
        ];
        let told = old.into_iter().filter(|(used, ..)| *used);
        told.map(|(_, old, new, note)| {
            format!("# Warning: '{old}' is deprecated. Please use '{new}' instead. {note}{FIX}")
        })
        .collect()
    }

    /// Turns fields of old into those of today.
    fn modernize(&mut self) {
        if self.kind.is_empty() {
            self.kind = KUSTOMIZATION.0.to_owned();
        }
        if self.api_version.is_empty() {
            let (_, api_version) = if self.is_component() {
                COMPONENT
            } else {
                KUSTOMIZATION
            };
            self.api_version = api_version.to_owned();
        }
        self.resources.extend(self.bases.take().unwrap_or_default());
        self.images.extend(self.image_tags.take().unwrap_or_default());
        let generators = self.config_map_generator.iter_mut();
        for generator in generators.chain(&mut self.secret_generator) {
            if !generator.env.is_empty() {
                generator.envs.push(std::mem::take(&mut generator.env));
            }
        }
        let mut globals = HelmGlobals::default();
        for old in std::mem::take(&mut self.helm_chart_inflation_generator) {
            if !old.helm_home.is_empty() {
                globals.config_home.clone_from(&old.helm_home);
            }
            if !old.chart_home.is_empty() {
                globals.chart_home.clone_from(&old.chart_home);
            }
            self.helm_charts.push(HelmChart {
                name: old.chart_name,
                version: old.chart_version,
                repo: old.chart_repo_url,
                values_file: old.values,
                values_inline: old.values_local,
                values_merge: old.values_merge,
                release_name: old.release_name,
                ..HelmChart::default()
            });
        }
        if self.helm_globals.is_none() && globals != HelmGlobals::default() {
            self.helm_globals = Some(globals);
        }
    }

    /// Looks at what can be read, but must not be so. What could not be read counts as missing, and so is not complained of
    /// again.
    fn check(&self, mistakes: &mut Vec<Mistake>) {
        for (index, args) in self.config_map_generator.iter().enumerate() {
            if !args.secret_type.is_empty() {
                let steps = vec![key("configMapGenerator"), Step::Item(index), key("type")];
                mistakes.push(Mistake::new(steps, "json: unknown field \"type\"".to_owned()));
            }
        }
        if self.kind != KUSTOMIZATION.0 && self.kind != COMPONENT.0 {
            let message = format!("kind should be {} or {}", KUSTOMIZATION.0, COMPONENT.0);
            mistakes.push(Mistake::new(vec![key("kind")], message));
        }
        let (_, wanted) = if self.is_component() {
            COMPONENT
        } else {
            KUSTOMIZATION
        };
        if self.api_version != wanted {
            let message = format!("apiVersion for {} should be {wanted}", self.kind);
            mistakes.push(Mistake::new(vec![key("apiVersion")], message));
        }
    }
}

/// Keys that YAML takes for booleans: their names are lost, and kustomize cannot print what they stand in. Those of values for charts
/// are the exception.
fn booleans(text: &[u8]) -> impl Iterator<Item = Mistake> {
    let is_value = |step: &Step| *step == Step::Key("valuesInline".to_owned());
    let found = yaml::boolean_keys(text).into_iter();
    let found = found.filter(move |path| !path.iter().any(is_value));
    found.map(|path| {
        let key = path.last().map(|step| yaml::shown(std::slice::from_ref(step)));
        let key = key.unwrap_or_default();
        let message = format!("the key {key} is a boolean to YAML: put quotes around it");
        Mistake::new(path, message)
    })
}

/// Lists that are added to others, of which nothing is left when they are empty.
const MOVED: [&str; 3] = ["bases", "imageTags", "helmChartInflationGenerator"];

/// Whether nothing is set beside kind and version. A list that is there counts, even when it is empty, unless it is of old.
fn says_nothing(value: &model::Value) -> bool {
    let Some(map) = value.as_object() else {
        return true;
    };
    map.iter().all(|(key, value)| {
        let is = |field: &str| key.eq_ignore_ascii_case(field);
        let about_itself = is("kind") || is("apiVersion");
        let moves_nothing =
            || MOVED.into_iter().any(is) && value.as_array().is_some_and(|items| items.is_empty());
        about_itself || value.is_null() || value.as_str() == Some("") || moves_nothing()
    })
}
