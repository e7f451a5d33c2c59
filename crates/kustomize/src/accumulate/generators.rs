//! Running generators: those that fields stand for, and those that `generators` names.

use std::rc::Rc;

use super::target::{Place, Target};
use super::{Accumulator, Spot};
use crate::error::{Error, Errors, all};
use crate::generator::{self, Kind, with_globals};
use crate::helm;
use crate::origin::Origin;
use crate::plugin;
use crate::problem::{At, Problem};
use crate::resmap::{AnyId, ResMap};
use crate::resource::{Parsed, Resource, from_text};

impl Target<'_, '_> {
    /// What all generators make.
    pub(super) fn generate(&self) -> Result<Vec<(Place<'static>, Resource)>, Errors> {
        let generated = all([
            self.generate_data(),
            self.generate_charts(),
            self.generate_plugins(),
        ])?;
        Ok(generated.into_iter().flatten().collect())
    }

    /// Adds what was generated, or merges it into what it says.
    pub(super) fn absorb(
        &self,
        accumulator: &mut Accumulator,
        generated: Vec<(Place<'static>, Resource)>,
    ) -> Result<(), Errors> {
        if generated.is_empty() {
            return Ok(());
        }
        let schema = self.build.schema();
        let names = generated
            .iter()
            .map(|(_, resource)| resource.shared_name())
            .collect();
        let mut index = AnyId::new(names, accumulator.resources.as_slice(), &schema);
        let added = generated.into_iter().map(|(place, resource)| {
            let absorbed = accumulator.resources.absorb(resource, &mut index, &schema);
            absorbed.map_err(|problem| {
                self.here
                    .error(place, format!("merging from generator: {problem}"))
            })
        });
        all(added).map(|_| ())
    }

    fn spot(&self, place: Place<'static>) -> Spot {
        self.build.spots.borrow_mut().add(&self.here, place)
    }

    /// Tells what is wrong with a plugin where the plugin stands.
    pub(super) fn tell_plugin(&self, place: Place<'static>, spot: Spot, problems: Vec<Problem>) -> Errors {
        let spots = self.build.spots.borrow();
        let told_or = |error: Option<Error>, message: String| match error {
            Some(error) => error.into(),
            None => self.here.error(place, message),
        };
        let told = problems.into_iter().map(|problem| match problem.at {
            At::File(..) => self.here.tell(place, vec![problem]),
            At::Field(path) => told_or(spots.field_error(spot, &path, &problem.message), problem.message),
            At::Text(_) => told_or(spots.error(spot, &problem.message), problem.message),
        });
        Errors(told.flat_map(|errors| errors.0).collect())
    }

    fn builtin_origin(&self, kind: &str) -> Option<Rc<Origin>> {
        let origin = self.origin.as_ref()?;
        Some(Rc::new(origin.of_builtin(self.here.file, kind)))
    }

    fn generate_data(&self) -> Result<Vec<(Place<'static>, Resource)>, Errors> {
        let kustomization = &self.kustomization;
        let globals = kustomization.generator_options.as_ref();
        let lists = [
            (
                Kind::ConfigMap,
                "configMapGenerator",
                &kustomization.config_map_generator,
            ),
            (Kind::Secret, "secretGenerator", &kustomization.secret_generator),
        ];
        let all_args = lists.into_iter().flat_map(|(kind, field, list)| {
            let numbered = list.iter().enumerate();
            numbered.map(move |(index, args)| (kind, (field, Some(index)), args))
        });
        all(all_args.map(|(kind, place, args)| {
            let args = with_globals(args, globals);
            let mut resource = generator::generate(kind, &args, self.here.loader.as_ref())
                .map_err(|problems| self.here.tell(place, problems))?;
            resource.spot = self.spot(place);
            let origin = self.builtin_origin(&format!("{}Generator", kind.name()));
            resource.set_origin(origin.as_ref());
            Ok((place, resource))
        }))
    }

    fn generate_charts(&self) -> Result<Vec<(Place<'static>, Resource)>, Errors> {
        let globals = self.kustomization.helm_globals.clone().unwrap_or_default();
        let charts = self.kustomization.helm_charts.iter().enumerate();
        let rendered = charts.map(|(index, chart)| {
            let place = ("helmCharts", Some(index));
            let mut chart = chart.clone();
            if chart.namespace.is_empty() {
                let own = &self.kustomization.namespace;
                chart.namespace.clone_from(if own.is_empty() {
                    &self.chart_namespace
                } else {
                    own
                });
            }
            let resources = self
                .render(&chart, &globals)
                .map_err(|problem| self.here.error(place, problem))?;
            let origin = self.builtin_origin("HelmChartInflationGenerator");
            let spot = self.spot(place);
            let with_origin = resources.into_iter().map(|mut resource| {
                resource.spot = spot;
                resource.set_origin(origin.as_ref());
                (place, resource)
            });
            Ok(with_origin.collect::<Vec<_>>())
        });
        Ok(all(rendered)?.into_iter().flatten().collect())
    }

    pub(super) fn render(
        &self,
        chart: &crate::config::HelmChart,
        globals: &crate::config::HelmGlobals,
    ) -> Result<Vec<Resource>, String> {
        let Some(renderer) = self.build.options.helm else {
            return Err(self.build.options.without_helm.to_owned());
        };
        let (chart, globals) = helm::complete(chart, globals)?;
        let request = helm::Request {
            chart: &chart,
            globals: &globals,
            tree: self.here.loader.tree(),
            root: &self.here.loader.root,
            files: &*self.here.loader,
        };
        let text = renderer.template(&request)?;
        let parsed = from_text(&text, &mut self.build.texts()).map_err(|malformed| malformed.message)?;
        Ok(parsed
            .into_iter()
            .map(|parsed| {
                let mut resource = parsed.resource;
                resource.from_chart = true;
                resource
            })
            .collect())
    }

    fn generate_plugins(&self) -> Result<Vec<(Place<'static>, Resource)>, Errors> {
        let place = ("generators", None);
        let plugins = self.plugins("generators", &self.kustomization.generators)?;
        let generated = plugins.iter().map(|plugin| {
            let resources = plugin::generate(plugin, self)
                .map_err(|problems| self.tell_plugin(place, plugin.spot, problems))?;
            let origin = plugin_origin(plugin);
            let with_origin = resources.into_iter().map(|mut resource| {
                resource.spot = plugin.spot;
                if resource.origin().is_none() {
                    resource.set_origin(origin.as_ref());
                }
                (place, resource)
            });
            Ok(with_origin.collect::<Vec<_>>())
        });
        Ok(all(generated)?.into_iter().flatten().collect())
    }

    /// The plugins that a list names: each entry is the plugin itself or a file or base of them.
    pub(super) fn plugins(&self, field: &'static str, entries: &[String]) -> Result<Vec<Resource>, Errors> {
        let mut accumulator = Accumulator::new();
        let mut errors = Errors::default();
        let mut paths = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let Ok(parsed) = from_text(entry, &mut self.build.texts()) else {
                paths.push((index, entry.as_str()));
                continue;
            };
            let added = self.add_inline(&mut accumulator, (field, Some(index)), parsed);
            errors.keep(added.map_err(|problem| self.here.error((field, Some(index)), problem)));
        }
        errors.keep(self.add_resources(&mut accumulator, field, paths.into_iter()));
        errors.or(accumulator.resources.into_resources())
    }

