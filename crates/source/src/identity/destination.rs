//! Destinations of cloud credentials: which servers may receive them.
//!
//! A token of a cloud identity opens everything that the identity may use. An object names the server
//! that receives it, so the server must be one of the cloud's own, reached over TLS that the system's
//! authorities vouch for. The operator may add endpoints ([`Endpoint`]); objects cannot.

use std::fmt;
use std::str::FromStr;

use url::Url;

use super::Error;
use crate::http::Tls;

/// The server that is about to receive credentials.
#[derive(Clone, Copy, Debug)]
pub enum Destination<'a> {
    /// A server that the program or its operator chose.
    Configured,
    /// A server that an object chose.
    Named {
        /// Its address, with scheme.
        address: &'a str,
        /// What the connection is checked against.
        tls: &'a Tls,
        /// Whether the object also chose the proxy to it.
        proxied: bool,
    },
}

/// A service that takes credentials of a cloud identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    S3,
    AzureStorage,
    AzureDevOps,
    AzureKeyVault,
    GoogleStorage,
    ElasticRegistry,
    AzureRegistry,
    GoogleRegistry,
    CodeCommit,
}

/// The services, as the operator names them in [`Endpoint`]s.
const NAMES: [(&str, Service); 9] = [
    ("s3", Service::S3),
    ("ecr", Service::ElasticRegistry),
    ("codecommit", Service::CodeCommit),
    ("azure-storage", Service::AzureStorage),
    ("azure-devops", Service::AzureDevOps),
    ("azure-key-vault", Service::AzureKeyVault),
    ("azure-registry", Service::AzureRegistry),
    ("google-storage", Service::GoogleStorage),
    ("google-registry", Service::GoogleRegistry),
];

impl Service {
    /// The name that messages show.
    fn shown(self) -> &'static str {
        match self {
            Service::S3 => "Amazon S3",
            Service::AzureStorage => "Azure Blob Storage",
            Service::AzureDevOps => "Azure DevOps",
            Service::AzureKeyVault => "Azure Key Vault",
            Service::GoogleStorage => "Google Cloud Storage",
            Service::ElasticRegistry => "Amazon ECR",
            Service::AzureRegistry => "Azure Container Registry",
            Service::GoogleRegistry => "Google Artifact Registry",
            Service::CodeCommit => "AWS CodeCommit",
        }
    }

    /// Returns whether a host, in lower case, serves this.
    fn is_at(self, host: &str) -> bool {
        let below = |domains: &[&str]| {
            let names = domains.iter().filter_map(|domain| host.strip_suffix(domain));
            names
                .filter_map(|name| name.strip_suffix('.'))
                .any(|name| !name.is_empty())
        };
        match self {
            Service::S3 => is_s3(host),
            Service::AzureStorage => below(&[
                "blob.core.windows.net",
                "blob.core.chinacloudapi.cn",
                "blob.core.usgovcloudapi.net",
                "blob.core.cloudapi.de",
                "blob.storage.azure.net",
            ]),
            Service::AzureDevOps => host == "dev.azure.com" || below(&["dev.azure.com", "visualstudio.com"]),
            Service::AzureKeyVault => below(&[
                "vault.azure.net",
                "vault.azure.cn",
                "vault.usgovcloudapi.net",
                "vault.microsoftazure.de",
                "managedhsm.azure.net",
                "managedhsm.azure.cn",
                "managedhsm.usgovcloudapi.net",
            ]),
            Service::GoogleStorage => is_google_storage(host),
            // Their names were already checked against the names of the cloud.
            Service::ElasticRegistry
            | Service::AzureRegistry
            | Service::GoogleRegistry
            | Service::CodeCommit => true,
        }
    }
}

/// The domains of AWS, by partition.
const AWS_DOMAINS: [&str; 7] = [
    "amazonaws.com",
    "amazonaws.com.cn",
    "amazonaws.eu",
    "c2s.ic.gov",
    "sc2s.sgov.gov",
    "cloud.adc-e.uk",
    "csp.hci.ic.gov",
];

