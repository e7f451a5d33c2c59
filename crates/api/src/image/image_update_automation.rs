//! ImageUpdateAutomation: the latest images, written to Git.

use std::collections::BTreeMap;

use model::{Map, Time};

use super::{CATEGORIES, GROUP, ImageReference};
use crate::source::GitReference;
use crate::{
    Column, Condition, Definition, Duration, Fields, LocalObjectReference, Names, Object, ReadError, Spec,
};

/// The latest images, written to Git.
pub type ImageUpdateAutomation = Object<ImageUpdateAutomationSpec>;

record! {
    /// What is changed in which repository, and how it is committed.
    ImageUpdateAutomationSpec {
        /// The GitRepository that is changed.
        required source_ref: AutomationSource {}
        /// How the repository is checked out, committed to and pushed.
        optional git: Option<GitSpec> {}
        /// How often the images are compared.
        required interval: Duration {}
        /// Which ImagePolicies of the namespace are looked at. If not set, all.
        optional policy_selector: Option<LabelSelector> { .with("x-kubernetes-map-type", "atomic") }
        /// What is changed.
        optional update: Option<Update> { .default_to(setters()) }
        /// Stops changing until it is false again.
        optional suspend: bool {}
    }
}

fn setters() -> Map {
    let mut update = Map::new();
    update.insert("strategy", "Setters");
    update
}

record! {
    /// The source that is changed.
    AutomationSource {
        /// The group and version of the source.
        optional api_version: Option<String> {}
        /// The kind of the source.
        required kind: AutomationSourceKind { .default_to("GitRepository") }
        /// The name of the source.
        required name: String {}
        /// The namespace of the source. If not set, the same one.
        optional namespace: Option<String> {}
    }
}

choice! {
    /// A kind of source that can be changed.
    AutomationSourceKind { GitRepository = "GitRepository" }
}

record! {
    /// How a repository is checked out, committed to and pushed.
    GitSpec {
        /// What to check out. If not set, what the GitRepository does.
        optional checkout: Option<GitCheckout> {}
        /// Who commits, with which message.
        required commit: Commit {}
        /// Where to push. If not set, to the branch that was checked out.
        optional push: Option<Push> {}
    }
}

record! {
    /// What to check out.
    GitCheckout {
        /// The branch, tag or commit.
        required r#ref as "ref": GitReference {}
    }
}

record! {
    /// Who commits, with which message.
    Commit {
        /// The author.
        required author: CommitUser {}
        /// The key that commits are signed with.
        optional signing_key: Option<SigningKey> {}
        /// A Go template of the message.
        optional message_template: Option<String> {}
        /// Values for the template.
        optional message_template_values: BTreeMap<String, String> {}
    }
}

record! {
    /// The author of commits.
    CommitUser {
        /// The name.
        optional name: Option<String> {}
        /// The address.
        required email: String {}
    }
}

record! {
    /// The key that commits are signed with.
    SigningKey {
        /// A Secret with the private key: `git.asc`, and `passphrase` if it has one.
        required secret_ref: LocalObjectReference {}
        /// The kind of key. If not set, `gpg`.
        optional r#type as "type": Option<SigningKeyType> {}
    }
}

choice! {
    /// A kind of key that commits are signed with.
    SigningKeyType { Gpg = "gpg", Ssh = "ssh" }
}

record! {
    /// Where to push.
    Push {
        /// The branch. It is made if it is not there.
        optional branch: Option<String> {}
        /// What to push where, as Git writes it: `refs/heads/main:refs/for/main`.
        optional refspec: Option<String> {}
        /// Options that the server gets with the push.
        optional options: BTreeMap<String, String> {}
    }
}

record! {
    /// Objects by their labels.
    LabelSelector {
        /// The labels that objects must have.
        optional match_labels: BTreeMap<String, String> {}
        /// What must hold of the labels.
        optional match_expressions: Vec<LabelRequirement> { .with("x-kubernetes-list-type", "atomic") }
    }
}

record! {
    /// What must hold of a label.
    LabelRequirement {
        /// The label.
        required key: String {}
        /// How it is compared: In, NotIn, Exists or DoesNotExist.
        required operator: String {}
        /// The values to compare with.
        optional values: Vec<String> { .with("x-kubernetes-list-type", "atomic") }
    }
}

record! {
    /// What is changed.
    Update {
        /// How it is found what to change: `Setters` are comments in the files.
        optional strategy: Option<UpdateStrategy> { .default_to("Setters") }
        /// The directory of the repository that is changed. If not set, all of it.
        optional path: Option<String> {}
    }
}

choice! {
    /// How it is found what to change.
    UpdateStrategy { Setters = "Setters" }
}

record! {
    /// What was pushed last.
    ImageUpdateAutomationStatus {
        /// When it was last run.
        optional last_automation_run_time: Option<Time> {}
        /// The commit that was last pushed.
        optional last_push_commit: Option<String> {}
        /// When that was.
        optional last_push_time: Option<Time> {}
        /// The generation of the object that was last dealt with.
        optional observed_generation: Option<i64> {}
        /// What is true of the object.
        optional conditions: Vec<Condition> {}
        /// The images that were last written, by the names of their policies.
        optional observed_policies: BTreeMap<String, ImageReference> {}
        /// The revision of the source that was last looked at.
        optional observed_source_revision: Option<String> {}
        /// The value of the annotation `reconcile.fluxcd.io/requestedAt` that was last dealt with.
        optional last_handled_reconcile_at: Option<String> {}
    }
}

reconcile_status!(ImageUpdateAutomationStatus);

impl Spec for ImageUpdateAutomationSpec {
    type Status = ImageUpdateAutomationStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1",
        kind: "ImageUpdateAutomation",
        plural: "imageupdateautomations",
        short: &["iua", "imgupd", "imgauto"],
    };

    fn definition() -> Definition {
        Definition::of::<Self>("The latest images, written to Git.", CATEGORIES)
            .unobserved_at_first()
            .older(&["v1beta1", "v1beta2"])
            .columns([
                Column::READY,
                Column::STATUS,
                Column::new("Last run", ".status.lastAutomationRunTime").wide(),
                Column::AGE,
            ])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
