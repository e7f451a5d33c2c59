//! What a kustomization names: files with resources, bases and components.

use std::rc::Rc;

use super::encoding::{self, NoText};
use super::target::{Place, Target};
use super::{Accumulator, Loader};
use crate::error::{Error, Errors, all};
use crate::resmap::ResMap;
use crate::resource::{Malformed, Parsed, from_text};

impl<'b, 't> Target<'b, 't> {
    /// Adds files and bases; all that fail are told.
    pub(super) fn add_resources<'n>(
        &self,
        accumulator: &mut Accumulator,
        field: &'static str,
        names: impl Iterator<Item = (usize, &'n str)>,
    ) -> Result<(), Errors> {
        let added = names.map(|(index, name)| self.add_resource(accumulator, (field, Some(index)), name));
        all(added).map(|_| ())
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
                return match parsed {
                    Ok(parsed) => self.add_parsed(accumulator, place, name, parsed),
                    Err(malformed) => Err(self.malformed(name, &malformed)),
                };
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
        let accumulated = base.accumulate(Accumulator::new())?;
        let schema = self.build.schema();
        accumulator
            .merge(accumulated, &schema, self.build)
            .map_err(|problem| {
                let here = base.here.loader.show("");
                self.here
                    .error(place, format!("recursed merging from path '{here}': {problem}"))
            })
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
        let mut errors = Errors::default();
        let spot = self.build.spots.borrow_mut().add(&self.here, place);
        for Parsed { mut resource, line } in parsed {
            resource.spot = spot.at_line(line);
            resource.set_origin(origin.as_ref());
            self.build.see(&resource);
            errors.keep(resources.append(resource, &schema).map_err(|message| {
                Errors::from(Error {
                    line: Some(line),
                    ..Error::of_file(self.here.loader.show(name), self.here.chain(), message)
                })
            }));
        }
        errors.or(())?;
        accumulator
            .resources
            .append_all(resources, &schema)
            .map_err(|problem| {
                self.here
                    .error(place, format!("merging resources from '{name}': {problem}"))
            })
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
