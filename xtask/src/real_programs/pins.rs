//! What is fetched or built, in which version.

/// A program and where it comes from.
pub(super) struct Program {
    /// The file name.
    pub(super) name: &'static str,
    /// Its version, which names its folder too.
    pub(super) version: &'static str,
    /// The package that is unpacked, if there is one.
    pub(super) package: Option<Package>,
    /// What it is built from where there is no package, or none any more.
    pub(super) module: Module,
}

/// A Debian package.
pub(super) struct Package {
    /// Its path in an archive of Debian.
    pub(super) path: &'static str,
    /// The digest that the file must have.
    pub(super) sha256: &'static str,
}

impl Package {
    /// Its name, as its file has it.
    pub(super) fn name(&self) -> &'static str {
        let file = self.path.rsplit('/').next().unwrap_or(self.path);
        file.split('_').next().unwrap_or(file)
    }
}

/// A module of Go's registry.
pub(super) struct Module {
    /// Its path.
    pub(super) path: &'static str,
    /// The package in it, as a path from its root.
    pub(super) package: &'static str,
    /// Flags of the linker beside those that make programs small.
    pub(super) linker: &'static str,
    /// What is to be changed in its `go.mod`, as flags of `go mod edit`.
    pub(super) edits: &'static [&'static str],
}

/// All of them.
pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "docker-registry",
        version: "v2.8.2",
        package: Some(Package {
            path: "main/d/docker-registry/docker-registry_2.8.2+ds1-1_amd64.deb",
            sha256: "a9bd06c0e006854608f8469b4371743f40604ad90975532bb3b7ceeb72fe2913",
        }),
        module: Module {
            path: "github.com/distribution/distribution",
            package: "cmd/registry",
            linker: "",
            edits: &[],
        },
    },
    Program {
        name: "cosign",
        version: "v3.1.1",
        package: Some(Package {
            path: "main/c/cosign/cosign_3.1.1-2_amd64.deb",
            sha256: "d8622ebffce1d69197288fc030ff06a4c247af5507107f85c5a878870b686b23",
        }),
        module: Module {
            path: "github.com/sigstore/cosign/v3",
            package: "cmd/cosign",
            linker: "",
            edits: &[],
        },
    },
    Program {
        name: "notation",
        version: "v1.3.2",
        package: Some(Package {
            path: "main/g/golang-github-notaryproject-notation/notation_1.3.2-2_amd64.deb",
            sha256: "f99975ecb56869b85290b30322167d1392e7f7d4eebb40a8bec4386bb95a6789",
        }),
        module: Module {
            path: "github.com/notaryproject/notation",
            package: "cmd/notation",
            linker: "",
            edits: &[],
        },
    },
    Program {
        name: "oras",
        version: "v1.3.3",
        package: Some(Package {
            path: "main/o/oras/oras_1.3.3-1_amd64.deb",
            sha256: "474f8451e880a64d7daed412baa52febd1c7d988ed778eadac00bdcbdad53af4",
        }),
        module: Module {
            path: "oras.land/oras",
            package: "cmd/oras",
            linker: "",
            edits: &[],
        },
    },
    Program {
        name: "helm",
        version: "v4.2.4",
        package: None,
        module: Module {
            path: "helm.sh/helm/v4",
            package: "cmd/helm",
            linker: "",
            edits: &[],
        },
    },
    Program {
        name: "kustomize",
        version: "v5.8.1",
        package: None,
        module: Module {
            path: "sigs.k8s.io/kustomize/kustomize/v5",
            package: "",
            linker: "",
            edits: &[],
        },
    },
    Program {
        name: "sops",
        version: "v3.13.3",
        package: None,
        module: Module {
            path: "github.com/getsops/sops/v3",
            package: "cmd/sops",
            linker: "",
            edits: &[],
        },
    },
    Program {
        name: "flux",
        version: "v2.9.4",
        package: None,
        module: Module {
            path: "github.com/fluxcd/flux2/v2",
            package: "cmd/flux",
            linker: " -X main.VERSION=2.9.4",
            edits: &[],
        },
    },
    Program {
        name: "source-controller",
        version: "v1.9.4",
        package: None,
        module: Module {
            path: "github.com/fluxcd/source-controller",
            package: "",
            linker: "",
            // The module of the kinds is replaced by a folder, which is not part of what is published; and of the module
            // of the store, the registry has only the version before the one that is asked for.
            edits: &[
                "-dropreplace=github.com/fluxcd/source-controller/api",
                "-replace=github.com/fluxcd/pkg/artifact=github.com/fluxcd/pkg/artifact@v0.18.1",
            ],
        },
    },
    Program {
        name: "kustomize-controller",
        version: "v1.9.5",
        package: None,
        module: Module {
            path: "github.com/fluxcd/kustomize-controller",
            package: "",
            linker: "",
            // As above; here it is the module of events.
            edits: &[
                "-dropreplace=github.com/fluxcd/kustomize-controller/api",
                "-replace=github.com/fluxcd/pkg/apis/event=github.com/fluxcd/pkg/apis/event@v0.27.1",
            ],
        },
    },
    Program {
        name: "helm-controller",
        version: "v1.6.3",
        package: None,
        module: Module {
            path: "github.com/fluxcd/helm-controller",
            package: "",
            linker: "",
            // As above; here it is Flux's fork of Helm that the registry lacks, so that it is Helm itself, of the same version.
            edits: &[
                "-dropreplace=github.com/fluxcd/helm-controller/api",
                "-replace=helm.sh/helm/v4=helm.sh/helm/v4@v4.2.4",
            ],
        },
    },
];

/// Modules whose files tests read from Go's module cache.
pub(super) const MODULES: &[&str] = &[
    // Bundles of sigstore's public instance.
    "github.com/sigstore/sigstore-go@v1.2.1",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_has_a_whole_digest_and_the_version_of_its_program() {
        for program in PROGRAMS {
            let Some(package) = &program.package else { continue };
            assert_eq!(package.sha256.len(), 64, "{}", program.name);
            assert!(package.path.contains(program.version.trim_start_matches('v')));
            assert_eq!(package.name(), program.name);
        }
    }
}
