//! One kustomization.

use std::rc::Rc;
use std::sync::Arc;

use super::{Accumulator, Build, Loader};
use crate::config::{FILE_NAMES, Kustomization, Strictness};
use crate::error::{Error, Errors, all};
use crate::origin::Origin;
use crate::resmap::ResMap;
use crate::resource::{Malformed, Parsed, from_text};
use crate::specs::{Specs, from_crds, from_value};
use crate::vars;

pub(super) struct Target<'b> {
    pub(super) build: &'b Build<'b>,
    pub(super) loader: Rc<Loader<'b>>,
    pub(super) kustomization: Kustomization,
    /// The name of its file.
    pub(super) file: &'static str,
    /// The files of the kustomizations that led here and its own.
    pub(super) chain: Vec<String>,
    /// Where its resources come from, if that is to be told.
    pub(super) origin: Option<Rc<Origin>>,
    /// The namespace that charts get from a kustomization above.
    pub(super) chart_namespace: String,
}

/// Where in a kustomization file something is wrong: a field and the number of an entry.
pub(super) type Place<'p> = (&'p str, Option<usize>);

impl<'b> Target<'b> {
    /// Reads the kustomization at a place.
    pub(super) fn load(
        build: &'b Build<'b>,
        loader: Rc<Loader<'b>>,
        mut chain: Vec<String>,
    ) -> Result<Self, Errors> {
        let fail = |file: String, line: Option<usize>, chain: &[String], message: String| {
            Errors::from(Error {
                file,
                line,
                chain: chain.to_vec(),
                message,
            })
        };
        let mut found = FILE_NAMES
            .into_iter()
            .filter_map(|name| Some((name, loader.load(name).ok()?)));
        let (first, more) = (found.next(), found.next().is_some());
        let here = loader.show("");
        let Some((file, text)) = first else {
            let names = "'kustomization.yaml', 'kustomization.yml' or 'Kustomization'";
            let message = format!("unable to find one of {names} in directory '{here}'");
            return Err(fail(here, None, &chain, message));
        };
        if more {
            let message = format!("Found multiple kustomization files under: {here}");
            return Err(fail(here, None, &chain, message));
        }
        chain.push(loader.show(file));
        build
            .visit()
            .map_err(|message| fail(loader.show(file), None, &chain, message))?;
        let strictness = if chain.len() == 1 && build.options.lenient_root {
            Strictness::Coerce
        } else {
            Strictness::Strict
        };
        let (kustomization, warnings) = Kustomization::parse(&text, strictness).map_err(|problems| {
            let told = problems
                .into_iter()
                .flat_map(|(message, line)| fail(loader.show(file), line, &chain, message).0);
            Errors(told.collect())
        })?;
        build.warn(warnings);
        Ok(Target {
            build,
            loader,
            kustomization,
            file,
            chain,
            origin: None,
            chart_namespace: String::new(),
        })
    }

    /// An error about a place in the kustomization file.
    pub(super) fn error(&self, place: Place<'_>, message: String) -> Errors {
        let (field, entry) = place;
        let mut path = Vec::new();
        if !field.is_empty() {
            path.push(yaml::Step::Key(field.to_owned()));
        }
        path.extend(entry.map(yaml::Step::Item));
        let line = if path.is_empty() {
            None
        } else {
            // Mistakes are rare: the file is read again rather than kept.
            self.loader
                .load(self.file)
                .ok()
                .and_then(|text| yaml::locate(&text, 0, &path))
        };
        Errors::from(Error {
            file: self.loader.show(self.file),
            line,
            chain: self.chain.clone(),
            message,
        })
    }

    /// Takes the schema that this kustomization names.
    pub(super) fn set_schema(&self, is_root: bool) -> Result<(), Errors> {
        let openapi = &self.kustomization.openapi;
        if openapi.is_empty() {
            return Ok(());
        }
        let fail = |message| self.error(("openapi", None), message);
        let document = match openapi.get("path") {
            Some(path) => Some(self.loader.load(path).map_err(fail)?),
            None => None,
        };
        let version = openapi.get("version").map(String::as_str);
        self.build
            .set_schema(version, document.as_deref(), is_root)
            .map_err(fail)
    }

