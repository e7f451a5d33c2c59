//! Starts the parts of a cluster in order, each once the one before is ready.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;

use super::build::{self, Programs};
use super::home::{ClusterHome, Home};
use super::process::{self, Record};
use super::{certificates, etcd, kubeconfig, pins};

/// How long one part may take to become ready; a busy machine needs a few seconds.
const READY_LIMIT: Duration = Duration::from_secs(120);

/// What to start.
#[derive(Args)]
pub(crate) struct Options {
    /// Also start a scheduler and a simulated node, so that Pods become ready
    #[arg(long)]
    nodes: bool,
    /// Port of the API server, the next two are etcd's; free ones are chosen when it is not given
    #[arg(long)]
    port: Option<u16>,
    /// Write every request to audit.log in the cluster's folder
    #[arg(long)]
    audit: bool,
    /// The log of every Pod, in the form that container runtimes write; none can be read unless this is given
    #[arg(long, requires = "nodes", value_name = "FILE")]
    pod_log: Option<PathBuf>,
}

/// Starts what does not run yet, waits until all is ready and returns the kubeconfig's path.
pub(super) fn start(home: &Home, name: &str, options: &Options) -> anyhow::Result<PathBuf> {
    let programs = build::programs(home, pins::needed(options.nodes))?;
    let started = Instant::now();
    let home = home.cluster(name);
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(home.path())
        .with_context(|| format!("failed to create {}", home.path().display()))?;
    certificates::write(&home)?;
    let ports = Ports::of(&home, options.port)?;
    let kubeconfig = kubeconfig::write(&home, ports.apiserver)?;

    let starter = Starter {
        home: &home,
        programs: &programs,
        ports,
        kubeconfig: &kubeconfig,
    };
    starter.etcd()?;
    starter.apiserver(options.audit)?;
    starter.controller_manager()?;
    if options.nodes {
        starter.scheduler()?;
        starter.node(options.pod_log.as_deref())?;
    }
    eprintln!(
        "Kubernetes {} is ready on https://127.0.0.1:{} after {:.1} s",
        pins::KUBERNETES,
        ports.apiserver,
        started.elapsed().as_secs_f64()
    );
    Ok(kubeconfig)
}

/// What has kwok answer with a file when it is asked for the log of a Pod.
fn logs(file: &Path) -> anyhow::Result<String> {
    let file = file
        .canonicalize()
        .with_context(|| format!("failed to find {}", file.display()))?;
    Ok(format!(
        "---\napiVersion: kwok.x-k8s.io/v1alpha1\nkind: ClusterLogs\nmetadata: {{name: all}}\nspec:\n  logs:\n  - \
         {{logsFile: {:?}, follow: false}}\n",
        file.display().to_string()
    ))
}

fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("failed to find a free port")?;
    let address = listener.local_addr().context("failed to find a free port")?;
    Ok(address.port())
}

#[derive(Clone, Copy)]
struct Ports {
    apiserver: u16,
    etcd: u16,
    etcd_peer: u16,
}

impl Ports {
    /// The ports stay the same from one start to the next, so that copied kubeconfigs stay valid.
    fn of(home: &ClusterHome, given: Option<u16>) -> anyhow::Result<Ports> {
        let path = home.path().join("ports");
        if let Some(known) = fs::read_to_string(&path)
            .ok()
            .and_then(|text| Ports::parse(&text))
        {
            if let Some(given) = given.filter(|&given| given != known.apiserver) {
                bail!(
                    "this cluster uses port {}; reset it to move it to {given}",
                    known.apiserver
                );
            }
            return Ok(known);
        }
        let ports = match given {
            Some(port) => {
                let after = |n| {
                    port.checked_add(n)
                        .context("the two ports after --port are needed too")
                };
                Ports {
                    apiserver: port,
                    etcd: after(1)?,
                    etcd_peer: after(2)?,
                }
            }
            None => Ports::free()?,
        };
        fs::write(
            &path,
            format!("{} {} {}", ports.apiserver, ports.etcd, ports.etcd_peer),
        )
        .with_context(|| format!("failed to write {}", path.display()))?;
        Ok(ports)
    }

    fn parse(text: &str) -> Option<Ports> {
        let mut numbers = text.split_whitespace().map(|word| word.parse().ok());
        Some(Ports {
            apiserver: numbers.next()??,
            etcd: numbers.next()??,
            etcd_peer: numbers.next()??,
        })
    }

