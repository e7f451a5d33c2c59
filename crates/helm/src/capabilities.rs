//! What templates may know of the cluster.

use crate::version::HelmVersion;

/// The version of Kubernetes, the kinds it serves, and the version of Helm.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// The version of Kubernetes.
    pub kube_version: KubeVersion,
    /// Groups with versions (`apps/v1`), and kinds in them (`apps/v1/Deployment`) where a cluster was asked.
    pub api_versions: Vec<String>,
    /// The version of Helm that is followed.
    pub helm_version: HelmVersion,
}

impl Capabilities {
    /// What Helm assumes where no cluster is asked.
    pub fn default_of(version: HelmVersion) -> Self {
        Capabilities {
            kube_version: KubeVersion {
                version: "v1.36.0".to_owned(),
                normalized: "v1.36.0".to_owned(),
                major: "1".to_owned(),
                minor: "36".to_owned(),
            },
            api_versions: API_VERSIONS.iter().map(|version| (*version).to_owned()).collect(),
            helm_version: version,
        }
    }
}

/// A version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeVersion {
    /// As it was given, with a leading `v`.
    pub version: String,
    /// The numbers of it alone: what ranges are compared with.
    pub normalized: String,
    /// The first number.
    pub major: String,
    /// The second number.
    pub minor: String,
}

/// A version is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct KubeVersionError(String);

impl KubeVersion {
    /// Reads a version: at least two numbers with dots between them, and anything that begins with none after them.
    pub fn parse(text: &str) -> Result<Self, KubeVersionError> {
        let trimmed = text.trim_start();
        let bare = trimmed.strip_prefix('v').unwrap_or(trimmed);
        let mut numbers = Vec::new();
        let mut rest = bare;
        loop {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            if end == 0 {
                break;
            }
            numbers.push(&rest[..end]);
            match rest[end..].strip_prefix('.') {
                Some(after) => rest = after,
                None => break,
            }
        }
        let quoted = model::quote::quote(text);
        match numbers.as_slice() {
            [] => return Err(KubeVersionError(format!("could not parse {quoted} as version"))),
            [_] => return Err(KubeVersionError(format!("illegal version string {quoted}"))),
            _ => {}
        }
        let mut read = Vec::new();
        for number in numbers {
            let number: u64 = number.parse().map_err(|_| {
                let number = model::quote::quote(number);
                KubeVersionError(format!(
                    "illegal non-numeric version component {number} in {quoted}"
                ))
            })?;
            read.push(number.to_string());
        }
        let version = match text.starts_with('v') {
            true => text.to_owned(),
            false => format!("v{text}"),
        };
        Ok(KubeVersion {
            version,
            normalized: format!("v{}", read.join(".")),
            major: read[0].clone(),
            minor: read[1].clone(),
        })
    }
}

/// The groups and versions that Helm 4.2.4 and 3.21.4 know of, in their order.
#[rustfmt::skip]
const API_VERSIONS: &[&str] = &[
    "v1",
    "admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1alpha1", "admissionregistration.k8s.io/v1beta1",
    "internal.apiserver.k8s.io/v1alpha1",
    "apps/v1", "apps/v1beta1", "apps/v1beta2",
    "authentication.k8s.io/v1", "authentication.k8s.io/v1alpha1", "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1", "authorization.k8s.io/v1beta1",
    "autoscaling/v1", "autoscaling/v2",
    "batch/v1", "batch/v1beta1",
    "certificates.k8s.io/v1", "certificates.k8s.io/v1beta1", "certificates.k8s.io/v1alpha1",
    "coordination.k8s.io/v1alpha2", "coordination.k8s.io/v1beta1", "coordination.k8s.io/v1",
    "discovery.k8s.io/v1", "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1", "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1beta1", "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "networking.k8s.io/v1", "networking.k8s.io/v1beta1",
    "node.k8s.io/v1", "node.k8s.io/v1alpha1", "node.k8s.io/v1beta1",
    "policy/v1", "policy/v1beta1",
    "rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io/v1beta1", "rbac.authorization.k8s.io/v1alpha1",
    "resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1", "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha2", "scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1",
    "storage.k8s.io/v1beta1", "storage.k8s.io/v1", "storage.k8s.io/v1alpha1",
    "storagemigration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1beta1", "apiextensions.k8s.io/v1",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_kubernetes_are_read_as_helm_reads_them() {
        let version = KubeVersion::parse("1.33.4-gke.1245000").unwrap();
        assert_eq!(version.version, "v1.33.4-gke.1245000");
        assert_eq!(version.normalized, "v1.33.4");
        assert_eq!((version.major.as_str(), version.minor.as_str()), ("1", "33"));
        assert_eq!(KubeVersion::parse("v1.30").unwrap().normalized, "v1.30");
        assert_eq!(
            KubeVersion::parse("abc").unwrap_err().to_string(),
            "could not parse \"abc\" as version"
        );
        assert_eq!(
            KubeVersion::parse("1.x").unwrap_err().to_string(),
            "illegal version string \"1.x\""
        );
        assert_eq!(KubeVersion::parse("1.030").unwrap().normalized, "v1.30");
    }
}