    /// Adds all that this kustomization makes.
    pub(super) fn accumulate(&mut self, mut accumulator: Accumulator) -> Result<Accumulator, Errors> {
        let mut errors = Errors(Vec::new());
        let resources = &self.kustomization.resources;
        errors.keep(self.add_resources(&mut accumulator, "resources", resources));
        errors.keep(self.add_specs(&mut accumulator));
        let generated = errors.keep(self.generate());
        let components = errors.keep(self.components());
        if !errors.0.is_empty() {
            // Whether patches and the like can be read at all does not depend on what there is to be changed.
            errors.keep(self.transformer_steps(&accumulator));
        }
        errors.or(())?;
        self.absorb(&mut accumulator, generated.unwrap_or_default())?;
        for mut component in components.into_iter().flatten() {
            component.set_schema(false)?;
            accumulator = component.accumulate(accumulator)?;
        }
        self.run_transformers(&mut accumulator)?;
        self.run_validators(&mut accumulator)?;
        if let Some(vars) = &self.kustomization.vars {
            let schema = self.build.schema();
            vars::mark(vars, &mut accumulator.resources, &schema)
                .and_then(|()| accumulator.vars.add(vars.iter().cloned()))
                .map_err(|message| self.error(("vars", None), format!("merging vars: {message}")))?;
        }
        Ok(accumulator)
    }

    /// Forgets what is of no use once all is accumulated.
    pub(super) fn forget(&mut self) {
        let kustomization = std::mem::take(&mut self.kustomization);
        self.kustomization = Kustomization {
            sort_options: kustomization.sort_options,
            build_metadata: kustomization.build_metadata,
            ..Kustomization::default()
        };
    }

    /// Adds the field specs of `configurations` and `crds` to the built-in ones.
    fn add_specs(&self, accumulator: &mut Accumulator) -> Result<(), Errors> {
        let kustomization = &self.kustomization;
        let builtin = &self.build.options.specs;
        let mut specs = Arc::clone(builtin);
        let lists = [
            ("configurations", &kustomization.configurations),
            ("crds", &kustomization.crds),
        ];
        let mut errors = Errors(Vec::new());
        for (field, names) in lists {
            for (index, name) in names.iter().enumerate() {
                let merged = self
                    .read_specs(field, name)
                    .and_then(|more| Arc::make_mut(&mut specs).merge(&more));
                errors.keep(merged.map_err(|message| self.error((field, Some(index)), message)));
            }
        }
        errors.or(())?;
        if !Arc::ptr_eq(&specs, builtin) {
            // Once more from the start: what is about single kinds then takes the place of what is about all of them.
            let mut merged = Specs::default();
            merged
                .merge(&specs)
                .map_err(|message| self.error(("configurations", None), message))?;
            specs = Arc::new(merged);
        }
        accumulator
            .merge_specs(&specs, self.build)
            .map_err(|message| self.error(("configurations", None), message))
    }

    /// The field specs of a file of `configurations` or `crds`.
    fn read_specs(&self, field: &str, name: &str) -> Result<Specs, String> {
        let content = self.loader.load(name)?;
        let value = yaml::parse(&content).map_err(|error| format!("{name}: {error}"))?;
        let read = if field == "crds" {
            from_crds(&value)
        } else {
            from_value(&value)
        };
        read.map_err(|problem| format!("{name}: {problem}"))
    }

    /// Adds files and bases; all that fail are told.
    pub(super) fn add_resources(
        &self,
        accumulator: &mut Accumulator,
        field: &str,
        names: &[String],
    ) -> Result<(), Errors> {
        let added = names
            .iter()
            .enumerate()
            .map(|(index, name)| self.add_resource(accumulator, (field, Some(index)), name));
        all(added).map(|_| ())
    }

