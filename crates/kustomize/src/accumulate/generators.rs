//! Running generators: those that fields stand for, and those that `generators` names.

use std::rc::Rc;

use super::lost::Lost;
use super::target::{Place, Target};
use super::{Accumulator, Spot};
use crate::error::{Error, Errors};
use crate::generator::{self, Kind, with_globals};
use crate::helm;
use crate::origin::Origin;
use crate::plugin;
use crate::problem::{At, Problem};
use crate::resmap::{AnyId, Clash, ResMap};
use crate::resource::{Malformed, Parsed, Resource, from_text};

impl Target<'_, '_> {
    /// What all generators make.
    pub(super) fn generate(&self, accumulator: &mut Accumulator) -> Vec<(Place<'static>, Resource)> {
        let mut generated = self.generate_data(accumulator);
        generated.extend(self.generate_charts(accumulator));
        generated.extend(self.generate_plugins(accumulator));
        generated
    }

    /// Adds what was generated, or merges it into what it says.
    pub(super) fn absorb(&self, accumulator: &mut Accumulator, generated: Vec<(Place<'static>, Resource)>) {
        if generated.is_empty() {
            return;
        }
        let schema = self.build.schema();
        let names = generated
            .iter()
            .map(|(_, resource)| resource.shared_name())
            .collect();
        let mut index = AnyId::new(names, accumulator.resources.as_slice(), &schema);
        let mut is_complete = true;
        for (place, resource) in generated {
            let absorbed = accumulator.resources.absorb(resource, &mut index, &schema);
            if let Err(mut clash) = absorbed {
                clash.message.insert_str(0, "merging from generator: ");
                self.tell_clashes(accumulator, place, vec![clash]);
                is_complete = false;
            }
        }
        if !is_complete {
            accumulator.lost.add(Lost::through("configMapGenerator"));
        }
    }

    /// Tells of objects that others stand in the way of, each where it comes from.
    pub(super) fn tell_clashes(&self, accumulator: &mut Accumulator, place: Place<'_>, clashes: Vec<Clash>) {
        let spots = self.build.spots.borrow();
        let is_any_missed = clashes.iter().any(|clash| clash.is_missed);
        let (lost, resources) = (accumulator.lost, &accumulator.resources);
        let certain = clashes
            .into_iter()
            .filter(|clash| !lost.may_explain(&clash.needs, resources));
        let told = certain.flat_map(|clash| {
            let Some(mut error) = spots.error(clash.spot, &clash.message) else {
                return self.here.error(place, clash.message).0;
            };
            if !clash.others.is_empty() {
                let places = spots.shown(&clash.others, &error.chain);
                error.message.push_str("; also in ");
                error.message.push_str(&places);
            }
            vec![error]
        });
        accumulator.errors.0.extend(told);
        if is_any_missed {
            accumulator.lost.add(Lost::OBJECTS);
        }
    }

    /// Problems that say where their objects come from.
    pub(super) fn with_places(&self, mut problems: Vec<Problem>) -> Vec<Problem> {
        for problem in problems.iter_mut().filter(|problem| !problem.objects.is_empty()) {
            let spots = self.build.spots.borrow();
            let places = spots.shown(&problem.objects, &self.here.chain());
            problem.message.push_str("; in ");
            problem.message.push_str(&places);
        }
        problems
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

    fn generate_data(&self, accumulator: &mut Accumulator) -> Vec<(Place<'static>, Resource)> {
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
        let generated = all_args.filter_map(|(kind, place, args)| {
            let args = with_globals(args, globals);
            let made = generator::generate(kind, &args, self.here.loader.as_ref())
                .map_err(|problems| self.here.tell(place, problems));
            let mut resource = accumulator.keep(made, Lost::through(place.0))?;
            resource.spot = self.spot(place);
            let origin = self.builtin_origin(&format!("{}Generator", kind.name()));
            resource.set_origin(origin.as_ref());
            Some((place, resource))
        });
        generated.collect()
    }

    fn generate_charts(&self, accumulator: &mut Accumulator) -> Vec<(Place<'static>, Resource)> {
        let globals = self.kustomization.helm_globals.clone().unwrap_or_default();
        let charts = self.kustomization.helm_charts.iter().enumerate();
        let rendered = charts.filter_map(|(index, chart)| {
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
                .map_err(|problem| self.here.error(place, problem));
            let resources = accumulator.keep(resources, Lost::OBJECTS)?;
            let origin = self.builtin_origin("HelmChartInflationGenerator");
            let spot = self.spot(place);
            let with_origin = resources.into_iter().map(|mut resource| {
                resource.spot = spot;
                resource.set_origin(origin.as_ref());
                (place, resource)
            });
            Some(with_origin.collect::<Vec<_>>())
        });
        rendered.flatten().collect()
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
        let parsed = from_text(&text, &mut self.build.texts()).map_err(Malformed::into_message)?;
        Ok(parsed
            .into_iter()
            .map(|parsed| {
                let mut resource = parsed.resource;
                resource.from_chart = true;
                resource
            })
            .collect())
    }

    fn generate_plugins(&self, accumulator: &mut Accumulator) -> Vec<(Place<'static>, Resource)> {
        let place = ("generators", None);
        let (plugins, errors) = self.plugins("generators", &self.kustomization.generators);
        accumulator.keep(errors.or(()), Lost::OBJECTS);
        let generated = plugins.iter().filter_map(|plugin| {
            let made = plugin::generate(plugin, self)
                .map_err(|problems| self.tell_plugin(place, plugin.spot, problems));
            let resources = accumulator.keep(made, Lost::OBJECTS)?;
            let origin = plugin_origin(plugin);
            let with_origin = resources.into_iter().map(|mut resource| {
                resource.spot = plugin.spot;
                if resource.origin().is_none() {
                    resource.set_origin(origin.as_ref());
                }
                (place, resource)
            });
            Some(with_origin.collect::<Vec<_>>())
        });
        generated.flatten().collect()
    }

    /// The plugins that a list names: each entry is the plugin itself or a file or base of them. What cannot be read is
    /// told.
    pub(super) fn plugins(&self, field: &'static str, entries: &[String]) -> (Vec<Resource>, Errors) {
        let mut accumulator = Accumulator::new();
        let mut paths = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let Ok(parsed) = from_text(entry, &mut self.build.texts()) else {
                paths.push((index, entry.as_str()));
                continue;
            };
            self.add_inline(&mut accumulator, (field, Some(index)), parsed);
        }
        self.add_resources(&mut accumulator, field, paths.into_iter());
        (accumulator.resources.into_resources(), accumulator.errors)
    }

    /// Adds the plugins that an entry says itself.
    fn add_inline(&self, accumulator: &mut Accumulator, place: Place<'static>, parsed: Vec<Parsed>) {
        let schema = self.build.schema();
        let origin = self
            .origin
            .as_ref()
            .map(|origin| Rc::new(origin.append(self.here.file)));
        let spot = self.spot(place);
        let mut resources = ResMap::new();
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
