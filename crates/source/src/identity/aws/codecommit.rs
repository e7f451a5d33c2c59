//! Logins of CodeCommit repositories: the password is a signature of the address, good for a quarter of an hour.

use jiff::{SignedDuration, Timestamp};
use secrecy::ExposeSecret;

use super::super::{Error, Grant};
use super::Place;
use super::sign;
use crate::git::{Scheme, Url};

/// How long the server takes a signature.
const VALID: SignedDuration = SignedDuration::from_mins(15);

/// A repository of CodeCommit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::identity) struct Repository {
    host: String,
    path: String,
    region: String,
}

impl Repository {
    /// What an address stands for.
    pub(in crate::identity) fn parse(url: &Url) -> Result<Self, Error> {
        let host = url.host();
        let refused = || Error::Repository {
            what: "AWS CodeCommit (https://git-codecommit.<region>.amazonaws.com/...)",
            host: host.to_owned(),
        };
        let rest = host
            .strip_prefix("git-codecommit.")
            .or_else(|| host.strip_prefix("git-codecommit-fips."));
        let region = rest.and_then(|rest| {
            rest.strip_suffix(".amazonaws.com")
                .or_else(|| rest.strip_suffix(".amazonaws.com.cn"))
        });
        let region = region.filter(|region| !region.is_empty() && !region.contains('.'));
        if url.scheme() != Scheme::Https {
            return Err(refused());
        }
        Ok(Repository {
            region: region.ok_or_else(refused)?.to_owned(),
            host: url.authority(),
            path: url.path().to_owned(),
        })
    }

    /// Where the key for it is asked for: so that an object needs to name no region.
    pub(in crate::identity) fn place(&self) -> Place {
        Place::region(&self.region)
    }

    /// The user and password, for the holder of a key.
    pub(in crate::identity) fn login(&self, access: &Grant, now: Timestamp) -> Grant {
        let time = now.strftime("%Y%m%dT%H%M%S").to_string();
        let canonical = format!("GIT\n{}\n\nhost:{}\n\nhost\n", self.path, self.host);
        let scope = sign::Scope {
            time: &time,
            region: &self.region,
            service: "codecommit",
        };
        let signature = scope.signature(&canonical, &access.secret);
        let user = match &access.session {
            Some(session) => format!("{}%{}", access.name, session.expose_secret()),
            None => access.name.clone(),
        };
        let end = now.saturating_add(VALID).unwrap_or(now);
        let end = access.expires.map_or(end, |expires| expires.min(end));
        Grant::login(user, format!("{time}Z{signature}").into(), Some(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Repository, Error> {
        Repository::parse(&url.parse().unwrap())
    }

    #[test]
    fn the_region_follows_from_the_address() {
        for (url, region) in [
            (
                "https://git-codecommit.us-east-1.amazonaws.com/v1/repos/app",
                "us-east-1",
            ),
            (
                "https://git-codecommit-fips.us-west-2.amazonaws.com/v1/repos/app",
                "us-west-2",
            ),
            (
                "https://git-codecommit.cn-north-1.amazonaws.com.cn/v1/repos/app",
                "cn-north-1",
            ),
        ] {
            assert_eq!(parse(url).unwrap().region, region);
        }
        for url in [
            "http://git-codecommit.us-east-1.amazonaws.com/v1/repos/app",
            "ssh://git-codecommit.us-east-1.amazonaws.com/v1/repos/app",
            "https://git-codecommit.us-east-1.amazonaws.com.evil.example/v1/repos/app",
            "https://git-codecommit.evil.example.amazonaws.com/v1/repos/app",
            "https://github.com/org/app",
        ] {
            assert!(parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn the_password_is_the_one_that_flux_makes() {
        // Made by the signer of smithy-go with the options of Flux, and the same as of the `aws` program's helper.
        let repository = parse("https://git-codecommit.us-east-1.amazonaws.com/v1/repos/my-app").unwrap();
        let mut access = Grant::login(
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            None,
        );
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let login = repository.login(&access, now);
        assert_eq!(
            login.secret.expose_secret(),
            "20260102T030405Z4fec311dbf16b509bd0fe3b44bcfbb6977b0750538cad86953be9225e87b69e3"
        );
        assert_eq!(login.name, "AKIAIOSFODNN7EXAMPLE");
        assert_eq!(login.expires, Some(now + VALID));
        access.session = Some("session".into());
        access.expires = Some(now);
        let login = repository.login(&access, now);
        assert_eq!(login.name, "AKIAIOSFODNN7EXAMPLE%session");
        assert_eq!(login.expires, Some(now), "no longer than the key");
    }
}