    fn add_resource(
        &self,
        accumulator: &mut Accumulator,
        place: Place<'_>,
        name: &str,
    ) -> Result<(), Errors> {
        let not_a_file = match self.loader.load_text(name) {
            Ok(text) => {
                let parsed = from_text(&text, &mut self.build.texts());
                drop(text);
                return match parsed {
                    Ok(parsed) => self.add_parsed(accumulator, place, name, parsed),
                    Err(malformed) => Err(self.malformed(name, &malformed)),
                };
            }
            Err(problem) => problem,
        };
        let inner = match self.loader.enter(name) {
            Ok(inner) => inner,
            Err(problem) => {
                let message =
                    format!("accumulating resources from '{name}': {not_a_file}; as a directory: {problem}");
                return Err(self.error(place, message));
            }
        };
        let mut base = self.sub_target(inner, name)?;
        base.set_schema(false)?;
        if base.kustomization.is_component() {
            let message = format!("expected kind != 'Component' for path '{}'", base.loader.show(""));
            return Err(self.error(place, message));
        }
        let accumulated = base.accumulate(Accumulator::new())?;
        let schema = self.build.schema();
        accumulator
            .merge(accumulated, &schema, self.build)
            .map_err(|problem| {
                let here = base.loader.show("");
                self.error(place, format!("recursed merging from path '{here}': {problem}"))
            })
    }

    fn malformed(&self, name: &str, malformed: &Malformed) -> Errors {
        let all = std::iter::once(malformed).chain(&malformed.more);
        let told = all.map(|malformed| Error {
            file: self.loader.show(name),
            line: Some(malformed.line),
            chain: self.chain.clone(),
            message: malformed.message.clone(),
        });
        Errors(told.collect())
    }

    fn add_parsed(
        &self,
        accumulator: &mut Accumulator,
        place: Place<'_>,
        name: &str,
        parsed: Vec<Parsed>,
    ) -> Result<(), Errors> {
        let origin = self.origin.as_ref().map(|origin| Rc::new(origin.append(name)));
        let schema = self.build.schema();
        let mut resources = ResMap::new();
        let mut errors = Errors(Vec::new());
        for Parsed { mut resource, line } in parsed {
            resource.origin.clone_from(&origin);
            errors.keep(resources.append(resource, &schema).map_err(|message| {
                Errors::from(Error {
                    file: self.loader.show(name),
                    line: Some(line),
                    chain: self.chain.clone(),
                    message,
                })
            }));
        }
        errors.or(())?;
        accumulator
            .resources
            .append_all(resources, &schema)
            .map_err(|problem| self.error(place, format!("merging resources from '{name}': {problem}")))
    }

    /// The kustomization in another directory, with what this one hands down.
    fn sub_target(&self, loader: Loader<'b>, name: &str) -> Result<Target<'b>, Errors> {
        let mut target = Target::load(self.build, Rc::new(loader), self.chain.clone())?;
        target.origin = self.origin.as_ref().map(|origin| Rc::new(origin.append(name)));
        let own = &self.kustomization.namespace;
        target.chart_namespace.clone_from(if own.is_empty() {
            &self.chart_namespace
        } else {
            own
        });
        Ok(target)
    }

    /// The components, which run on what is there, one after the other.
    fn components(&self) -> Result<Vec<Target<'b>>, Errors> {
        let names = self.kustomization.components.iter().enumerate();
        all(names.map(|(index, name)| self.component(index, name)))
    }

    fn component(&self, index: usize, name: &str) -> Result<Target<'b>, Errors> {
        let place = ("components", Some(index));
        let inner = self
            .loader
            .enter(name)
            .map_err(|problem| self.error(place, format!("accumulating components: {problem}")))?;
        let component = self.sub_target(inner, name)?;
        if !component.kustomization.is_component() {
            let message = format!(
                "expected kind 'Component' for path '{}' but got '{}'",
                component.loader.show(""),
                component.kustomization.kind
            );
            return Err(self.error(place, message));
        }
        Ok(component)
    }
}
