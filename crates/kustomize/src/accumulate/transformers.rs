//! Running transformers: those that fields stand for, in kustomize's order, and those that `transformers` names.

use std::rc::Rc;

use super::generators::plugin_origin;
use super::target::{Place, Target};
use super::{Accumulator, Spot};
use crate::affix::{Affix, Side};
use crate::annotations::Annotations;
use crate::config::Patch as PatchConfig;
use crate::error::Errors;
use crate::guard::Guarded;
use crate::image::{self, Images};
use crate::labels::Labels;
use crate::namespace::Namespace;
use crate::origin::Origin;
use crate::patch::{JsonPatches, Patch, Patches, StrategicPatches, TargetedJson};
use crate::plugin;
use crate::problem::Problem;
use crate::replacement::Replacements;
use crate::replicas::Replicas;
use crate::resource::Resource;
use crate::schema::Schema;
use crate::specs::Specs;
use crate::transform::{self, Transform};

/// A transformer that is ready to run.
pub(super) struct Step {
    transformer: Box<dyn Transform>,
    place: Place<'static>,
    /// Where it stands, if it is a plugin.
    spot: Option<Spot>,
    origin: Option<Rc<Origin>>,
}

impl Step {
    /// Notes on a resource that it was changed here, if that is to be told.
    fn mark(&self, resource: &mut Resource) {
        let Some(origin) = &self.origin else {
            return;
        };
        if resource.origin().is_none() {
            resource.set_origin(Some(origin));
        } else {
            resource.add_transformation(origin);
        }
    }
}

impl Target<'_, '_> {
    pub(super) fn run_transformers(&mut self, accumulator: &mut Accumulator) {
        let (steps, is_lost) = self.transformer_steps(accumulator);
        // The steps have all that is in them.
        self.kustomization.patches = Vec::new();
        let schema = self.build.schema();
        let mut steps = steps.into_iter().peekable();
        while let Some(step) = steps.next() {
            if step.transformer.each(&schema).is_none() {
                self.run_step(&step, accumulator, &schema);
                continue;
            }
            let mut together = vec![step];
            while let Some(step) = steps.next_if(|step| step.transformer.each(&schema).is_some()) {
                together.push(step);
            }
            self.run_together(&together, accumulator, &schema);
        }
        if is_lost {
            accumulator.lose_anything();
        }
    }

    fn run_step(&self, step: &Step, accumulator: &mut Accumulator, schema: &Schema) {
        if step.transformer.merges() && !accumulator.resources.is_empty() {
            self.build.see_merge();
        }
        let problems = step.transformer.transform_all(&mut accumulator.resources, schema);
        let problems = accumulator.certain(problems);
        accumulator.note(self.tell_step(step, problems));
        for resource in accumulator.resources.contents_mut() {
            step.mark(resource);
            resource.settle();
        }
        accumulator.resources.drop_empties();
    }

    fn tell_step(&self, step: &Step, problems: Vec<Problem>) -> Errors {
        let problems = self.with_places(problems);
        match step.spot {
            Some(spot) => self.tell_plugin(step.place, spot, problems),
            None => self.here.tell(step.place, problems),
        }
    }

    /// Runs transformers that change each resource by itself.
    fn run_together(&self, steps: &[Step], accumulator: &mut Accumulator, schema: &Schema) {
        let mut changes: Vec<_> = steps
            .iter()
            .filter_map(|step| Some((step, step.transformer.each(schema)?)))
            .collect();
        let resources = if steps.iter().all(|step| step.transformer.keeps_ids()) {
            accumulator.resources.contents_mut()
        } else {
            accumulator.resources.as_mut_slice()
        };
        let mut errors = Errors::default();
        for resource in resources {
            for (step, change) in &mut changes {
                if let Err(problem) = change(resource) {
                    let problem = resource.refuse(problem.into());
                    if !step.transformer.keeps_ids() {
                        resource.lose_name();
                    }
                    errors
                        .0
                        .extend(self.tell_step(step, problem.into_iter().collect()).0);
                    break;
                }
                step.mark(resource);
            }
            resource.settle();
        }
        accumulator.note(errors);
    }

    /// All transformers, ready to run, and whether one of those that `transformers` names is lost. What cannot be read is
    /// told.
    fn transformer_steps(&self, accumulator: &mut Accumulator) -> (Vec<Step>, bool) {
        let specs = accumulator.specs(self.build);
        let mut steps = self.builtin_steps(&specs, &mut accumulator.errors);
        let told = accumulator.errors.0.len();
        steps.extend(self.plugin_steps(
            "transformers",
            &self.kustomization.transformers,
            &mut accumulator.errors,
        ));
        let is_lost = accumulator.errors.0.len() > told || self.here.is_unread(("transformers", None));
        (steps, is_lost)
    }

