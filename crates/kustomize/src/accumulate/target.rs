//! One kustomization.

use std::rc::Rc;
use std::sync::Arc;

use super::here::Here;
use super::lost::Lost;
use super::{Accumulator, Build, Loader};
use crate::config::{FILE_NAMES, Kustomization, Read, Strictness};
use crate::error::{Error, Errors};
use crate::origin::Origin;
use crate::problem::{InText, Problem};
use crate::specs::{Specs, from_crds, from_value};
use crate::vars;

pub(super) use super::here::Place;

pub(super) struct Target<'b, 't> {
    pub(super) build: &'b Build<'t>,
    pub(super) here: Rc<Here<'t>>,
    pub(super) kustomization: Kustomization,
    /// Where its resources come from, if that is to be told.
    pub(super) origin: Option<Rc<Origin>>,
    /// The namespace that charts get from a kustomization above.
    pub(super) chart_namespace: String,
}

impl<'b, 't> Target<'b, 't> {
    /// Reads the kustomization at a place. Fields that cannot be read are told later, with all else that is wrong.
    pub(super) fn load(
        build: &'b Build<'t>,
        loader: Rc<Loader<'t>>,
        (file, text): (&'static str, Vec<u8>),
        parent: Option<Rc<Here<'t>>>,
    ) -> Result<Self, Errors> {
        let fail = |message: String, line: Option<usize>| {
            let file = loader.show(file);
            let mut chain = parent.as_ref().map_or_else(Vec::new, |parent| parent.chain());
            chain.push(file.clone());
            Errors::from(Error {
                line,
                ..Error::of_file(file, chain, message)
            })
        };
        build.visit().map_err(|message| fail(message, None))?;
        let strictness = if parent.is_none() && build.options.lenient_root {
            Strictness::Lax
        } else {
            Strictness::Strict
        };
        let Read {
            kustomization,
            warnings,
            mistakes,
        } = Kustomization::parse(&text, strictness).map_err(|(message, line)| fail(message, line))?;
        build.warn(warnings);
        let mut spots = build.spots.borrow_mut();
        let here = Rc::new(Here::new(loader, file, parent, spots.next(), mistakes));
        spots.enter(Rc::clone(&here));
        drop(spots);
        Ok(Target {
            build,
            here,
            kustomization,
            origin: None,
            chart_namespace: String::new(),
        })
    }

    /// The kustomization file of a place, and what is in it.
    pub(super) fn find(loader: &Loader<'t>) -> Result<(&'static str, Vec<u8>), String> {
        let mut found = FILE_NAMES
            .into_iter()
            .filter_map(|name| Some((name, loader.load(name).ok()?)));
        match (found.next(), found.next()) {
            (Some(found), None) => Ok(found),
            (Some(_), Some(_)) => Err(format!(
                "Found multiple kustomization files under: {}",
                loader.show("")
            )),
            (None, _) => Err(Self::why_none(loader)),
        }
    }

    /// Why a place has no kustomization file: one that cannot be read, or none at all.
    fn why_none(loader: &Loader<'t>) -> String {
        let mut there = FILE_NAMES.into_iter().filter(|name| loader.is_there(name));
        let unreadable = there.find_map(|name| loader.load(name).err());
        unreadable.unwrap_or_else(|| {
            let names = "'kustomization.yaml', 'kustomization.yml' or 'Kustomization'";
            format!("unable to find one of {names} in directory '{}'", loader.show(""))
        })
    }

    /// Takes the schema that this kustomization names.
    fn set_schema(&self) -> Result<(), Errors> {
        let openapi = &self.kustomization.openapi;
        if openapi.is_empty() {
            return Ok(());
        }
        let fail = |problem: Problem| self.here.tell(("openapi", None), vec![problem]);
        let document = match openapi.get("path") {
            Some(path) => {
                let loaded = self.here.loader.load(path);
                Some(loaded.map_err(|problem| fail(Problem::of("path", problem)))?)
            }
            None => None,
        };
        let version = openapi.get("version").map(String::as_str);
        self.build.set_schema(version, document.as_deref()).map_err(fail)
    }

    /// Adds all that this kustomization makes, and all that is wrong with it.
    pub(super) fn accumulate(&mut self, accumulator: Accumulator) -> Accumulator {
        let mut accumulator = self.accumulated(accumulator);
        accumulator.errors = std::mem::take(&mut accumulator.errors).distinct();
        accumulator
    }

    fn accumulated(&mut self, mut accumulator: Accumulator) -> Accumulator {
        accumulator.note(self.here.mistakes());
        accumulator.lost.add(self.here.lost());
        let mut is_complete = accumulator.keep(self.set_schema(), Lost::default()).is_some();
        let resources = self.kustomization.resources.iter().map(String::as_str);
        self.add_resources(&mut accumulator, "resources", resources.enumerate());
        let added = self.add_specs(&mut accumulator);
        is_complete &= accumulator.keep(added, Lost::default()).is_some();
        let generated = self.generate(&mut accumulator);
        self.absorb(&mut accumulator, generated);
        for (index, name) in self.kustomization.components.iter().enumerate() {
            let loaded = self.component(index, name);
            match accumulator.keep(loaded, Lost::OBJECTS) {
                Some(component) => accumulator = self.run_component(component, accumulator),
                None => {
                    accumulator.lose_anything();
                    is_complete = false;
                }
            }
        }
        if self.here.is_unread(("components", None)) {
            accumulator.lose_anything();
        }
        if !is_complete {
            accumulator.resources.lose_change();
        }
        self.run_transformers(&mut accumulator);
        self.run_validators(&mut accumulator);
        self.add_vars(&mut accumulator);
        accumulator
    }

    /// Lets a component add to what is there, and change it.
    fn run_component(&self, mut component: Target<'b, 't>, so_far: Accumulator) -> Accumulator {
        let mut accumulator = component.accumulate(so_far);
        // It may have renamed something.
        let clashes = accumulator.resources.check_ids(&self.build.schema());
        let there = component.here.loader.show("");
        let told = clashes.into_iter().map(|clash| {
            let problem = clash.into_problem();
            problem.after(&format!("recursed merging from path '{there}': "))
        });
        let told = self.with_places(accumulator.certain(told.collect()));
        accumulator.note(self.here.tell(("components", None), told));
        accumulator
    }

    fn add_vars(&self, accumulator: &mut Accumulator) {
        let Some(vars) = &self.kustomization.vars else {
            return;
        };
        let schema = self.build.schema();
        let marked = vars::mark(vars, &mut accumulator.resources, &schema);
        let added = accumulator.vars.add(vars.iter().cloned());
        let problems = [marked, added].into_iter().filter_map(Result::err).flatten();
        let told = accumulator.certain(problems.map(|problem| problem.after("merging vars: ")).collect());
        accumulator.note(self.here.tell(("vars", None), told));
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
        let mut errors = Errors::default();
        for (field, names) in lists {
            for (index, name) in names.iter().enumerate() {
                let merged = self.read_specs(field, name).and_then(|more| {
                    let merged = Arc::make_mut(&mut specs).merge(&more);
                    merged.map_err(|conflict| vec![conflict.into_problem()])
                });
                errors.keep(merged.map_err(|problems| self.here.tell((field, Some(index)), problems)));
            }
        }
        errors.or(())?;
        let fail = |problem: String| self.here.error(("configurations", None), problem);
        if !Arc::ptr_eq(&specs, builtin) {
            // Once more from the start: what is about single kinds then takes the place of what is about all of them.
            let mut merged = Specs::default();
            merged
                .merge(&specs)
                .map_err(|conflict| fail(conflict.to_string()))?;
            specs = Arc::new(merged);
        }
        accumulator.merge_specs(&specs, self.build).map_err(fail)
    }

    /// The field specs of a file of `configurations` or `crds`.
    fn read_specs(&self, field: &str, name: &str) -> Result<Specs, Vec<Problem>> {
        let content = self
            .here
            .loader
            .load(name)
            .map_err(|problem| vec![problem.into()])?;
        let value = yaml::parse(&content).map_err(|error| {
            vec![Problem::in_text(
                InText::Line(error.line()),
                error.without_values(),
            )]
        })?;
        if field == "crds" {
            return from_crds(&value)
                .map_err(|problem| vec![Problem::in_text(InText::Field(Vec::new()), problem)]);
        }
        from_value(&value).map_err(|mistakes| {
            let problems = mistakes
                .into_iter()
                .map(|mistake| Problem::in_text(InText::Field(mistake.steps), mistake.message));
            problems.collect()
        })
    }
}
