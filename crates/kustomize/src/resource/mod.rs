//! One resource on its way through the build: the object, and what the build remembers of it.

mod affixes;
mod brackets;
mod doubt;
mod internal;
mod metadata;
mod read;

pub(crate) use affixes::{Affixes, Empty, LastChain};
pub(crate) use read::{InDocument, Malformed, Parsed, from_text, lines};

use std::rc::Rc;

use model::Str;
use thin_vec::ThinVec;
use yaml::node::{Kind, Map, Node, Text};

use crate::accumulate::Spot;
use crate::field::{WRITTEN, unlink};
use crate::id::{Gvk, ResId};
use crate::origin::{History, Origin};
use crate::schema::Schema;
use doubt::Doubt;

/// A resource. kustomize keeps what it remembers in annotations of the object; here it stands beside it.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// The object; empty once a patch has deleted it.
    pub(crate) node: Node,
    /// What it was called before, the oldest first.
    previous: ThinVec<Previous>,
    pub(crate) affixes: Affixes,
    pub(crate) behavior: Behavior,
    /// Whether its name will get a hash of its content.
    pub(crate) needs_hash: bool,
    /// Whether it came out of a chart, so that its namespace is the chart's business.
    pub(crate) from_chart: bool,
    /// Whether it is written between brackets as a whole.
    in_brackets: bool,
    /// The vars that take their value from it.
    pub(crate) ref_vars: ThinVec<Text>,
    /// As a patch, whether it may rename what it changes, and make another kind of it.
    pub(crate) may_change: MayChange,
    doubt: Doubt,
    /// How many groups of scalars that are one it has had.
    groups: u16,
    /// Most have none.
    history: Option<Box<History>>,
    /// Where it was read or generated, for messages.
    pub(crate) spot: Spot,
}

// There may be very many of them, and most are small.
const _: () = assert!(std::mem::size_of::<Resource>() == 72);

/// What a patch may change of the identity of a resource: one byte, where two flags would make each resource larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MayChange {
    Neither,
    Name,
    Kind,
    Both,
}

impl MayChange {
    pub(crate) fn new(name: bool, kind: bool) -> MayChange {
        match (name, kind) {
            (false, false) => MayChange::Neither,
            (true, false) => MayChange::Name,
            (false, true) => MayChange::Kind,
            (true, true) => MayChange::Both,
        }
    }

    pub(crate) fn name(self) -> bool {
        matches!(self, MayChange::Name | MayChange::Both)
    }

    pub(crate) fn kind(self) -> bool {
        matches!(self, MayChange::Kind | MayChange::Both)
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Previous {
    name: Text,
    /// As it was written; `None` for a kind that belongs to no namespace.
    namespace: Option<Text>,
    kind: Text,
}

impl Previous {
    fn effective_namespace(&self) -> &str {
        crate::id::effective_namespace(
            self.namespace.as_deref().unwrap_or_default(),
            self.namespace.is_none(),
        )
    }
}

/// What a generator does when there is such a resource already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Behavior {
    #[default]
    Unspecified,
    Create,
    Replace,
    Merge,
}

impl Behavior {
    pub(crate) fn new(name: &str) -> Behavior {
        match name {
            "replace" => Behavior::Replace,
            "merge" => Behavior::Merge,
            "create" => Behavior::Create,
            _ => Behavior::Unspecified,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Behavior::Replace => "replace",
            Behavior::Merge => "merge",
            Behavior::Create => "create",
            Behavior::Unspecified => "unspecified",
        }
    }
}

impl Resource {
    pub(crate) fn new(node: Node) -> Resource {
        Resource {
            node,
            previous: ThinVec::new(),
            affixes: Affixes::default(),
            behavior: Behavior::Unspecified,
            needs_hash: false,
            from_chart: false,
            in_brackets: false,
            ref_vars: ThinVec::new(),
            may_change: MayChange::Neither,
            doubt: Doubt::default(),
            groups: 0,
            history: None,
            spot: Spot::default(),
        }
    }

    /// The number of a new group of scalars that are one; 0, which is none, once there are very many.
    pub(crate) fn new_group(&mut self) -> u16 {
        self.groups = (self.groups + 1) % WRITTEN;
        self.groups
    }

    /// Makes of what was put between brackets what kustomize makes of it when it writes the object.
    pub(crate) fn quote_in_brackets(&mut self) {
        if self.in_brackets {
            brackets::quote(&mut self.node);
        }
    }

    /// Takes another object in the place of this one, which is not between brackets.
    pub(crate) fn rebuild(&mut self, node: Node) {
        self.node = node;
        self.in_brackets = false;
    }

    /// Whether nothing is left of it.
    pub(crate) fn is_empty(&self) -> bool {
        self.node.is_empty()
    }

    pub(crate) fn kind(&self) -> &str {
        self.node.get("kind").map_or("", Node::raw_text)
    }

    pub(crate) fn api_version(&self) -> &str {
        self.node.get("apiVersion").map_or("", Node::raw_text)
    }

    pub(crate) fn name(&self) -> &str {
        self.meta_text("name")
    }

    pub(crate) fn namespace(&self) -> &str {
        self.meta_text("namespace")
    }

    fn meta_text(&self, field: &str) -> &str {
        self.meta(field).map_or("", Node::text)
    }

    fn meta(&self, field: &str) -> Option<&Node> {
        self.node.get("metadata")?.get(field)
    }

    /// The kind to be held elsewhere.
    pub(crate) fn shared_kind(&self) -> Text {
        self.node.get("kind").map(Node::shared_text).unwrap_or_default()
    }