/// Returns whether a host is S3. Load balancers, functions and machines of customers are in the same
/// domains, so every label right of the bucket is checked:
/// `[bucket.]s3[-fips|-accelerate|-REGION][.dualstack][.REGION][.vpce].DOMAIN`.
fn is_s3(host: &str) -> bool {
    let is_region = |label: &str| {
        let parts: Vec<&str> = label.split('-').collect();
        let words = parts.split_last().map(|(_, words)| words).unwrap_or_default();
        let is_word = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
        // `s3-website-us-east-1` is another service.
        let is_area = |word: &&str| word.len() == 2 || *word == "eusc";
        parts.len() >= 3
            && words.first().is_some_and(is_area)
            && words.iter().all(is_word)
            && parts
                .last()
                .is_some_and(|last| !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_service = |label: &str| {
        matches!(label, "s3" | "s3-fips" | "s3-accelerate")
            || label.strip_prefix("s3-").is_some_and(is_region)
    };
    AWS_DOMAINS.iter().any(|domain| {
        let name = host.strip_suffix(domain).and_then(|name| name.strip_suffix('.'));
        let mut labels: Vec<&str> = name.map(|name| name.split('.').collect()).unwrap_or_default();
        for is_optional in [
            (&|label: &str| label == "vpce") as &dyn Fn(&str) -> bool,
            &is_region,
            &|label: &str| label == "dualstack",
        ] {
            if labels.last().is_some_and(|label| is_optional(label)) {
                labels.pop();
            }
        }
        labels.last().is_some_and(|label| is_service(label))
    })
}

/// Returns whether a host is Google Cloud Storage: global, of a region, or a private endpoint.
fn is_google_storage(host: &str) -> bool {
    let Some(name) = host.strip_suffix(".googleapis.com") else {
        return false;
    };
    let is_label = |label: &str| !label.is_empty() && !label.contains('.');
    let private = name
        .strip_suffix(".p")
        .and_then(|name| name.strip_prefix("storage-"));
    let regional = name
        .strip_suffix(".rep")
        .and_then(|name| name.strip_prefix("storage."));
    matches!(name, "storage" | "www") || private.or(regional).is_some_and(is_label)
}

/// An endpoint that the operator allows for one service beside those of the cloud:
/// `SERVICE=https://HOST[:PORT]`, or `SERVICE=http://HOST[:PORT]` for an emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    service: Service,
    origin: url::Origin,
}

/// The text names no endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NoEndpoint;

impl fmt::Display for NoEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = NAMES.map(|(name, _)| name).join(", ");
        write!(
            f,
            "must be SERVICE=https://HOST[:PORT] or SERVICE=http://HOST[:PORT], with SERVICE one of {names}"
        )
    }
}

impl FromStr for Endpoint {
    type Err = NoEndpoint;

    fn from_str(text: &str) -> Result<Self, NoEndpoint> {
        let (name, address) = text.split_once('=').ok_or(NoEndpoint)?;
        let service = NAMES.iter().find(|(known, _)| *known == name.trim());
        let (_, service) = *service.ok_or(NoEndpoint)?;
        let address = address.trim();
        let url = match address.contains("://") {
            true => Url::parse(address),
            false => Url::parse(&format!("https://{address}")),
        };
        let origin = url.ok().filter(is_bare).ok_or(NoEndpoint)?.origin();
        Ok(Endpoint { service, origin })
    }
}

/// Returns whether an address is a host and nothing else.
fn is_bare(url: &Url) -> bool {
    matches!(url.scheme(), "https" | "http")
        && url.username().is_empty()
        && url.password().is_none()
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
}

