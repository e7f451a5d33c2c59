//! The metadata server of Google's machines and of GKE.

use super::super::ask::Server;
use super::super::identities::Context;
use super::super::{Error, Grant};
use crate::http::escape;

/// Where it is, also without names.
const ADDRESS: &str = "http://169.254.169.254";

/// The cluster that we run in.
pub(super) struct Cluster {
    project: String,
    location: String,
    name: String,
}

impl Cluster {
    /// Who the token of a ServiceAccount is for.
    pub(super) fn pool(&self) -> String {
        format!("{}.svc.id.goog", self.project)
    }

    /// Who exchanges it.
    pub(super) fn audience(&self) -> String {
        let Cluster {
            project,
            location,
            name,
        } = self;
        let pool = self.pool();
        format!(
            "identitynamespace:{pool}:https://container.googleapis.com/v1/projects/{project}/locations/{location}/clusters/{name}"
        )
    }
}

fn base(context: &Context<'_>) -> String {
    let base = context.endpoints.gcp_metadata.as_deref().unwrap_or(ADDRESS);
    format!("{}/computeMetadata/v1", base.trim_end_matches('/'))
}

/// A token of the account that the machine or pod has.
pub(super) async fn token(context: &Context<'_>, scopes: &[&str]) -> Result<Grant, Error> {
    let scopes = escape::escape(&scopes.join(","));
    let address = format!(
        "{}/instance/service-accounts/default/token?scopes={scopes}",
        base(context)
    );
    let request = context.near.get(&address).header("metadata-flavor", "Google");
    Server::new(&address, []).token(request, context.now).await
}

/// What cluster we are in.
pub(super) async fn cluster(context: &Context<'_>) -> Result<Cluster, Error> {
    let text = async |path: &str| {
        let address = format!("{}/{path}", base(context));
        let server = Server::new(&address, []);
        let request = context.near.get(&address).header("metadata-flavor", "Google");
        let answer = server.send(request).await?;
        if !answer.status.is_success() {
            return Err(server.refused(&answer, ""));
        }
        let text = String::from_utf8(answer.body).unwrap_or_default();
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-.:_".contains(letter);
        match !text.is_empty() && text.chars().all(is_name) {
            true => Ok(text),
            false => Err(server.unreadable("name")),
        }
    };
    Ok(Cluster {
        project: text("project/project-id").await?,
        location: text("instance/attributes/cluster-location").await?,
        name: text("instance/attributes/cluster-name").await?,
    })
}
