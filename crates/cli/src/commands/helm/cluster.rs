//! How Helm's flags and variables name a cluster.

use std::path::PathBuf;

use kube::config::Kubeconfig;

use crate::commands::cluster::Cluster;

const CLUSTER: &str = "Cluster (for --dry-run=server)";

#[derive(clap::Args)]
pub(super) struct Flags {
    /// The kubeconfig file
    #[arg(help_heading = CLUSTER, long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig
    #[arg(help_heading = CLUSTER, long, env = "HELM_KUBECONTEXT", value_name = "NAME")]
    kube_context: Option<String>,
    /// The token that proves who asks
    #[arg(help_heading = CLUSTER, long, env = "HELM_KUBETOKEN", hide_env_values = true, value_name = "TOKEN")]
    kube_token: Option<String>,
    /// Ask as this user
    #[arg(help_heading = CLUSTER, long, env = "HELM_KUBEASUSER", value_name = "USER")]
    kube_as_user: Option<String>,
    /// Ask as a member of this group; may be repeated
    #[arg(help_heading = CLUSTER, long, env = "HELM_KUBEASGROUPS", value_delimiter = ',', value_name = "GROUP")]
    kube_as_group: Vec<String>,
    /// The address of the API server
    #[arg(help_heading = CLUSTER, long, env = "HELM_KUBEAPISERVER", value_name = "URL")]
    kube_apiserver: Option<String>,
    /// The certificates of those who may vouch for the server
    #[arg(help_heading = CLUSTER, long, env = "HELM_KUBECAFILE", value_name = "FILE")]
    kube_ca_file: Option<String>,
    /// The name that the certificate of the server has to be for
    #[arg(help_heading = CLUSTER, long, env = "HELM_KUBETLS_SERVER_NAME", value_name = "NAME")]
    kube_tls_server_name: Option<String>,
    /// Trust any server
    #[arg(help_heading = CLUSTER, long, env = "HELM_KUBEINSECURE_SKIP_TLS_VERIFY")]
    kube_insecure_skip_tls_verify: bool,
    #[arg(long, hide = true)]
    burst_limit: Option<i64>,
    #[arg(long, hide = true)]
    qps: Option<f32>,
}

impl Flags {
    /// The cluster they name.
    pub(super) fn cluster(&self) -> Cluster {
        Cluster {
            kubeconfig: self.kubeconfig.clone(),
            context: given(self.kube_context.as_ref()),
            server: given(self.kube_apiserver.as_ref()),
            tls_server_name: given(self.kube_tls_server_name.as_ref()),
            certificate_authority: given(self.kube_ca_file.as_ref()).map(PathBuf::from),
            insecure_skip_tls_verify: self.kube_insecure_skip_tls_verify,
            token: given(self.kube_token.as_ref()),
            as_user: given(self.kube_as_user.as_ref()),
            as_group: self
                .kube_as_group
                .iter()
                .filter(|group| !group.is_empty())
                .cloned()
                .collect(),
            ..Cluster::default()
        }
    }

    /// The namespace of the kubeconfig's context, which Helm takes also where it asks no cluster. A kubeconfig that cannot be read has none.
    pub(super) fn namespace(&self) -> Option<String> {
        let read = match &self.kubeconfig {
            Some(path) => Kubeconfig::read_from(path),
            None => Kubeconfig::read(),
        };
        let kubeconfig = read.ok()?;
        let name = given(self.kube_context.as_ref()).or(kubeconfig.current_context)?;
        let mut contexts = kubeconfig.contexts.into_iter();
        let context = contexts.find(|context| context.name == name)?.context?;
        context.namespace.filter(|namespace| !namespace.is_empty())
    }
}

/// What was given: an empty variable says nothing.
fn given(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}
