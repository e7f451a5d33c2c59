//! Generators, transformers and validators that are configured by objects of their own. Those that are built in run;
//! programs and containers are refused.

mod config;

use yaml::node::Texts;

use crate::accumulate::PluginContext;
use crate::affix::{Affix, Side};
use crate::annotations::Annotations;
use crate::config::{HelmChart, HelmGlobals, Strictness, decode, decode_all};
use crate::convert;
use crate::generator::{self, Kind};
use crate::guard::Guarded;
use crate::hash;
use crate::iam_policy;
use crate::image::{self, Images};
use crate::labels::Labels;
use crate::namespace::{Namespace, Subjects};
use crate::patch::{JsonPatches, Patch, Patches, StrategicPatches, TargetedJson};
use crate::problem::{At, Problem};
use crate::replacement::Replacements;
use crate::replicas::Replicas;
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::schema::Schema;
use crate::transform::Transform;
use crate::value_add::ValueAdd;
use config::Args;

/// The arguments of a plugin that is built in.
fn args<T: crate::config::Decode>(plugin: &Resource) -> Result<T, Vec<Problem>> {
    let gvk = plugin.gvk();
    if !gvk.group.is_empty() || gvk.version != "builtin" {
        return Err(vec![
            format!(
                "external plugins disabled; unable to load external plugin '{}': programs and containers are not run, \
                 only plugins with apiVersion 'builtin' are",
                gvk.kind
            )
            .into(),
        ]);
    }
    let value = convert::to_value(&plugin.node).map_err(|problem| vec![problem.into()])?;
    let (args, mistakes) = decode_all(&value, Strictness::Lax);
    if mistakes.is_empty() {
        return Ok(args);
    }
    let told = mistakes.into_iter().map(|mistake| {
        let message = format!(
            "plugin {} fails configuration: {}",
            plugin.plain_id(),
            mistake.message
        );
        Problem::new(At::Field(mistake.steps), message)
    });
    Err(told.collect())
}

/// Runs a generator.
pub(crate) fn generate(
    plugin: &Resource,
    context: &dyn PluginContext,
) -> Result<Vec<Resource>, Vec<Problem>> {
    let one = |problem: String| vec![problem.into()];
    let kind = match plugin.kind() {
        "ConfigMapGenerator" => Kind::ConfigMap,
        "SecretGenerator" => Kind::Secret,
        "HelmChartInflationGenerator" => {
            let globals: HelmGlobals = args(plugin)?;
            let chart: HelmChart = args(plugin)?;
            return context.render(&chart, &globals).map_err(one);
        }
        "IAMPolicyGenerator" => {
            let _: Args = args(plugin)?;
            let value = convert::to_value(&plugin.node).map_err(one)?;
            return iam_policy::generate(&value).map_err(one);
        }
        _ => {
            let _: Args = args(plugin)?;
            return Err(one(format!("plugin {} not a generator", plugin.plain_id())));
        }
    };
    let about: Args = args(plugin)?;
    let mut data: crate::config::GeneratorArgs = args(plugin)?;
    if data.name.is_empty() {
        data.name = about.metadata.name;
    }
    if data.namespace.is_empty() {
        data.namespace = about.metadata.namespace;
    }
    generator::generate(kind, &data, &context).map(|resource| vec![resource])
}

