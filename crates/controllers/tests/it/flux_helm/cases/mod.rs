//! The HelmReleases that are compared. Each is `app` in a namespace of its own, which has the name of the case.

mod broken;
mod elsewhere;
mod failing;
mod hooked;
mod kept;
mod released;

use serde_json::{Value, json};
use testkit::archive::{File, tgz};

/// One HelmRelease with its charts: as it is made, and how it is changed after that.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) origin: Origin,
    /// The first is there at the beginning.
    pub(super) charts: Vec<Chart>,
    pub(super) spec: Value,
    /// What is there before it.
    pub(super) objects: Vec<Value>,
    pub(super) steps: Vec<Step>,
}

/// Where a chart comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A HelmChart that somebody has made.
    Chart,
    /// A HelmChart that the controller makes.
    Template,
    /// An OCIRepository.
    Oci,
    /// An ExternalArtifact.
    External,
}

/// What is changed at once. Each step asks for a run, too.
#[derive(Default)]
pub(super) struct Step {
    /// A merge patch of the spec.
    pub(super) spec: Value,
    /// The chart that the source has from now on.
    pub(super) chart: Option<usize>,
    /// What the request asks for besides: `forceAt`, `resetAt`.
    pub(super) asks: Option<&'static str>,
    /// What somebody else writes.
    pub(super) objects: Vec<Value>,
    /// Whether the records of the release are lost.
    pub(super) forgets: bool,
    /// Whether the HelmRelease is deleted.
    pub(super) deletes: bool,
}

/// A chart as it is packed.
#[derive(Clone)]
pub(super) struct Chart {
    name: String,
    pub(super) version: String,
    files: Vec<(String, String)>,
}

impl Chart {
    /// The chart `app` with a ConfigMap of one value.
    fn app(version: &str) -> Self {
        Chart::named("app", version)
            .with("values.yaml", "a: one\n")
            .with("templates/config.yaml", CONFIG)
    }

    /// A chart with nothing in it.
    fn named(name: &str, version: &str) -> Self {
        Chart {
            name: name.to_owned(),
            version: version.to_owned(),
            files: Vec::new(),
        }
    }

    /// One more file.
    fn with(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// Its archive.
    pub(super) fn packed(&self) -> Vec<u8> {
        let Chart { name, version, .. } = self;
        let about = format!("apiVersion: v2\nname: {name}\nversion: {version}\nappVersion: \"7\"\n");
        let mut files = vec![File::new(&format!("{name}/Chart.yaml"), about)];
        let others = self.files.iter();
        files.extend(others.map(|(path, text)| File::new(&format!("{name}/{path}"), text.as_bytes())));
        tgz(&files)
    }
}

/// A ConfigMap with one value.
const CONFIG: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  a: {{ .Values.a | quote }}
";

/// A template of a ConfigMap with a fixed name, value and further metadata.
fn config(name: &str, value: &str, metadata: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n{metadata}data:\n  a: {value}\n")
}

impl Case {
    fn origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    fn chart(mut self, chart: Chart) -> Self {
        self.charts.push(chart);
        self
    }

    fn before(mut self, object: Value) -> Self {
        self.objects.push(object);
        self
    }

    /// Nothing is changed; a run is asked for.
    fn then(self) -> Self {
        self.step(Step::default())
    }

    fn then_spec(self, spec: Value) -> Self {
        self.step(Step {
            spec,
            ..Step::default()
        })
    }

    fn then_chart(self, number: usize) -> Self {
        self.step(Step {
            chart: Some(number),
            ..Step::default()
        })
    }

    fn then_asked(self, what: &'static str) -> Self {
        self.step(Step {
            asks: Some(what),
            ..Step::default()
        })
    }

    fn then_put(self, object: Value) -> Self {
        self.step(Step {
            objects: vec![object],
            ..Step::default()
        })
    }

    fn then_deleted(self) -> Self {
        self.step(Step {
            deletes: true,
            ..Step::default()
        })
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Where its objects may be.
    pub(super) fn namespaces(&self) -> Vec<&str> {
        let specs = std::iter::once(&self.spec).chain(self.steps.iter().map(|step| &step.spec));
        let targets = specs.filter_map(|spec| spec["targetNamespace"].as_str());
        std::iter::once(self.name.as_str()).chain(targets).collect()
    }

    /// Whether the HelmRelease is gone after so many steps.
    pub(super) fn is_deleted(&self, steps: usize) -> bool {
        self.steps.iter().take(steps).any(|step| step.deletes)
    }
}

/// A HelmRelease of a chart, with more in its spec.
fn case(name: &str, chart: Chart, more: Value) -> Case {
    let mut spec = json!({"interval": "1h", "timeout": "20s"});
    spec.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    Case {
        name: name.to_owned(),
        origin: Origin::Chart,
        charts: vec![chart],
        spec,
        objects: Vec::new(),
        steps: Vec::new(),
    }
}

/// A HelmRelease of the usual chart, which fails once its value is `bad`.
fn judged(name: &str, more: Value) -> Case {
    let mut case = case(name, Chart::app("1.0.0"), more);
    case.spec["healthCheckExprs"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap",
        "current": "!data.a.startsWith('bad')", "failed": "data.a.startsWith('bad')",
    }]);
    case
}

/// A ConfigMap or Secret of the namespace of a case.
fn data(kind: &str, name: &str, field: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, field: data})
}

/// All of them.
pub(super) fn cases() -> Vec<Case> {
    [
        released::cases(),
        kept::cases(),
        failing::cases(),
        hooked::cases(),
        broken::cases(),
        elsewhere::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
