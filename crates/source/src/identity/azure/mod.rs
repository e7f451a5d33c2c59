//! Azure: tokens of the controller, of an application or of a ServiceAccount.

mod application;
mod pkcs12;
mod registry;

use secrecy::{ExposeSecret, SecretString};

pub use application::{AUTHORITY, Application, CertificateError, Proof};
pub(super) use registry::Registry;

use super::ask::Server;
use super::caller::{Caller, ServiceAccount};
use super::identities::Context;
use super::{Error, Grant, read_file};
use crate::http::escape;

/// What tokens for Blob Storage are asked for.
pub(super) const STORAGE: &str = "https://storage.azure.com/.default";
/// What tokens for Azure DevOps are asked for.
pub(super) const DEV_OPS: &str = "499b84ac-1321-427f-aa17-267ca6975798/.default";

/// Where the metadata server is.
const METADATA: &str = "http://169.254.169.254";

/// Who the token of a ServiceAccount is for.
const AUDIENCE: &str = "api://AzureADTokenExchange";
const TENANT: &str = "azure.workload.identity/tenant-id";
const CLIENT: &str = "azure.workload.identity/client-id";
const ID_PATTERN: &str = r"^[a-zA-Z0-9.-]{1,200}$";

/// A token for whoever asks.
pub(super) async fn access(context: &Context<'_>, caller: &Caller, scope: &str) -> Result<Grant, Error> {
    match caller {
        Caller::Controller => of_controller(context, scope).await,
        Caller::ServiceAccount(account) => of_service_account(context, account, scope).await,
    }
}

/// From the secret of an application, the token that the webhook of workload identity mounts, or the machine: the first that
/// is set up counts.
async fn of_controller(context: &Context<'_>, scope: &str) -> Result<Grant, Error> {
    let variable = |name: &str| context.environment.get(name);
    let client = variable("AZURE_CLIENT_ID");
    let proof = match (
        variable("AZURE_CLIENT_SECRET"),
        variable("AZURE_FEDERATED_TOKEN_FILE"),
    ) {
        (Some(secret), _) => Some(Proof::Secret(secret.into())),
        (None, Some(file)) => Some(Proof::Assertion(read_file(file).await?)),
        (None, None) => None,
    };
    match (client, variable("AZURE_TENANT_ID"), proof) {
        (Some(client), Some(tenant), Some(proof)) => {
            let application = application(context, tenant, client, proof);
            application.token(scope, context.now).await
        }
        _ => of_machine(context, client, scope).await,
    }
}

async fn of_service_account(
    context: &Context<'_>,
    account: &ServiceAccount,
    scope: &str,
) -> Result<Grant, Error> {
    let need = |key: &'static str| {
        let value = account.annotation(key, ID_PATTERN)?;
        value.ok_or_else(|| account.wrong(key, "", ID_PATTERN))
    };
    let (tenant, client) = (need(TENANT)?, need(CLIENT)?);
    let proof = Proof::Assertion(account.token(AUDIENCE).await?);
    let application = application(context, &tenant, &client, proof);
    application.token(scope, context.now).await
}

fn application(context: &Context<'_>, tenant: &str, client_id: &str, proof: Proof) -> Application {
    let authority = context.endpoints.azure_authority.as_deref();
    Application {
        tenant: tenant.to_owned(),
        client_id: client_id.to_owned(),
        proof,
        authority: authority.unwrap_or(AUTHORITY).to_owned(),
        client: context.client.clone(),
    }
}

/// The identity that Azure manages for the machine: one of several where its client is named.
pub(super) async fn of_machine(
    context: &Context<'_>,
    client: Option<&str>,
    scope: &str,
) -> Result<Grant, Error> {
    let base = context.endpoints.azure_metadata.as_deref().unwrap_or(METADATA);
    let base = base.trim_end_matches('/');
    let resource = scope.strip_suffix("/.default").unwrap_or(scope);
    let mut query = vec![
        ("api-version", "2018-02-01".to_owned()),
        ("resource", resource.to_owned()),
    ];
    query.extend(client.map(|client| ("client_id", client.to_owned())));
    let address = format!("{base}/metadata/identity/oauth2/token?{}", escape::query(&query));
    let request = context.near.get(&address).header("metadata", "true");
    Server::new(&address, []).token(request, context.now).await
}

/// The user that tokens of registries are used with.
pub(super) const REGISTRY_USER: &str = "00000000-0000-0000-0000-000000000000";

/// A secret as text of a form.
fn field(secret: &SecretString) -> String {
    secret.expose_secret().to_owned()
}
