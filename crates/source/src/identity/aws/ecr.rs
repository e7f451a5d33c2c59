//! Logins of the Elastic Container Registry.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use regex::Regex;
use serde::Deserialize;
use url::Url;

use super::super::ask::Server;
use super::super::identities::Context;
use super::super::{Error, Grant};
use super::sign::{self, Key, Unsigned};
use super::{Place, domain};

/// How private registries are named.
const PATTERN: &str = r"^[0-9]{12}\.dkr[.-]ecr(?:-fips)?\.([^/.]+)\.(amazonaws\.com(\.cn)?|amazonaws\.eu|sc2s\.sgov\.gov|c2s\.ic\.gov|cloud\.adc-e\.uk|csp\.hci\.ic\.gov|on\.aws|on\.amazonwebservices\.com\.cn)$";

/// The name of the public one, which is asked for in one region only.
const PUBLIC: &str = "public.ecr.aws";
const PUBLIC_REGION: &str = "us-east-1";

/// A registry of AWS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::identity) enum Registry {
    /// One of an account, in a region. One login is good for all of the region.
    Private { region: String },
    /// The one that is everyone's.
    Public,
}

impl Registry {
    /// What a name stands for.
    pub(in crate::identity) fn parse(registry: &str) -> Result<Self, Error> {
        static REGEX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PATTERN).ok());
        if registry == PUBLIC {
            return Ok(Registry::Public);
        }
        let found = REGEX.as_ref().and_then(|regex| regex.captures(registry));
        match found {
            Some(found) => Ok(Registry::Private {
                region: found[1].to_owned(),
            }),
            None => Err(Error::Registry {
                cloud: "AWS",
                registry: registry.to_owned(),
                pattern: PATTERN,
            }),
        }
    }

    fn region(&self) -> &str {
        match self {
            Registry::Private { region } => region,
            Registry::Public => PUBLIC_REGION,
        }
    }

    /// Where the key for it is asked for: so that an object needs to name no region.
    pub(in crate::identity) fn place(&self) -> Place {
        Place::region(self.region())
    }

    /// The login, for the holder of a key.
    pub(in crate::identity) async fn login(&self, context: &Context<'_>, key: &Key) -> Result<Grant, Error> {
        let region = self.region();
        let (given, service, target) = match self {
            Registry::Private { .. } => (
                &context.endpoints.aws_ecr,
                "ecr",
                "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken",
            ),
            Registry::Public => (
                &context.endpoints.aws_ecr_public,
                "ecr-public",
                "SpencerFrontendService.GetAuthorizationToken",
            ),
        };
        let usual = || format!("https://api.{service}.{region}.{}", domain(region));
        let address = given.clone().unwrap_or_else(usual);
        let server = Server::new(&address, [&key.secret].into_iter().chain(&key.session));
        let url: Url = address
            .parse()
            .map_err(|_| Error::Setup(format!("the address of {service} is not valid")))?;
        let said = [
            ("content-type", "application/x-amz-json-1.1".to_owned()),
            ("x-amz-target", target.to_owned()),
        ];
        let unsigned = Unsigned {
            method: "POST",
            host: &host_of(&url),
            path: "/",
            query: &[],
            headers: &said,
            body: b"{}",
            service,
        };
        let mut request = context.client.post(url.clone()).body("{}");
        for (name, value) in sign::headers(&unsigned, key, region, context.now) {
            request = request.header(name, value);
        }
        let answer: Answer = server.json(request, "login of a registry").await?;
        let given = match answer.authorization_data {
            Data::Many(many) => many.into_iter().next(),
            Data::One(one) => Some(one),
        };
        let login = given.and_then(read);
        login.ok_or_else(|| server.unreadable("login of a registry"))
    }
}

/// The host as it stands in a request.
fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    authorization_data: Data,
}

/// The private registry answers with a list, the public one does not.
#[derive(Deserialize)]
#[serde(untagged)]
enum Data {
    Many(Vec<Login>),
    One(Login),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Login {
    authorization_token: String,
    /// In seconds.
    expires_at: f64,
}

/// The user and password of a login.
fn read(login: Login) -> Option<Grant> {
    let plain = STANDARD.decode(&login.authorization_token).ok()?;
    let plain = String::from_utf8(plain).ok()?;
    let (user, password) = plain.split_once(':')?;
    #[allow(clippy::cast_possible_truncation, reason = "fractions of seconds are dropped")]
    let expires = Timestamp::from_second(login.expires_at as i64).ok()?;
    Some(Grant::login(user, password.into(), Some(expires)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_region_follows_from_the_name_of_the_registry() {
        for (name, region) in [
            ("012345678901.dkr.ecr.us-east-1.amazonaws.com", "us-east-1"),
            ("012345678901.dkr.ecr.cn-north-1.amazonaws.com.cn", "cn-north-1"),
            (
                "012345678901.dkr.ecr-fips.us-gov-west-1.amazonaws.com",
                "us-gov-west-1",
            ),
            (
                "012345678901.dkr.ecr.us-isob-east-1.sc2s.sgov.gov",
                "us-isob-east-1",
            ),
            ("012345678901.dkr-ecr.eu-west-1.on.aws", "eu-west-1"),
            (
                "012345678901.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn",
                "cn-north-1",
            ),
        ] {
            let registry = Registry::parse(name).unwrap();
            assert_eq!(registry.region(), region);
        }
        assert_eq!(Registry::parse("public.ecr.aws").unwrap().region(), "us-east-1");
    }

    #[test]
    fn a_registry_that_is_only_named_like_one_of_aws_is_refused() {
        for name in [
            "ghcr.io",
            "1234.dkr.ecr.us-east-1.amazonaws.com",
            "012345678901.dkr.ecr.us-east-1.amazonaws.com.evil.example",
            "evil.example/012345678901.dkr.ecr.us-east-1.amazonaws.com",
            "012345678901.dkr.ecr.us-east-1.amazonaws.com:5000",
        ] {
            assert!(Registry::parse(name).is_err(), "{name}");
        }
    }
}