/// Makes a transformer.
pub(crate) fn transformer(
    plugin: &Resource,
    context: &dyn PluginContext,
) -> Result<Box<dyn Transform>, Vec<Problem>> {
    let one = |problem: String| vec![problem.into()];
    let args: Args = args(plugin)?;
    let specs: Vec<_> = args.field_specs.iter().cloned().map(Into::into).collect();
    let load_text = |path: &str| context.load_text(path);
    let affix = |side, text: &str| {
        if args.has_field_specs() {
            Ok(Affix::new(side, text, &specs))
        } else {
            Err(one("fieldSpecs is not expected to be nil".to_owned()))
        }
    };
    Ok(match plugin.kind() {
        "AnnotationsTransformer" => Box::new(Annotations::new(&args.annotations, &specs)),
        "LabelTransformer" => Box::new(Labels::new(&args.labels, &specs)),
        "NamespaceTransformer" => {
            let subjects = Subjects::new(&args.set_role_binding_subjects).map_err(one)?;
            let namespace = Namespace::new(&args.metadata.namespace, &specs);
            Box::new(namespace.subjects(subjects).unset_only(args.unset_only))
        }
        "PrefixTransformer" => Box::new(affix(Side::Prefix, &args.prefix)?),
        "SuffixTransformer" => Box::new(affix(Side::Suffix, &args.suffix)?),
        "PrefixSuffixTransformer" => Box::new(Both(
            affix(Side::Prefix, &args.prefix)?,
            affix(Side::Suffix, &args.suffix)?,
        )),
        "ImageTagTransformer" => Box::new(Images::new(
            vec![image::Entry::new(&args.image_tag).map_err(one)?],
            &specs,
        )),
        "ReplicaCountTransformer" => Box::new(Replicas::new(vec![args.replica.clone()], &specs)),
        "PatchTransformer" => {
            let config = crate::config::Patch {
                path: args.path.clone(),
                patch: args.patch.clone(),
                target: args.target.clone(),
                options: args.options.clone(),
            };
            let patch = Patch::load(&config, &load_text, &mut Texts::default())?;
            Box::new(Patches::new(vec![patch], Guarded::default()))
        }
        "PatchJson6902Transformer" => {
            let entry = TargetedJson::load(args.target.as_ref(), &args.path, &args.json_op, &load_text);
            Box::new(JsonPatches::new(vec![complete(entry)?], Guarded::default()))
        }
        "PatchStrategicMergeTransformer" => Box::new(complete(StrategicPatches::load(
            &args.paths,
            &args.patches,
            &load_text,
            &mut Texts::default(),
        ))?),
        "ReplacementTransformer" => {
            let load = |path: &str| context.load(path);
            Box::new(complete(Replacements::load(
                &args.replacements,
                &load,
                context.release(),
            ))?)
        }
        "ValueAddTransformer" => Box::new(value_add(args, context).map_err(one)?),
        "HashTransformer" => Box::new(Hash),
        "ConfigMapGenerator" | "SecretGenerator" | "HelmChartInflationGenerator" | "IAMPolicyGenerator" => {
            return Err(one(format!("plugin {} not a transformer", plugin.plain_id())));
        }
        _ => return Err(one(format!("unable to load builtin {}", plugin.gvk()))),
    })
}

/// What was read without any problem.
fn complete<T>((read, problems): (T, Vec<Problem>)) -> Result<T, Vec<Problem>> {
    if problems.is_empty() {
        Ok(read)
    } else {
        Err(problems)
    }
}

fn value_add(args: Args, context: &dyn PluginContext) -> Result<ValueAdd, String> {
    let mut targets = args.targets.clone();
    if !args.target_file_path.is_empty() {
        let content = context.load(&args.target_file_path)?;
        let value = yaml::parse(&content).map_err(|error| {
            let line = error.line();
            format!("{}:{line}: {}", args.target_file_path, error.without_values())
        })?;
        let file: Args = decode(&value, Strictness::Lax)?;
        targets.extend(file.targets);
    }
    let value = match args.value.trim() {
        "" => context.directory().to_owned(),
        value => value.to_owned(),
    };
    ValueAdd::new(value, targets)
}

/// A prefix and a suffix.
struct Both(Affix, Affix);

impl Transform for Both {
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        self.0.transform(resources, schema)?;
        self.1.transform(resources, schema)
    }
}

/// The hashes of generated names.
struct Hash;

impl Transform for Hash {
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        hash::add_to_names(resources, schema)
    }
}
