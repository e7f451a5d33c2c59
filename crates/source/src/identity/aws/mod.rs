//! Amazon Web Services: keys of the controller or of a ServiceAccount, and what is signed with them.

mod codecommit;
mod controller;
mod ecr;
mod sign;
mod sts;

use std::sync::LazyLock;

use regex::Regex;

pub use sign::Key;
pub use sts::{Identity, Sts};

pub(super) use codecommit::Repository;
pub(super) use ecr::Registry;
pub(crate) use sign::{EMPTY, Unsigned, headers};

use super::caller::{Caller, ServiceAccount};
use super::identities::Context;
use super::{Error, Grant};

/// Who the token of a ServiceAccount is for.
const AUDIENCE: &str = "sts.amazonaws.com";

/// The role that a ServiceAccount has.
const ROLE: &str = "eks.amazonaws.com/role-arn";
const ROLE_PATTERN: &str = r"^arn:aws[\w-]*:iam::[0-9]{1,30}:role/.{1,200}$";

/// What an address of the token service must be.
const STS_PATTERN: &str = r"^https://(.+\.)?sts(-fips)?(\.[^.]+)?(\.vpce)?\.amazonaws\.com$";

/// Where keys are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The region; `None` is that of the environment.
    pub region: Option<String>,
    /// The token service, where it is not that of the region.
    pub sts: Option<String>,
}

impl Place {
    pub(super) fn region(region: &str) -> Self {
        Place {
            region: Some(region.to_owned()),
            sts: None,
        }
    }

    /// Checks what others have written: a wrong region or address must not lead a token to somebody else.
    fn check(&self) -> Result<(), Error> {
        static REGION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[a-z0-9-]{1,64}$").ok());
        static STS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(STS_PATTERN).ok());
        let is = |pattern: &Option<Regex>, text: &str| pattern.as_ref().is_some_and(|one| one.is_match(text));
        match (&self.region, &self.sts) {
            (Some(region), _) if !is(&REGION, region) => Err(Error::Setup(format!(
                "'{region}' is no AWS region: it must be like 'eu-west-1'"
            ))),
            (_, Some(sts))
                if !is(&STS, sts) || sts["https://".len()..].contains(['/', '@', '?', '#', '\\']) =>
            {
                let sts = crate::helm::address::without_secrets(sts);
                Err(Error::Setup(format!(
                    "invalid STS endpoint: '{sts}'. must match {STS_PATTERN}"
                )))
            }
            _ => Ok(()),
        }
    }
}

/// A key for whoever asks.
pub(super) async fn access(context: &Context<'_>, caller: &Caller, place: &Place) -> Result<Grant, Error> {
    place.check()?;
    match caller {
        Caller::Controller => {
            let region = place.region.as_deref();
            let region = region.or_else(|| context.environment.get("AWS_REGION"));
            let region = region.ok_or_else(|| {
                Error::Setup(
                    "the environment variable AWS_REGION is not set in the controller: where IAM Roles for Service Accounts or \
                     EKS Pod Identity are set up, recreate its pod so that EKS sets it; elsewhere set it, or the region of the \
                     object"
                        .to_owned(),
                )
            })?;
            controller::key(
                context,
                &Place {
                    region: Some(region.to_owned()),
                    ..place.clone()
                },
            )
            .await
        }
        Caller::ServiceAccount(account) => of_service_account(context, account, place).await,
    }
}

async fn of_service_account(
    context: &Context<'_>,
    account: &ServiceAccount,
    place: &Place,
) -> Result<Grant, Error> {
    let region = place.region.as_deref().ok_or_else(|| {
        Error::Setup(
            "an AWS region is required for authenticating with a service account: set one in the object's spec".to_owned(),
        )
    })?;
    let role = account.annotation(ROLE, ROLE_PATTERN)?;
    let role = role.ok_or_else(|| account.wrong(ROLE, "", ROLE_PATTERN))?;
    let identity = Identity::WebIdentity {
        role,
        session: session_name(account, region),
        token: account.token(AUDIENCE).await?,
    };
    sts::exchange(&context.client, &sts_address(context, place, region), &identity).await
}

/// What the session is called in the logs of AWS, which takes at most 64 letters.
fn session_name(account: &ServiceAccount, region: &str) -> String {
    let name = format!("{}.{}.{region}.fluxcd.io", account.name, account.namespace);
    name.chars().take(64).collect()
}

/// Where the token service of a region is.
fn sts_address(context: &Context<'_>, place: &Place, region: &str) -> String {
    let given = place.sts.clone().or_else(|| context.endpoints.aws_sts.clone());
    given.unwrap_or_else(|| format!("https://sts.{region}.{}", domain(region)))
}

/// The domain that the services of a region are in.
pub(crate) fn domain(region: &str) -> &'static str {
    match region {
        _ if region.starts_with("cn-") => "amazonaws.com.cn",
        _ if region.starts_with("eusc-") => "amazonaws.eu",
        _ if region.starts_with("us-iso-") => "c2s.ic.gov",
        _ if region.starts_with("us-isob-") => "sc2s.sgov.gov",
        _ if region.starts_with("eu-isoe-") => "cloud.adc-e.uk",
        _ if region.starts_with("us-isof-") => "csp.hci.ic.gov",
        _ => "amazonaws.com",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_or_address_that_leads_elsewhere_is_refused() {
        let place = |region: Option<&str>, sts: Option<&str>| Place {
            region: region.map(str::to_owned),
            sts: sts.map(str::to_owned),
        };
        assert!(place(Some("eu-west-1"), None).check().is_ok());
        assert!(place(Some("x@evil.example/"), None).check().is_err());
        for sts in [
            "https://sts.amazonaws.com",
            "https://sts-fips.us-east-1.amazonaws.com",
            "https://vpce-002b7cc8966426bc6-njisq19r.sts.us-east-1.vpce.amazonaws.com",
        ] {
            assert!(place(None, Some(sts)).check().is_ok(), "{sts}");
        }
        for sts in [
            "http://sts.amazonaws.com",
            "https://sts.evil.example",
            "https://evil.example/?.sts.amazonaws.com",
            "https://sts.amazonaws.com.evil.example",
        ] {
            assert!(place(None, Some(sts)).check().is_err(), "{sts}");
        }
    }
}
