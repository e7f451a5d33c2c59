//! What a build goes on without after a mistake, and what may only follow from that.

use crate::problem::Needs;

/// What is missing, or may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lost {
    /// Objects of any kind.
    pub(super) objects: bool,
    /// ConfigMaps and Secrets.
    pub(super) data: bool,
    /// The names and namespaces that objects should have got.
    pub(super) names: bool,
}

impl Lost {
    pub(super) const OBJECTS: Lost = Lost {
        objects: true,
        data: true,
        names: false,
    };

    pub(super) const NAMES: Lost = Lost {
        objects: false,
        data: false,
        names: true,
    };

    pub(super) const ALL: Lost = Lost {
        objects: true,
        data: true,
        names: true,
    };

    /// What is missing when a field of a kustomization cannot be read.
    pub(super) fn through(field: &str) -> Lost {
        match field {
            "components" => Lost::ALL,
            "resources"
            | "bases"
            | "generators"
            | "helmCharts"
            | "helmGlobals"
            | "helmChartInflationGenerator" => Lost::OBJECTS,
            "configMapGenerator" | "secretGenerator" => Lost {
                data: true,
                ..Lost::default()
            },
            "namePrefix" | "nameSuffix" | "namespace" | "transformers" => Lost::NAMES,
            _ => Lost::default(),
        }
    }

    /// Adds what is missing elsewhere.
    pub(super) fn add(&mut self, other: Lost) {
        self.objects |= other.objects;
        self.data |= other.data;
        self.names |= other.names;
    }

    /// Whether what a problem needs may be among what is missing.
    pub(super) fn may_explain(self, needs: &Needs) -> bool {
        match needs {
            Needs::Nothing => false,
            Needs::Names => self.names,
            Needs::Object(kind) => {
                let may_be_data = matches!(kind.as_str(), "" | "ConfigMap" | "Secret");
                self.objects || self.names || self.data && may_be_data
            }
        }
    }
}
