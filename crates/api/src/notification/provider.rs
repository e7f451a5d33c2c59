//! Provider: a service that gets events.

use super::{CATEGORIES, GROUP};
use crate::status::NoStatus;
use crate::{Column, Definition, Duration, Fields, LocalObjectReference, Names, Object, ReadError, Spec};

/// A service that gets events.
pub type Provider = Object<ProviderSpec>;

record! {
    /// Which service, and how to reach it.
    ProviderSpec {
        /// The kind of service.
        required r#type as "type": ProviderType {}
        /// How often it is looked at again. It has no effect.
        optional interval: Option<Duration> {}
        /// The channel to post to.
        optional channel: Option<String> { .length(0, 2048) }
        /// The name to post under.
        optional username: Option<String> { .length(0, 2048) }
        /// The address to post to, or the repository whose commits get a status.
        optional address: Option<String> { .length(0, 2048) }
        /// How long sending an event may take.
        optional timeout: Option<Duration> { .without_hours() }
        /// The address of an HTTP proxy. `proxySecretRef` replaces it.
        optional proxy: Option<String> { .length(0, 2048).pattern("^(http|https)://.*$") }
        /// A Secret with the address of a proxy, and `username` and `password` for it.
        optional proxy_secret_ref: Option<LocalObjectReference> {}
        /// A Secret with what the service asks for: `token`, `address`, `headers` and others.
        optional secret_ref: Option<LocalObjectReference> {}
        /// The ServiceAccount whose identity is used.
        optional service_account_name: Option<String> {}
        /// A Secret with `ca.crt`, or `tls.crt` and `tls.key`, for the connection.
        optional cert_secret_ref: Option<LocalObjectReference> {}
        /// Stops sending until it is false again.
        optional suspend: bool {}
        /// A CEL expression over `event`, `alert` and `provider` that gives the id of the commit status.
        optional commit_status_expr: Option<String> {}
    }
    rules {
        "self.type == 'github' || self.type == 'gitlab' || self.type == 'gitea' || self.type == 'bitbucketserver' || self.type == 'bitbucket' || self.type == 'azuredevops' || !has(self.commitStatusExpr)"
            => "spec.commitStatusExpr is only supported for the 'github', 'gitlab', 'gitea', 'bitbucketserver', 'bitbucket', 'azuredevops' provider types",
    }
}

choice! {
    /// A kind of service that gets events.
    ProviderType {
        Slack = "slack",
        Discord = "discord",
        MsTeams = "msteams",
        Rocket = "rocket",
        Generic = "generic",
        GenericHmac = "generic-hmac",
        GitHub = "github",
        GitLab = "gitlab",
        Gitea = "gitea",
        GiteaPullRequestComment = "giteapullrequestcomment",
        BitbucketServer = "bitbucketserver",
        Bitbucket = "bitbucket",
        AzureDevOps = "azuredevops",
        GoogleChat = "googlechat",
        GooglePubSub = "googlepubsub",
        Webex = "webex",
        Sentry = "sentry",
        AzureEventHub = "azureeventhub",
        Telegram = "telegram",
        Lark = "lark",
        Matrix = "matrix",
        OpsGenie = "opsgenie",
        Alertmanager = "alertmanager",
        Grafana = "grafana",
        GitHubDispatch = "githubdispatch",
        GitHubPullRequestComment = "githubpullrequestcomment",
        GitLabMergeRequestComment = "gitlabmergerequestcomment",
        PagerDuty = "pagerduty",
        DataDog = "datadog",
        Nats = "nats",
        Zulip = "zulip",
        Otel = "otel",
        Zoom = "zoom",
        IncidentIo = "incident.io",
    }
}

impl Spec for ProviderSpec {
    type Status = NoStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1beta3",
        kind: "Provider",
        plural: "providers",
        short: &[],
    };

    fn definition() -> Definition {
        Definition::of::<Self>("A service that gets events.", CATEGORIES)
            .stateless()
            .older(&["v1beta1", "v1beta2"])
            .columns([Column::AGE])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