    /// Validators are transformers that may change nothing but one label.
    pub(super) fn run_validators(&self, accumulator: &mut Accumulator) {
        let schema = self.build.schema();
        let validators = &self.kustomization.validators;
        for step in &self.plugin_steps("validators", validators, &mut accumulator.errors) {
            let before = accumulator.resources.clone();
            let mut problems = step
                .transformer
                .transform_all(&mut accumulator.resources, &schema);
            let unchanged = before
                .iter()
                .zip(accumulator.resources.iter())
                .all(|(before, after)| before.node == after.node);
            if problems.is_empty() && (before.len() != accumulator.resources.len() || !unchanged) {
                problems.push("validator shouldn't modify the resource map".to_owned().into());
            }
            if !problems.is_empty() {
                // The next one is to see what this one has seen.
                accumulator.resources = before;
            }
            let problems = accumulator.certain(problems);
            accumulator.note(self.tell_step(step, problems));
        }
    }

    fn plugin_steps(&self, field: &'static str, entries: &[String], errors: &mut Errors) -> Vec<Step> {
        let place = (field, None);
        let (plugins, wrong) = self.plugins(field, entries);
        let mut steps = self.lost_steps(place, !wrong.0.is_empty());
        errors.0.extend(wrong.0);
        for plugin in &plugins {
            let made = plugin::transformer(plugin, self)
                .map_err(|problems| self.tell_plugin(place, plugin.spot, problems));
            steps.push(Step {
                transformer: errors
                    .keep(made)
                    .unwrap_or_else(|| Box::new(transform::Lost::through(field))),
                place,
                spot: Some(plugin.spot),
                origin: plugin_origin(plugin),
            });
        }
        steps
    }

    /// What stands for a field that could not be read, or something in it.
    fn lost_steps(&self, place: Place<'static>, is_lost: bool) -> Vec<Step> {
        let is_lost = is_lost || self.here.is_unread(place);
        let lost = is_lost.then(|| self.step(place, "", Box::new(transform::Lost::through(place.0))));
        lost.into_iter().collect()
    }

