//! What a kustomization names: files with resources, bases and components.

use std::rc::Rc;

use super::encoding::{self, NoText};
use super::here::Here;
use super::lost::Lost;
use super::target::{Place, Target};
use super::{Accumulator, Loader};
use crate::error::{Error, Errors};
use crate::resmap::ResMap;
use crate::resource::{Malformed, Parsed, from_text};

impl<'b, 't> Target<'b, 't> {
    /// Adds files and bases; all that fail are told.
    pub(super) fn add_resources<'n>(
        &self,
        accumulator: &mut Accumulator,
        field: &'static str,
        names: impl Iterator<Item = (usize, &'n str)>,
    ) {
        for (index, name) in names {
            let added = self.add_resource(accumulator, (field, Some(index)), name);
            accumulator.keep(added, Lost::OBJECTS);
        }
    }

    fn add_resource(
        &self,
        accumulator: &mut Accumulator,
        place: Place<'_>,
        name: &str,
    ) -> Result<(), Errors> {
        let not_a_file = match self.here.loader.load(name) {
            Ok(content) => {
                let parsed = encoding::text(content)
                    .map_err(|NoText { line, message }| {
                        Malformed::new(line, format!("MalformedYAMLError: {message}"))
                    })
                    .and_then(|text| from_text(&text, &mut self.build.texts()));
                let parsed = parsed.unwrap_or_else(|mut malformed| {
                    let good = std::mem::take(&mut malformed.good);
                    accumulator.keep::<()>(Err(self.malformed(name, &malformed)), Lost::OBJECTS);
                    good
                });
                self.add_parsed(accumulator, place, name, parsed);
                return Ok(());
            }
            Err(problem) => problem,
        };
        let inner = match self.here.loader.enter(name) {
            Ok(inner) => inner,
            Err(problem) => {
                let message =
                    format!("accumulating resources from '{name}': {not_a_file}; as a directory: {problem}");
                return Err(self.here.error(place, message));
            }
        };
        let found = Target::find(&inner).map_err(|problem| {
            self.here
                .error(place, format!("accumulating resources from '{name}': {problem}"))
        })?;
        let mut base = self.sub_target(inner, found, name)?;
        if base.kustomization.is_component() {
            let message = format!(
                "expected kind != 'Component' for path '{}'",
                base.here.loader.show("")
            );
            return Err(self.here.error(place, message));
        }
        let accumulated = base.accumulate(Accumulator::new());
        self.merge(accumulator, accumulated, place, &base.here);
        Ok(())
    }

    /// Adds what another kustomization accumulated.
    fn merge(&self, accumulator: &mut Accumulator, other: Accumulator, place: Place<'_>, there: &Here<'_>) {
        let schema = self.build.schema();
        accumulator.note(other.errors);
        accumulator.lost.add(other.lost);
        let clashes = accumulator.resources.append_all(other.resources, &schema);
        self.tell_clashes(accumulator, place, clashes);
        let specs = other
            .specs
            .map(|specs| accumulator.merge_specs(&specs, self.build));
        let wrong = specs.and_then(Result::err).into_iter();
        for problem in wrong.chain(accumulator.vars.add_all(other.vars)) {
            let there = there.loader.show("");
            let message = format!("recursed merging from path '{there}': {problem}");
            accumulator.note(self.here.error(place, message));
        }
    }

    fn malformed(&self, name: &str, malformed: &Malformed) -> Errors {
        let all = std::iter::once(malformed).chain(&malformed.more);
        let told = all.map(|malformed| Error {
            line: Some(malformed.line),
            ..Error::of_file(
                self.here.loader.show(name),
                self.here.chain(),
                malformed.message.clone(),
            )
        });
        Errors(told.collect())
    }

    fn add_parsed(&self, accumulator: &mut Accumulator, place: Place<'_>, name: &str, parsed: Vec<Parsed>) {
        let origin = self.origin.as_ref().map(|origin| Rc::new(origin.append(name)));
        let schema = self.build.schema();
        let mut resources = ResMap::new();
        let spot = self.build.spots.borrow_mut().add(&self.here, place);
        let numbered = parsed.into_iter().enumerate();
        let parsed = numbered.map(|(number, Parsed { mut resource, place })| {
            resource.spot = spot.at(&place, number);
            resource.set_origin(origin.as_ref());
            self.build.see(&resource);
            resource
        });
        let mut clashes = resources.append_each(parsed, &schema);
        clashes.extend(accumulator.resources.append_all(resources, &schema));
        self.tell_clashes(accumulator, place, clashes);
    }

    /// The kustomization in another directory, with what this one hands down.
    fn sub_target(
        &self,
        loader: Loader<'t>,
        found: (&'static str, Vec<u8>),
        name: &str,
    ) -> Result<Target<'b, 't>, Errors> {
        let mut target = Target::load(self.build, Rc::new(loader), found, Some(Rc::clone(&self.here)))?;
        target.origin = self.origin.as_ref().map(|origin| Rc::new(origin.append(name)));
        let own = &self.kustomization.namespace;
        target.chart_namespace.clone_from(if own.is_empty() {
            &self.chart_namespace
        } else {
            own
        });
        Ok(target)
    }

    /// A component, which will run on what is there.
    pub(super) fn component(&self, index: usize, name: &str) -> Result<Target<'b, 't>, Errors> {
        let place = ("components", Some(index));
        let inner = self.here.loader.enter(name).map_err(|problem| {
            self.here
                .error(place, format!("accumulating components: {problem}"))
        })?;
        let found = Target::find(&inner).map_err(|problem| {
            self.here
                .error(place, format!("accumulating components: {problem}"))
        })?;
        let component = self.sub_target(inner, found, name)?;
        if !component.kustomization.is_component() {
            let message = format!(
                "expected kind 'Component' for path '{}' but got '{}'",
                component.here.loader.show(""),
                component.kustomization.kind
            );
            return Err(self.here.error(place, message));
        }
        Ok(component)
    }
}
