//! Running transformers: those that fields stand for, in kustomize's order, and those that `transformers` names.

use std::rc::Rc;

use super::Accumulator;
use super::generators::plugin_origin;
use super::target::{Place, Target};
use crate::affix::{Affix, Side};
use crate::annotations::Annotations;
use crate::config::Patch as PatchConfig;
use crate::error::{Errors, all};
use crate::image::Images;
use crate::labels::Labels;
use crate::namespace::Namespace;
use crate::origin::Origin;
use crate::patch::{JsonPatches, Patch, Patches, StrategicPatches};
use crate::plugin;
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
    origin: Option<Rc<Origin>>,
}

impl Step {
    /// Notes on a resource that it was changed here, if that is to be told.
    fn mark(&self, resource: &mut Resource) {
        let Some(origin) = &self.origin else {
            return;
        };
        if resource.origin.is_none() {
            resource.origin = Some(Rc::clone(origin));
        } else {
            resource.transformations.push(Rc::clone(origin));
        }
    }
}

impl Target<'_> {
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
        let problems = step.transformer.transform_all(&mut accumulator.resources, schema);
        let errors = problems.into_iter().flat_map(|(entry, problem)| {
            let place = match step.place {
                ("patches", None) => ("patches", entry),
                place => place,
            };
            self.error(place, problem).0
        });
        Errors(errors.collect()).or(())?;
        for resource in accumulator.resources.contents_mut() {
            step.mark(resource);
        }
        accumulator.resources.drop_empties();
        Ok(())
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
        for resource in resources {
            for (step, change) in &mut changes {
                change(resource).map_err(|problem| self.error(step.place, problem))?;
                step.mark(resource);
            }
        }
        Ok(())
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

    /// Validators are transformers that may change nothing but one label.
    pub(super) fn run_validators(&self, accumulator: &mut Accumulator) -> Result<(), Errors> {
        let steps = self.plugin_steps("validators", &self.kustomization.validators)?;
        let schema = self.build.schema();
        for step in &steps {
            let before = accumulator.resources.clone();
            step.transformer
                .transform(&mut accumulator.resources, &schema)
                .map_err(|problem| self.error(step.place, problem))?;
            let unchanged = before
                .iter()
                .zip(accumulator.resources.iter())
                .all(|(before, after)| before.node == after.node);
            if before.len() != accumulator.resources.len() || !unchanged {
                let message = "validator shouldn't modify the resource map".to_owned();
                return Err(self.error(step.place, message));
            }
        }
        Ok(())
    }

    fn plugin_steps(&self, field: &'static str, entries: &[String]) -> Result<Vec<Step>, Errors> {
        let plugins = self.plugins(field, entries)?;
        all(plugins.iter().map(|plugin| {
            let place = (field, None);
            let transformer =
                plugin::transformer(plugin, self).map_err(|problem| self.error(place, problem))?;
            Ok(Step {
                transformer,
                place,
                origin: plugin_origin(plugin),
            })
        }))
    }

    fn builtin_steps(&self, specs: &Specs) -> Result<Vec<Step>, Errors> {
        let kustomization = &self.kustomization;
        let step = |field: &'static str, kind: &str, transformer: Box<dyn Transform>| Step {
            transformer,
            place: (field, None),
            origin: self
                .origin
                .as_ref()
                .map(|origin| Rc::new(origin.of_builtin(self.file, kind))),
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
        for replica in &kustomization.replicas {
            let transformer = Replicas::new(replica, &specs.replicas);
            steps.push(step("replicas", "ReplicaCountTransformer", Box::new(transformer)));
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
            origin: origin.map(|origin| Rc::new(origin.of_builtin(self.file, kind))),
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
        let load = |path: &str| self.loader.load_text(path);
        let read = entries.iter().enumerate().map(|(index, entry)| {
            StrategicPatches::read(entry, &load, &mut self.build.texts())
                .map_err(|problem| self.error(("patchesStrategicMerge", Some(index)), problem))
        });
        let patches = all(read)?.into_iter().flatten().collect();
        let patches =
            StrategicPatches::new(patches, entries).map_err(|problem| self.error(place, problem))?;
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
                &|path| self.loader.load_text(path),
                &mut self.build.texts(),
            )
            .map_err(|problem| self.error(place, problem))?;
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
        all(configs.enumerate().map(|(index, config)| {
            let place = ("patchesJson6902", Some(index));
            let patches = JsonPatches::load(config.target.as_ref(), &config.path, &config.patch, &|path| {
                self.loader.load_text(path)
            })
            .map_err(|problem| self.error(place, problem))?;
            Ok(self.step(place, "PatchJson6902Transformer", Box::new(patches)))
        }))
    }

    fn label_steps(&self, specs: &Specs) -> Result<Vec<Step>, Errors> {
        let common = self.kustomization.common_labels.clone().unwrap_or_default();
        let labels = &self.kustomization.labels;
        if labels.is_empty() && common.is_empty() {
            return Ok(Vec::new());
        }
        let mut steps = all(labels.iter().enumerate().map(|(index, label)| {
            let place = ("labels", Some(index));
            let labels = Labels::of_entry(label, specs).map_err(|problem| self.error(place, problem))?;
            Ok(self.step(place, "LabelTransformer", Box::new(labels)))
        }))?;
        let common = Labels::new(&common, &specs.common_labels);
        steps.push(self.step(("commonLabels", None), "LabelTransformer", Box::new(common)));
        Ok(steps)
    }

    fn image_steps(&self, specs: &Specs) -> Result<Vec<Step>, Errors> {
        let images = self.kustomization.images.iter().enumerate();
        all(images.map(|(index, image)| {
            let place = ("images", Some(index));
            let images = Images::new(image, &specs.images).map_err(|problem| self.error(place, problem))?;
            Ok(self.step(place, "ImageTagTransformer", Box::new(images)))
        }))
    }

    fn replacement_steps(&self) -> Result<Vec<Step>, Errors> {
        if self.kustomization.replacements.is_empty() {
            return Ok(Vec::new());
        }
        let place = ("replacements", None);
        let release = self.build.options.release;
        let load = |path: &str| self.loader.load(path);
        let entries = self.kustomization.replacements.iter().enumerate();
        let read = entries.map(|(index, entry)| {
            Replacements::read(entry, &load)
                .map_err(|problem| self.error(("replacements", Some(index)), problem))
        });
        let replacements = Replacements::new(all(read)?.into_iter().flatten().collect(), release);
        Ok(vec![self.step(
            place,
            "ReplacementTransformer",
            Box::new(replacements),
        )])
    }
}
