//! What the surroundings of this process say about its identity.

use std::collections::BTreeMap;

/// Environment variables. They are handed in, so that nothing here reads those of the process.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// These variables. Empty ones count as if they were not there.
    pub fn of<K: Into<String>, V: Into<String>>(variables: impl IntoIterator<Item = (K, V)>) -> Self {
        let variables = variables.into_iter();
        let variables = variables.map(|(key, value)| (key.into(), value.into()));
        Environment(variables.filter(|(_, value)| !value.is_empty()).collect())
    }

    /// The variables of this process that say something about its identity.
    pub fn of_process() -> Self {
        let known = ["AWS_", "AZURE_", "GOOGLE_", "GCE_"];
        let variables = std::env::vars_os().filter_map(|(key, value)| {
            let (key, value) = (key.into_string().ok()?, value.into_string().ok()?);
            known
                .iter()
                .any(|prefix| key.starts_with(prefix))
                .then_some((key, value))
        });
        Environment::of(variables)
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Where the servers are that give credentials. What is not set is where the cloud has it.
#[derive(Clone, Debug, Default)]
pub struct Endpoints {
    /// The token service of AWS, of any region.
    pub aws_sts: Option<String>,
    /// The interface of ECR, of any region.
    pub aws_ecr: Option<String>,
    /// The interface of the public ECR.
    pub aws_ecr_public: Option<String>,
    /// The metadata server of EC2.
    pub aws_metadata: Option<String>,
    /// Who gives tokens of Azure.
    pub azure_authority: Option<String>,
    /// The metadata server of Azure.
    pub azure_metadata: Option<String>,
    /// The registries of Azure, of any name: where tokens are exchanged.
    pub azure_registry: Option<String>,
    /// The metadata server of Google Cloud.
    pub gcp_metadata: Option<String>,
    /// The token service of Google Cloud.
    pub gcp_sts: Option<String>,
    /// The service of Google Cloud that lets one account act as another.
    pub gcp_iam: Option<String>,
}

impl Endpoints {
    /// What the environment says, in the variables that the libraries of the clouds read.
    pub fn of(environment: &Environment) -> Self {
        let text = |name: &str| environment.get(name).map(str::to_owned);
        let sure = |host: String| match host.contains("://") {
            true => host,
            false => format!("http://{host}"),
        };
        Endpoints {
            aws_sts: text("AWS_ENDPOINT_URL_STS"),
            aws_ecr: text("AWS_ENDPOINT_URL_ECR"),
            aws_ecr_public: text("AWS_ENDPOINT_URL_ECR_PUBLIC"),
            aws_metadata: text("AWS_EC2_METADATA_SERVICE_ENDPOINT"),
            azure_authority: text("AZURE_AUTHORITY_HOST"),
            azure_metadata: text("AZURE_POD_IDENTITY_AUTHORITY_HOST"),
            gcp_metadata: text("GCE_METADATA_HOST").map(sure),
            ..Endpoints::default()
        }
    }
}
