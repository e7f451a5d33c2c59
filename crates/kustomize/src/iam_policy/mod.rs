//! `IAMPolicyGenerator`: a service account that stands for one of Google's cloud.

use model::Value;
use yaml::node::Texts;

use crate::config::{self, Strictness};
use crate::resource::{Resource, from_text};

config::fields! {
    /// What the account is to be.
    struct Args in "IAMPolicyGeneratorArgs" {
        cloud: String = "cloud",
        kubernetes_service: Service = "kubernetesService",
        service_account: Account = "serviceAccount",
    }
}

config::fields! {
    /// The account in the cluster.
    struct Service in "KubernetesService" {
        name: String = "name",
        namespace: String = "namespace",
    }
}

config::fields! {
    /// The account in the cloud.
    struct Account in "ServiceAccount" {
        name: String = "name",
        project_id: String = "projectId",
    }
}

/// Makes the service account.
pub(crate) fn generate(value: &Value) -> Result<Vec<Resource>, String> {
    let args: Args = config::decode(value, Strictness::Lax)?;
    if args.cloud != "gke" {
        return Err(format!("cloud provider {} not supported yet", args.cloud));
    }
    let mut text = format!(
        "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  annotations:\n    iam.gke.io/gcp-service-account: \
         {}@{}.iam.gserviceaccount.com\n  name: {}\n",
        args.service_account.name, args.service_account.project_id, args.kubernetes_service.name
    );
    if !args.kubernetes_service.namespace.is_empty() {
        text.push_str("  namespace: ");
        text.push_str(&args.kubernetes_service.namespace);
        text.push('\n');
    }
    let parsed = from_text(&text, &mut Texts::default()).map_err(|malformed| malformed.message)?;
    Ok(parsed.into_iter().map(|parsed| parsed.resource).collect())
}