    /// Adds the plugins that an entry says itself.
    fn add_inline(
        &self,
        accumulator: &mut Accumulator,
        place: Place<'static>,
        parsed: Vec<Parsed>,
    ) -> Result<(), String> {
        let schema = self.build.schema();
        let origin = self
            .origin
            .as_ref()
            .map(|origin| Rc::new(origin.append(self.here.file)));
        let spot = self.spot(place);
        let mut resources = ResMap::new();
        for Parsed { mut resource, line } in parsed {
            resource.spot = spot.at_line(line);
            resource.set_origin(origin.as_ref());
            self.build.see(&resource);
            resources.append(resource, &schema)?;
        }
        accumulator.resources.append_all(resources, &schema)
    }
}

/// The origin of what a plugin makes.
pub(super) fn plugin_origin(plugin: &Resource) -> Option<Rc<Origin>> {
    let origin = plugin.origin()?;
    Some(Rc::new(Origin {
        path: String::new(),
        repo: origin.repo.clone(),
        reference: origin.reference.clone(),
        configured_in: origin.path.clone(),
        configured_by: Some(crate::origin::Identifier {
            api_version: plugin.api_version().to_owned(),
            kind: plugin.kind().to_owned(),
            name: plugin.name().to_owned(),
            namespace: plugin.namespace().to_owned(),
        }),
    }))
}
