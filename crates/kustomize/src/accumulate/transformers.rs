//! Running transformers: those that fields stand for, in kustomize's order, and those that `transformers` names.

use std::rc::Rc;

use super::generators::plugin_origin;
use super::target::{Place, Target};
use super::{Accumulator, Spot};
use crate::affix::{Affix, Side};
use crate::annotations::Annotations;
use crate::config::Patch as PatchConfig;
use crate::error::{Errors, all};
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
use crate::transform::Transform;

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
    pub(super) fn run_transformers(&mut self, accumulator: &mut Accumulator) -> Result<(), Errors> {
        let steps = self.transformer_steps(accumulator)?;
        // The steps have all that is in them.
        self.kustomization.patches = Vec::new();
        let schema = self.build.schema();
        let mut steps = steps.into_iter().peekable();
        while let Some(step) = steps.next() {
            if step.transformer.each(&schema).is_none() {
                self.run_step(&step, accumulator, &schema)?;
                continue;
            }
            let mut together = vec![step];
            while let Some(step) = steps.next_if(|step| step.transformer.each(&schema).is_some()) {
                together.push(step);
            }
            self.run_together(&together, accumulator, &schema)?;
        }
        Ok(())
    }

    fn run_step(&self, step: &Step, accumulator: &mut Accumulator, schema: &Schema) -> Result<(), Errors> {
        if step.transformer.merges() && !accumulator.resources.is_empty() {
            self.build.see_merge();
        }
        let problems = step.transformer.transform_all(&mut accumulator.resources, schema);
        self.tell_step(step, problems).or(())?;
        for resource in accumulator.resources.contents_mut() {
            step.mark(resource);
        }
        accumulator.resources.drop_empties();
        Ok(())
    }

    fn tell_step(&self, step: &Step, problems: Vec<Problem>) -> Errors {
        match step.spot {
            Some(spot) => self.tell_plugin(step.place, spot, problems),
            None => self.here.tell(step.place, problems),
        }
    }

    /// Runs transformers that change each resource by itself.
    fn run_together(
        &self,
        steps: &[Step],
        accumulator: &mut Accumulator,
        schema: &Schema,
    ) -> Result<(), Errors> {
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
                    errors.0.extend(self.tell_step(step, vec![problem.into()]).0);
                    break;
                }
                step.mark(resource);
            }
        }
        errors.or(())
    }

    /// All transformers, ready to run.
    pub(super) fn transformer_steps(&self, accumulator: &Accumulator) -> Result<Vec<Step>, Errors> {
        let specs = accumulator.specs(self.build);
        let [steps, plugins] = [
            self.builtin_steps(&specs),
            self.plugin_steps("transformers", &self.kustomization.transformers),
        ];
        Ok(all([steps, plugins])?.into_iter().flatten().collect())
    }

    /// All validators, ready to run.
    pub(super) fn validator_steps(&self) -> Result<Vec<Step>, Errors> {
        self.plugin_steps("validators", &self.kustomization.validators)
    }

    /// Validators are transformers that may change nothing but one label.
    pub(super) fn run_validators(&self, accumulator: &mut Accumulator) -> Result<(), Errors> {
        let schema = self.build.schema();
        let mut errors = Errors::default();
        for step in &self.validator_steps()? {
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
            errors.0.extend(self.tell_step(step, problems).0);
        }
        errors.or(())
    }

    fn plugin_steps(&self, field: &'static str, entries: &[String]) -> Result<Vec<Step>, Errors> {
        let plugins = self.plugins(field, entries)?;
        all(plugins.iter().map(|plugin| {
            let place = (field, None);
            let transformer = plugin::transformer(plugin, self)
                .map_err(|problems| self.tell_plugin(place, plugin.spot, problems))?;
            Ok(Step {
                transformer,
                place,
                spot: Some(plugin.spot),
                origin: plugin_origin(plugin),
            })
        }))
    }

    fn builtin_steps(&self, specs: &Specs) -> Result<Vec<Step>, Errors> {
        let kustomization = &self.kustomization;
        let step = |field: &'static str, kind: &str, transformer: Box<dyn Transform>| {
            self.step((field, None), kind, transformer)
        };
        let mut steps = Vec::new();
        let lists = all([
            self.strategic_steps(),
            self.patch_steps(&kustomization.patches),
            self.json_steps(),
            self.label_steps(specs),
            self.image_steps(specs),
            self.replacement_steps(),
        ])?;
        let [strategic, patches, json, labels, images, replacements] =
            <[_; 6]>::try_from(lists).unwrap_or_default();
        steps.extend(strategic);
        steps.extend(patches);
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
        steps.extend(labels);
        if !kustomization.common_annotations.is_empty() {
            let transformer = Annotations::new(&kustomization.common_annotations, &specs.common_annotations);
            steps.push(step(
                "commonAnnotations",
                "AnnotationsTransformer",
                Box::new(transformer),
            ));
        }
        steps.extend(json);
        for replicas in self.together(kustomization.replicas.clone()) {
            let transformer = Box::new(Replicas::new(replicas, &specs.replicas));
            steps.push(self.step(("replicas", None), "ReplicaCountTransformer", transformer));
        }
        steps.extend(images);
        steps.extend(replacements);
        Ok(steps)
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

    fn strategic_steps(&self) -> Result<Vec<Step>, Errors> {
        let Some(entries) = self
            .kustomization
            .patches_strategic_merge
            .as_ref()
            .filter(|entries| !entries.is_empty())
        else {
            return Ok(Vec::new());
        };
        let place = ("patchesStrategicMerge", None);
        let load = |path: &str| self.here.loader.load_text(path);
        let patches = StrategicPatches::load(entries, "", &load, &mut self.build.texts())
            .map_err(|problems| self.here.tell(place, problems))?;
        Ok(vec![self.step(
            place,
            "PatchStrategicMergeTransformer",
            Box::new(patches),
        )])
    }

    /// The patches; one after the other where each is to be told as an origin of changes, else all at once.
    fn patch_steps(&self, configs: &[PatchConfig]) -> Result<Vec<Step>, Errors> {
        let patches = all(configs.iter().enumerate().map(|(index, config)| {
            let place = ("patches", Some(index));
            let patch = Patch::load(
                config,
                &|path| self.here.loader.load_text(path),
                &mut self.build.texts(),
            )
            .map_err(|problems| self.here.tell(place, problems))?;
            Ok((place, patch))
        }))?;
        if self.origin.is_none() {
            if patches.is_empty() {
                return Ok(Vec::new());
            }
            let patches = Patches(patches.into_iter().map(|(_, patch)| patch).collect());
            return Ok(vec![self.step(
                ("patches", None),
                "PatchTransformer",
                Box::new(patches),
            )]);
        }
        let steps = patches
            .into_iter()
            .map(|(place, patch)| self.step(place, "PatchTransformer", Box::new(Patches(vec![patch]))));
        Ok(steps.collect())
    }

    fn json_steps(&self) -> Result<Vec<Step>, Errors> {
        let configs = self.kustomization.patches_json6902.iter().flatten();
        let patches = all(configs.enumerate().map(|(index, config)| {
            TargetedJson::load(config.target.as_ref(), &config.path, &config.patch, &|path| {
                self.here.loader.load_text(path)
            })
            .map_err(|problems| self.here.tell(("patchesJson6902", Some(index)), problems))
        }))?;
        let steps = self.together(patches).into_iter().map(|patches| {
            let place = ("patchesJson6902", None);
            self.step(place, "PatchJson6902Transformer", Box::new(JsonPatches(patches)))
        });
        Ok(steps.collect())
    }

    /// Entries that make one transformer; or one for each where each is to be told as an origin of changes.
    fn together<T>(&self, entries: Vec<T>) -> Vec<Vec<T>> {
        match self.origin {
            Some(_) => entries.into_iter().map(|entry| vec![entry]).collect(),
            None if entries.is_empty() => Vec::new(),
            None => vec![entries],
        }
    }

    fn label_steps(&self, specs: &Specs) -> Result<Vec<Step>, Errors> {
        let common = self.kustomization.common_labels.clone().unwrap_or_default();
        let labels = &self.kustomization.labels;
        if labels.is_empty() && common.is_empty() {
            return Ok(Vec::new());
        }
        let mut steps = all(labels.iter().enumerate().map(|(index, label)| {
            let place = ("labels", Some(index));
            let labels = Labels::of_entry(label, specs).map_err(|problem| self.here.error(place, problem))?;
            Ok(self.step(place, "LabelTransformer", Box::new(labels)))
        }))?;
        let common = Labels::new(&common, &specs.common_labels);
        steps.push(self.step(("commonLabels", None), "LabelTransformer", Box::new(common)));
        Ok(steps)
    }

    fn image_steps(&self, specs: &Specs) -> Result<Vec<Step>, Errors> {
        let images = self.kustomization.images.iter().enumerate();
        let entries = all(images.map(|(index, image)| {
            image::Entry::new(image).map_err(|problem| {
                self.here
                    .tell(("images", Some(index)), vec![Problem::of("name", problem)])
            })
        }))?;
        let steps = self.together(entries).into_iter().map(|entries| {
            // What is no image is none to the first entry already.
            let images = Box::new(Images::new(entries, &specs.images));
            self.step(("images", Some(0)), "ImageTagTransformer", images)
        });
        Ok(steps.collect())
    }

    fn replacement_steps(&self) -> Result<Vec<Step>, Errors> {
        if self.kustomization.replacements.is_empty() {
            return Ok(Vec::new());
        }
        let place = ("replacements", None);
        let release = self.build.options.release;
        let load = |path: &str| self.here.loader.load(path);
        let replacements = Replacements::load(&self.kustomization.replacements, &load, release)
            .map_err(|problems| self.here.tell(place, problems))?;
        Ok(vec![self.step(
            place,
            "ReplacementTransformer",
            Box::new(replacements),
        )])
    }
}