    /// All three are held at once, so that they differ.
    fn free() -> anyhow::Result<Ports> {
        let mut held = Vec::new();
        let mut next = || -> anyhow::Result<u16> {
            let listener =
                TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("failed to find a free port")?;
            let port = listener
                .local_addr()
                .context("failed to find a free port")?
                .port();
            held.push(listener);
            Ok(port)
        };
        Ok(Ports {
            apiserver: next()?,
            etcd: next()?,
            etcd_peer: next()?,
        })
    }
}

struct Starter<'a> {
    home: &'a ClusterHome,
    programs: &'a Programs,
    ports: Ports,
    kubeconfig: &'a Path,
}

impl Starter<'_> {
    fn etcd(&self) -> anyhow::Result<()> {
        let data = self.home.path().join("etcd");
        let is_new = !data.exists();
        let client = format!("http://127.0.0.1:{}", self.ports.etcd);
        let peer = format!("http://127.0.0.1:{}", self.ports.etcd_peer);
        self.run("etcd", |command| {
            command
                .arg(format!("--data-dir={}", data.display()))
                .arg(format!("--listen-client-urls={client}"))
                .arg(format!("--advertise-client-urls={client}"))
                .arg(format!("--listen-peer-urls={peer}"))
                .arg(format!("--initial-advertise-peer-urls={peer}"))
                .arg(format!("--initial-cluster=default={peer}"))
                // The data is worth nothing after a crash of the machine.
                .arg("--unsafe-no-fsync");
        })?;
        self.wait("etcd", || etcd::is_healthy(self.ports.etcd))?;
        if is_new {
            etcd::age(self.ports.etcd)
        } else {
            Ok(())
        }
    }

    fn apiserver(&self, audit: bool) -> anyhow::Result<()> {
        let pki = |file: &str| self.home.pki(file).display().to_string();
        let mut flags = vec![
            format!("--etcd-servers=http://127.0.0.1:{}", self.ports.etcd),
            "--bind-address=127.0.0.1".to_owned(),
            "--advertise-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", self.ports.apiserver),
            format!("--tls-cert-file={}", pki("apiserver.crt")),
            format!("--tls-private-key-file={}", pki("apiserver.key")),
            format!("--client-ca-file={}", pki("ca.crt")),
            format!("--token-auth-file={}", pki("tokens.csv")),
            "--authorization-mode=RBAC".to_owned(),
            format!("--requestheader-client-ca-file={}", pki("ca.crt")),
            "--requestheader-allowed-names=front-proxy-client".to_owned(),
            "--requestheader-username-headers=X-Remote-User".to_owned(),
            "--requestheader-group-headers=X-Remote-Group".to_owned(),
            "--requestheader-extra-headers-prefix=X-Remote-Extra-".to_owned(),
            format!("--proxy-client-cert-file={}", pki("proxy.crt")),
            format!("--proxy-client-key-file={}", pki("proxy.key")),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            format!("--service-account-key-file={}", pki("service-accounts.pub")),
            format!(
                "--service-account-signing-key-file={}",
                pki("service-accounts.key")
            ),
            "--service-cluster-ip-range=10.0.0.0/16".to_owned(),
            "--allow-privileged=true".to_owned(),
            // Nothing is behind the `kubernetes` service of such a cluster.
            "--endpoint-reconciler-type=none".to_owned(),
            "--shutdown-delay-duration=0s".to_owned(),
            // Nobody knows a simulated node by its name.
            "--kubelet-preferred-address-types=InternalIP".to_owned(),
        ];
        if audit {
            let policy = self.home.path().join("audit-policy.json");
            let text = r#"{"apiVersion":"audit.k8s.io/v1","kind":"Policy","omitStages":["RequestReceived"],"rules":[{"level":"Metadata"}]}"#;
            fs::write(&policy, text).with_context(|| format!("failed to write {}", policy.display()))?;
            flags.push(format!("--audit-policy-file={}", policy.display()));
            flags.push(format!(
                "--audit-log-path={}",
                self.home.path().join("audit.log").display()
            ));
        }
        self.run("kube-apiserver", |command| {
            command.args(&flags);
        })?;
        self.wait("kube-apiserver", || self.kubectl(&["get", "--raw", "/readyz"]))
    }

    /// Runs every controller: garbage collection, namespace deletion, service accounts, and those of the workloads,
    /// which make ReplicaSets and Pods.
    fn controller_manager(&self) -> anyhow::Result<()> {
        let own = kubeconfig::write_component(self.home, self.ports.apiserver, "controller-manager")?;
        self.run("kube-controller-manager", |command| {
            command
                .arg(format!("--kubeconfig={}", own.display()))
                .args([
                    "--secure-port=0",
                    "--leader-elect=false",
                    "--use-service-account-credentials=true",
                ])
                // With the default of 20 requests a second a new namespace's service account takes seconds.
                .args([
                    "--kube-api-qps=500",
                    "--kube-api-burst=1000",
                    "--concurrent-namespace-syncs=20",
                ])
                .arg(format!(
                    "--service-account-private-key-file={}",
                    self.home.pki("service-accounts.key").display()
                ))
                .arg(format!("--root-ca-file={}", self.home.pki("ca.crt").display()));
        })?;
        self.wait("kube-controller-manager", || {
            self.kubectl(&["get", "--namespace=default", "serviceaccount/default"])
        })
    }

    fn scheduler(&self) -> anyhow::Result<()> {
        let own = kubeconfig::write_component(self.home, self.ports.apiserver, "scheduler")?;
        self.run("kube-scheduler", |command| {
            command
                .arg(format!("--kubeconfig={}", own.display()))
                .args(["--secure-port=0", "--leader-elect=false"]);
        })
    }

    fn node(&self, pod_log: Option<&Path>) -> anyhow::Result<()> {
        let node = self.home.path().join("node.json");
        let text = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"sim-0","labels":{"kubernetes.io/hostname":"sim-0"}}}"#;
        fs::write(&node, text).with_context(|| format!("failed to write {}", node.display()))?;
        let file = format!("--filename={}", node.display());
        self.wait("kube-apiserver", || {
            self.kubectl(&["apply", "--server-side", &file])
        })?;
        let stages = self.home.path().join("node-stages.yaml");
        let logs = pod_log.map(logs).transpose()?.unwrap_or_default();
        fs::write(&stages, format!("{}{logs}", include_str!("node-stages.yaml")))
            .with_context(|| format!("failed to write {}", stages.display()))?;
        let kubelet = pod_log.map(|_| self.kubelet()).transpose()?.unwrap_or_default();
        self.run("kwok", |command| {
            command
                .args(&kubelet)
                .arg(format!("--kubeconfig={}", self.kubeconfig.display()))
                .arg(format!("--config={}", stages.display()))
                // The lease is the heartbeat without which the node controller gives the node up.
                .args([
                    "--manage-all-nodes=true",
                    "--node-ip=127.0.0.1",
                    "--node-lease-duration-seconds=40",
                ]);
        })?;
        self.wait("kwok", || {
            self.kubectl(&["wait", "--for=condition=Ready", "node/sim-0", "--timeout=2s"])
        })
    }

    /// The flags that have kwok answer the API server as the kubelet of the node.
    fn kubelet(&self) -> anyhow::Result<Vec<String>> {
        let port = free_port()?;
        let pki = |file: &str| self.home.pki(file).display().to_string();
        Ok(vec![
            format!("--server-address=127.0.0.1:{port}"),
            format!("--node-port={port}"),
            format!("--tls-cert-file={}", pki("apiserver.crt")),
            format!("--tls-private-key-file={}", pki("apiserver.key")),
        ])
    }

    /// Starts a part that does not run.
    fn run(&self, part: &str, configure: impl FnOnce(&mut Command)) -> anyhow::Result<()> {
        let record = self.home.record(part);
        if Record::read(&record)?.is_some_and(|record| record.is_alive()) {
            return Ok(());
        }
        let program = self
            .programs
            .get(part)
            .with_context(|| format!("{part} was not built"))?;
        let mut command = Command::new(program);
        configure(&mut command);
        process::spawn(&mut command, &self.home.log(part))?.write(&record)
    }

    /// Waits until a part is ready; one that ends meanwhile is reported with the end of its log.
    fn wait(&self, part: &str, ready: impl Fn() -> bool) -> anyhow::Result<()> {
        let started = Instant::now();
        while !ready() {
            let alive = Record::read(&self.home.record(part))?.is_some_and(|record| record.is_alive());
            if !alive || started.elapsed() > READY_LIMIT {
                let path = self.home.log(part);
                let log = fs::read_to_string(&path).unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let end = lines[lines.len().saturating_sub(15)..].join("\n");
                let what = if alive { "does not become ready" } else { "ended" };
                bail!("{part} {what}; the end of {}:\n{end}", path.display());
            }
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    fn kubectl(&self, arguments: &[&str]) -> bool {
        Command::new(&self.programs["kubectl"])
            .arg(format!("--kubeconfig={}", self.kubeconfig.display()))
            .arg("--request-timeout=5s")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }
}
