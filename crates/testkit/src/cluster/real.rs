//! A cluster that somebody else has started.

use std::env;
use std::path::{Path, PathBuf};

use kube::Client;
use kube::config::{AuthInfo, Config, KubeConfigOptions, Kubeconfig};

use super::Error;

/// How to reach the cluster of `SLUICE_TEST_KUBECONFIG`.
pub(super) struct Real {
    path: PathBuf,
    config: Config,
    /// The cluster is thrown away after the tests: what they leave behind does not matter.
    pub(super) disposable: bool,
}

impl Real {
    /// Nothing when `SLUICE_TEST_KUBECONFIG` is not set.
    pub(super) async fn from_environment() -> Result<Option<Real>, Error> {
        let Some(path) = env::var_os("SLUICE_TEST_KUBECONFIG").filter(|path| !path.is_empty()) else {
            return Ok(None);
        };
        let path = PathBuf::from(path);
        let unusable = |source| Error::Kubeconfig {
            path: path.display().to_string(),
            source,
        };
        let file = Kubeconfig::read_from(&path).map_err(|error| unusable(error.into()))?;
        let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
            .await
            .map_err(|error| unusable(error.into()))?;
        config.default_retry = false;
        // The cluster is near; tests of proxies set this for the code under test.
        config.proxy_url = None;
        let disposable = env::var_os("SLUICE_TEST_CLUSTER_DISPOSABLE").is_some_and(|value| value == "1");
        Ok(Some(Real {
            path,
            config,
            disposable,
        }))
    }

    pub(super) fn client(&self) -> Result<Client, Error> {
        self.client_of(self.config.clone())
    }

    pub(super) fn client_without_credentials(&self) -> Result<Client, Error> {
        let mut config = self.config.clone();
        config.auth_info = AuthInfo::default();
        self.client_of(config)
    }

    pub(super) fn client_with_token(&self, token: &str) -> Result<Client, Error> {
        let mut config = self.config.clone();
        config.auth_info = AuthInfo {
            token: Some(token.to_owned().into()),
            ..AuthInfo::default()
        };
        self.client_of(config)
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        &self.path
    }

    /// For the thread that cleans up, which makes a client of its own.
    pub(super) fn config(&self) -> Config {
        self.config.clone()
    }

    fn client_of(&self, config: Config) -> Result<Client, Error> {
        Client::try_from(config).map_err(|error| Error::Kubeconfig {
            path: self.path.display().to_string(),
            source: error.into(),
        })
    }
}