impl Destination<'_> {
    /// Checks that credentials may go here. `allowed` are the endpoints that the operator added.
    pub(super) fn check(&self, service: Service, allowed: &[Endpoint]) -> Result<(), Error> {
        let Destination::Named {
            address,
            tls,
            proxied,
        } = *self
        else {
            return Ok(());
        };
        let refused = |why: &'static str| {
            Err(Error::Destination {
                address: crate::helm::address::without_secrets(address),
                service: service.shown(),
                why,
            })
        };
        let Ok(url) = Url::parse(address) else {
            return refused("the address is not a URL");
        };
        if !url.username().is_empty() || url.password().is_some() {
            return refused("the address holds a login");
        }
        let is_plain = url.scheme() != "https";
        let own_trust = tls.authorities.is_some() || tls.accept_any;
        let is_this = |endpoint: &Endpoint| endpoint.service == service && endpoint.origin == url.origin();
        if allowed.iter().any(is_this) {
            return match proxied && (is_plain || own_trust) {
                true => refused("the proxy that the object names could read them"),
                false => Ok(()),
            };
        }
        if is_plain {
            return refused("the connection is not encrypted");
        }
        if own_trust {
            return refused("the object names the authorities that its TLS certificate is checked against");
        }
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        match service.is_at(host.trim_end_matches('.')) {
            true => Ok(()),
            false => refused("the host does not belong to the service"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(address: &str, service: Service, allowed: &[Endpoint]) -> Result<(), Error> {
        let tls = Tls::default();
        let destination = Destination::Named {
            address,
            tls: &tls,
            proxied: false,
        };
        destination.check(service, allowed)
    }

    #[test]
    fn endpoints_of_the_clouds_are_accepted() {
        for (service, address) in [
            (Service::GoogleStorage, "https://storage.googleapis.com"),
            (
                Service::GoogleStorage,
                "https://storage.europe-west3.rep.googleapis.com",
            ),
            (Service::GoogleStorage, "https://storage-private.p.googleapis.com"),
            (Service::AzureStorage, "https://acme.blob.core.windows.net"),
            (Service::AzureStorage, "https://acme.z12.blob.storage.azure.net"),
            (Service::AzureDevOps, "https://dev.azure.com/org/project/_git/app"),
            (
                Service::AzureDevOps,
                "https://org.visualstudio.com/project/_git/app",
            ),
            (Service::AzureKeyVault, "https://acme.vault.azure.net"),
            (Service::S3, "https://s3.amazonaws.com"),
            (Service::S3, "https://S3.eu-west-1.amazonaws.com"),
            (Service::S3, "https://s3-eu-west-1.amazonaws.com"),
            (Service::S3, "https://s3.dualstack.us-gov-east-1.amazonaws.com"),
            (Service::S3, "https://s3-fips.us-east-1.amazonaws.com"),
            (Service::S3, "https://s3.eusc-de-east-1.amazonaws.eu"),
            (Service::S3, "https://my.bucket.s3.cn-north-1.amazonaws.com.cn"),
            (
                Service::S3,
                "https://bucket.vpce-1a-2b.s3.us-east-1.vpce.amazonaws.com",
            ),
        ] {
            assert!(to(address, service, &[]).is_ok(), "{address}");
        }
    }

    #[test]
    fn other_servers_are_refused() {
        for (service, address) in [
            (Service::GoogleStorage, "https://evil.example"),
            (
                Service::GoogleStorage,
                "https://evil.example/storage.googleapis.com",
            ),
            (
                Service::GoogleStorage,
                "https://storage.googleapis.com@evil.example",
            ),
            (
                Service::GoogleStorage,
                "https://storage.googleapis.com.evil.example",
            ),
            (Service::GoogleStorage, "https://evilstorage.googleapis.com"),
            (Service::GoogleStorage, "http://storage.googleapis.com"),
            (
                Service::AzureStorage,
                "https://blob.core.windows.net.evil.example",
            ),
            (Service::AzureStorage, "https://evilblob.core.windows.net"),
            (Service::AzureDevOps, "https://evil-visualstudio.com"),
            (Service::AzureDevOps, "ssh://git@ssh.dev.azure.com/v3/org/app"),
            (Service::AzureKeyVault, "https://evil.azurewebsites.net"),
            (Service::AzureKeyVault, "http://acme.vault.azure.net"),
            // Customers choose the first label of these.
            (Service::S3, "https://s3-123456.us-east-1.elb.amazonaws.com"),
            (Service::S3, "https://s3.execute-api.us-east-1.amazonaws.com"),
            (Service::S3, "https://ec2-192-0-2-1.compute-1.amazonaws.com"),
            (
                Service::S3,
                "https://vpce-1.vpce-svc-2.us-east-1.vpce.amazonaws.com",
            ),
            (Service::S3, "https://s3-website-us-east-1.amazonaws.com"),
            (Service::S3, "https://bucket.s3-website.us-east-1.amazonaws.com"),
            (Service::S3, "https://s3.amazonaws.com.evil.example"),
            (Service::S3, "https://amazonaws.com"),
            (Service::S3, "https://s3.us-east-1.amazonaws.com:80@evil.example"),
        ] {
            assert!(to(address, service, &[]).is_err(), "{address}");
        }
    }

    #[test]
    fn authorities_of_an_object_are_refused_at_every_cloud() {
        for (authorities, accept_any) in [(Some(b"pem".to_vec()), false), (None, true)] {
            let tls = Tls {
                authorities,
                accept_any,
                ..Tls::default()
            };
            let destination = Destination::Named {
                address: "https://team.azurecr.io",
                tls: &tls,
                proxied: false,
            };
            let refused = destination.check(Service::AzureRegistry, &[]);
            assert!(refused.unwrap_err().to_string().contains("authorities"));
        }
    }

    #[test]
    fn the_operator_adds_endpoints_by_scheme_host_and_port() {
        let allowed: Vec<Endpoint> = ["s3=http://127.0.0.1:9000", "s3=minio.example"]
            .map(|text| text.parse().unwrap())
            .to_vec();
        for address in ["http://127.0.0.1:9000", "https://minio.example:443/x"] {
            assert!(to(address, Service::S3, &allowed).is_ok(), "{address}");
        }
        for address in [
            "http://127.0.0.1:9001",
            "https://127.0.0.1:9000",
            "http://minio.example",
            "https://x.minio.example",
        ] {
            assert!(to(address, Service::S3, &allowed).is_err(), "{address}");
        }
        // A token for another service would let the server read what only that service may.
        assert!(to("https://minio.example", Service::GoogleStorage, &allowed).is_err());
        let tls = Tls::default();
        let read_by_proxy = Destination::Named {
            address: "http://127.0.0.1:9000",
            tls: &tls,
            proxied: true,
        };
        assert!(read_by_proxy.check(Service::S3, &allowed).is_err());
        for text in [
            "s3=ftp://host",
            "s3=https://host/path",
            "s3=https://u@host",
            "",
            "s3=",
            "https://host",
            "s4=https://host",
            "s3=https://host?x",
        ] {
            assert_eq!(text.parse::<Endpoint>(), Err(NoEndpoint), "{text}");
        }
    }
}
