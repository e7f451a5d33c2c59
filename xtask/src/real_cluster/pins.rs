//! The versions of everything that is built, and what each program is built from.

/// The oldest Kubernetes minor version whose behaviour the embedded server follows: the conformance suite
/// asserts this version's messages, so a move to another one is a change of its own.
pub(super) const KUBERNETES: &str = "v1.35.8";

/// 3.5.13 and later report watch progress, without which the API server's streaming lists do not work.
pub(super) const ETCD: &str = "v3.6.14";

/// Simulates the kubelet of a node that does not exist.
pub(super) const KWOK: &str = "v0.8.0";

/// The modules that `k8s.io/kubernetes` replaces by folders of its own repository. A build from the registry
/// has to replace them by their published versions instead.
pub(super) const STAGING: &[&str] = &[
    "api",
    "apiextensions-apiserver",
    "apimachinery",
    "apiserver",
    "cli-runtime",
    "client-go",
    "cloud-provider",
    "cluster-bootstrap",
    "code-generator",
    "component-base",
    "component-helpers",
    "controller-manager",
    "cri-api",
    "cri-client",
    "csi-translation-lib",
    "dynamic-resource-allocation",
    "endpointslice",
    "externaljwt",
    "kms",
    "kube-aggregator",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubectl",
    "kubelet",
    "metrics",
    "mount-utils",
    "pod-security-admission",
    "sample-apiserver",
    "sample-cli-plugin",
    "sample-controller",
];

/// The long-running programs of a cluster in the order in which they are started.
pub(super) const PARTS: [&str; 5] = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
];

/// A program and the module it comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    /// A command of `k8s.io/kubernetes`.
    Kubernetes(&'static str),
    /// The etcd server.
    Etcd,
    /// The simulated node.
    Kwok,
}

impl Program {
    /// The file name of the program.
    pub(super) fn name(self) -> &'static str {
        match self {
            Program::Kubernetes(name) => name,
            Program::Etcd => "etcd",
            Program::Kwok => "kwok",
        }
    }

    /// What to tell somebody who waits for the build on two cores with an empty cache.
    pub(super) fn build_time(self) -> &'static str {
        match self {
            Program::Kubernetes("kube-apiserver") => "about 4 minutes",
            Program::Kubernetes("kube-controller-manager") | Program::Kwok => "about a minute",
            Program::Kubernetes(_) | Program::Etcd => "up to half a minute",
        }
    }
}

/// The programs of a cluster without or with a simulated node.
pub(super) fn needed(nodes: bool) -> &'static [Program] {
    const ALL: &[Program] = &[
        Program::Etcd,
        Program::Kubernetes("kube-apiserver"),
        Program::Kubernetes("kube-controller-manager"),
        Program::Kubernetes("kubectl"),
        Program::Kubernetes("kube-scheduler"),
        Program::Kwok,
    ];
    if nodes { ALL } else { &ALL[..4] }
}