    fn builtin_steps(&self, specs: &Specs, errors: &mut Errors) -> Vec<Step> {
        let kustomization = &self.kustomization;
        let step = |field: &'static str, kind: &str, transformer: Box<dyn Transform>| {
            self.step((field, None), kind, transformer)
        };
        let mut steps = self.strategic_steps(errors);
        steps.extend(self.patch_steps(&kustomization.patches, errors));
        if !kustomization.namespace.is_empty() {
            let transformer = Namespace::new(&kustomization.namespace, &specs.namespace);
            steps.push(step("namespace", "NamespaceTransformer", Box::new(transformer)));
        }
        if !kustomization.name_prefix.is_empty() {
            let transformer = Affix::new(Side::Prefix, &kustomization.name_prefix, &specs.name_prefix);
            steps.push(step("namePrefix", "PrefixTransformer", Box::new(transformer)));
        }
        if !kustomization.name_suffix.is_empty() {
            let transformer = Affix::new(Side::Suffix, &kustomization.name_suffix, &specs.name_suffix);
            steps.push(step("nameSuffix", "SuffixTransformer", Box::new(transformer)));
        }
        for field in ["namespace", "namePrefix", "nameSuffix"] {
            steps.extend(self.lost_steps((field, None), false));
        }
        steps.extend(self.label_steps(specs, errors));
        if !kustomization.common_annotations.is_empty() {
            let transformer = Annotations::new(&kustomization.common_annotations, &specs.common_annotations);
            steps.push(step(
                "commonAnnotations",
                "AnnotationsTransformer",
                Box::new(transformer),
            ));
        }
        steps.extend(self.lost_steps(("commonAnnotations", None), false));
        steps.extend(self.json_steps(errors));
        for replicas in self.together(kustomization.replicas.clone()) {
            let transformer = Box::new(Replicas::new(replicas, &specs.replicas));
            steps.push(self.step(("replicas", None), "ReplicaCountTransformer", transformer));
        }
        steps.extend(self.lost_steps(("replicas", None), false));
        steps.extend(self.image_steps(specs, errors));
        steps.extend(self.replacement_steps(errors));
        steps
    }

    fn step(&self, place: Place<'static>, kind: &str, transformer: Box<dyn Transform>) -> Step {
        let origin = self.origin.as_ref();
        Step {
            transformer,
            place,
            spot: None,
            origin: origin.map(|origin| Rc::new(origin.of_builtin(self.here.file, kind))),
        }
    }

    fn guard(&self) -> Guarded {
        Guarded(self.build.options.guard.clone())
    }

    fn strategic_steps(&self, errors: &mut Errors) -> Vec<Step> {
        let place = ("patchesStrategicMerge", None);
        let mut steps = self.lost_steps(place, false);
        let entries = self.kustomization.patches_strategic_merge.as_ref();
        if let Some(entries) = entries.filter(|entries| !entries.is_empty()) {
            let load = |path: &str| self.here.loader.load_text(path);
            let (patches, problems) = StrategicPatches::load(entries, "", &load, &mut self.build.texts());
            errors.0.extend(self.here.tell(place, problems).0);
            let patches = patches.guarded(self.guard());
            steps.push(self.step(place, "PatchStrategicMergeTransformer", Box::new(patches)));
        }
        steps
    }

    /// The patches; one after the other where each is to be told as an origin of changes, else all at once.
    fn patch_steps(&self, configs: &[PatchConfig], errors: &mut Errors) -> Vec<Step> {
        let read = configs.iter().enumerate().map(|(index, config)| {
            let place = ("patches", Some(index));
            let load = |path: &str| self.here.loader.load_text(path);
            let patch = Patch::load(config, &load, &mut self.build.texts())
                .map_err(|problems| self.here.tell(place, problems));
            let is_unread = self.here.is_unread(place);
            let patch = errors.keep(patch).filter(|_| !is_unread);
            let lost = || match is_unread {
                true => Patch::unread(),
                false => Patch::lost(config, &load),
            };
            (place, patch.unwrap_or_else(lost))
        });
        let patches: Vec<_> = read.collect();
        // A mistake of an entry makes one patch uncertain; that of the whole field makes all of them so.
        let is_lost = configs.is_empty() && self.here.is_unread(("patches", None));
        let mut steps = Vec::new();
        let guard = self.guard();
        if is_lost {
            steps.extend(self.lost_steps(("patches", None), true));
        }
        if self.origin.is_some() {
            let each = patches.into_iter().map(|(place, patch)| {
                let patches = Patches::new(vec![patch], guard.clone());
                self.step(place, "PatchTransformer", Box::new(patches))
            });
            steps.extend(each);
        } else if !patches.is_empty() {
            let patches = Patches::new(patches.into_iter().map(|(_, patch)| patch).collect(), guard);
            steps.push(self.step(("patches", None), "PatchTransformer", Box::new(patches)));
        }
        steps
    }

    fn json_steps(&self, errors: &mut Errors) -> Vec<Step> {
        let place = ("patchesJson6902", None);
        let configs = self.kustomization.patches_json6902.iter().flatten();
        let patches = configs.enumerate().map(|(index, config)| {
            let load = |path: &str| self.here.loader.load_text(path);
            let (patch, problems) =
                TargetedJson::load(config.target.as_ref(), &config.path, &config.patch, &load);
            errors
                .0
                .extend(self.here.tell(("patchesJson6902", Some(index)), problems).0);
            patch
        });
        let patches: Vec<_> = patches.collect();
        let mut steps = self.lost_steps(place, false);
        steps.extend(self.together(patches).into_iter().map(|patches| {
            let patches = JsonPatches::new(patches, self.guard());
            self.step(place, "PatchJson6902Transformer", Box::new(patches))
        }));
        steps
    }

    /// Entries that make one transformer; or one for each where each is to be told as an origin of changes.
    fn together<T>(&self, entries: Vec<T>) -> Vec<Vec<T>> {
        match self.origin {
            Some(_) => entries.into_iter().map(|entry| vec![entry]).collect(),
            None if entries.is_empty() => Vec::new(),
            None => vec![entries],
        }
    }

    fn label_steps(&self, specs: &Specs, errors: &mut Errors) -> Vec<Step> {
        let common = self.kustomization.common_labels.clone().unwrap_or_default();
        let labels = &self.kustomization.labels;
        let mut steps = self.lost_steps(("labels", None), false);
        steps.extend(self.lost_steps(("commonLabels", None), false));
        if labels.is_empty() && common.is_empty() {
            return steps;
        }
        for (index, label) in labels.iter().enumerate() {
            let place = ("labels", Some(index));
            let labels = Labels::of_entry(label, specs).map_err(|problem| self.here.error(place, problem));
            match errors.keep(labels) {
                Some(labels) => steps.push(self.step(place, "LabelTransformer", Box::new(labels))),
                None => steps.extend(self.lost_steps(place, true)),
            }
        }
        let common = Labels::new(&common, &specs.common_labels);
        steps.push(self.step(("commonLabels", None), "LabelTransformer", Box::new(common)));
        steps
    }

    fn image_steps(&self, specs: &Specs, errors: &mut Errors) -> Vec<Step> {
        let images = self.kustomization.images.iter().enumerate();
        let told = errors.0.len();
        let entries = images.filter_map(|(index, image)| {
            errors.keep(image::Entry::new(image).map_err(|problem| {
                self.here
                    .tell(("images", Some(index)), vec![Problem::of("name", problem)])
            }))
        });
        let entries: Vec<_> = entries.collect();
        let mut steps = self.lost_steps(("images", None), errors.0.len() > told);
        steps.extend(self.together(entries).into_iter().map(|entries| {
            // What is no image is none to the first entry already.
            let images = Box::new(Images::new(entries, &specs.images));
            self.step(("images", Some(0)), "ImageTagTransformer", images)
        }));
        steps
    }

    fn replacement_steps(&self, errors: &mut Errors) -> Vec<Step> {
        let place = ("replacements", None);
        let mut steps = self.lost_steps(place, false);
        if self.kustomization.replacements.is_empty() {
            return steps;
        }
        let release = self.build.options.release;
        let load = |path: &str| self.here.loader.load(path);
        let (replacements, problems) = Replacements::load(&self.kustomization.replacements, &load, release);
        steps.extend(self.lost_steps(place, !problems.is_empty()));
        errors.0.extend(self.here.tell(place, problems).0);
        steps.push(self.step(place, "ReplacementTransformer", Box::new(replacements)));
        steps
    }
}