    /// The name to be held elsewhere.
    pub(crate) fn shared_name(&self) -> Text {
        self.shared_meta("name")
    }

    /// The namespace to be held elsewhere.
    pub(crate) fn shared_namespace(&self) -> Text {
        self.shared_meta("namespace")
    }

    fn shared_meta(&self, field: &str) -> Text {
        let found = self.meta(field).filter(|node| !node.is_null());
        found.map(Node::shared_text).unwrap_or_default()
    }

    pub(crate) fn gvk(&self) -> Gvk {
        Gvk::new(self.api_version(), self.kind())
    }

    /// What identifies it now.
    pub(crate) fn id(&self, schema: &Schema) -> ResId {
        let gvk = self.gvk();
        ResId {
            cluster_scoped: schema.is_cluster_scoped(&gvk),
            gvk,
            name: self.name().into(),
            namespace: self.namespace().into(),
        }
    }

    /// What identifies it now, for messages that need no schema.
    pub(crate) fn plain_id(&self) -> ResId {
        self.id(&Schema::default())
    }

    /// What identified it before, the oldest first. These are never known to belong to no namespace.
    pub(crate) fn previous_ids(&self) -> impl Iterator<Item = ResId> + '_ {
        let (group, version) = crate::id::split_api_version(self.api_version());
        let (group, version) = (Str::new(group), Str::new(version));
        self.previous.iter().map(move |previous| ResId {
            gvk: Gvk {
                group: group.clone(),
                version: version.clone(),
                kind: (&previous.kind).into(),
            },
            name: (&previous.name).into(),
            namespace: previous.effective_namespace().into(),
            cluster_scoped: false,
        })
    }

    /// Whether its name was ever changed.
    pub(crate) fn has_previous(&self) -> bool {
        !self.previous.is_empty()
    }

    /// The names it had before.
    pub(crate) fn previous_names(&self) -> impl Iterator<Item = &Text> {
        self.previous.iter().map(|previous| &previous.name)
    }

    /// What identified it first.
    pub(crate) fn original_id(&self, schema: &Schema) -> ResId {
        let first = self.previous_ids().next();
        first.unwrap_or_else(|| self.id(schema))
    }

    /// The namespace of the first of the previous identities, as it was written; `None` if it belonged to none.
    pub(crate) fn original_namespace(&self) -> Option<Text> {
        self.previous.first()?.namespace.clone()
    }

    /// Remembers what identifies it now, before that changes.
    pub(crate) fn remember_id(&mut self, schema: &Schema) {
        let cluster_scoped = schema.is_cluster_scoped(&self.gvk());
        self.previous.reserve_exact(1);
        self.previous.push(Previous {
            name: self.shared_name(),
            namespace: (!cluster_scoped).then(|| self.shared_namespace()),
            kind: self.shared_kind(),
        });
    }

    /// Takes over what is remembered of another one that this one replaces.
    pub(crate) fn take_memory(&mut self, old: &Resource) {
        self.previous.clone_from(&old.previous);
        self.affixes.clone_from(&old.affixes);
        self.behavior = old.behavior;
        self.needs_hash &= old.needs_hash;
        self.from_chart = old.from_chart;
        self.ref_vars.clone_from(&old.ref_vars);
        self.spot = old.spot;
        self.doubt_as(old);
        if self.transformations().is_empty() && !old.transformations().is_empty() {
            self.history.get_or_insert_default().transformations = old.transformations().to_vec();
        }
    }

    /// Forgets what is remembered of it: kustomize keeps that in annotations, and they are gone.
    pub(crate) fn forget(&mut self) {
        self.previous = ThinVec::new();
        self.affixes = Affixes::default();
        self.behavior = Behavior::default();
        self.needs_hash = false;
        self.from_chart = false;
        self.forget_history();
    }

    /// Forgets where it comes from and what has changed it, which kustomize does not put back as it does the rest.
    pub(crate) fn forget_history(&mut self) {
        self.history = None;
    }

    /// Where it comes from, if that is to be told.
    pub(crate) fn origin(&self) -> Option<&Rc<Origin>> {
        self.history.as_ref()?.origin.as_ref()
    }

    pub(crate) fn set_origin(&mut self, origin: Option<&Rc<Origin>>) {
        if origin.is_some() || self.history.is_some() {
            self.history.get_or_insert_default().origin = origin.cloned();
        }
    }

    /// What has changed it, if that is to be told.
    pub(crate) fn transformations(&self) -> &[Rc<Origin>] {
        self.history
            .as_ref()
            .map_or(&[], |history| &history.transformations)
    }

    pub(crate) fn add_transformation(&mut self, origin: &Rc<Origin>) {
        let history = self.history.get_or_insert_default();
        history.transformations.push(Rc::clone(origin));
        // kustomize tells it in an annotation and writes all of them anew for that.
        let metadata = self.node.get_mut("metadata");
        if let Some(annotations) = metadata.and_then(|metadata| metadata.get_mut("annotations")) {
            unlink(annotations);
            let values = annotations.as_map_mut().into_iter().flat_map(Map::iter_mut);
            values.for_each(|(_, value)| become_text(value));
        }
    }
}

/// Makes a string of a number or a boolean.
fn become_text(node: &mut Node) {
    if let Node::Scalar(scalar) = node
        && !scalar.kind.is_null()
        && !scalar.kind.is_str()
    {
        scalar.kind = Kind::Quoted;
        scalar.untyped = false;
    }
}
