//! The authority of a cluster, its certificates and its tokens.

use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use super::home::ClusterHome;

/// Writes everything below `pki/`, once: a restarted cluster keeps its certificates and tokens.
pub(super) fn write(home: &ClusterHome) -> anyhow::Result<()> {
    // Written last, so its presence says that all the rest is there.
    let tokens = home.pki("tokens.csv");
    if tokens.exists() {
        return Ok(());
    }
    let folder = home.path().join("pki");
    fs::create_dir_all(&folder).with_context(|| format!("failed to create {}", folder.display()))?;

    let mut authority = params("sluice-real-cluster", None, &[])?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate().context("failed to make a key")?;
    let certificate = authority
        .self_signed(&key)
        .context("failed to sign the authority's certificate")?;
    write_secret(&home.pki("ca.crt"), &certificate.pem())?;
    let issuer = Issuer::new(authority, key);

    let names = [
        "localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "127.0.0.1",
        "10.0.0.1",
    ];
    leaf(
        home,
        "apiserver",
        params("kube-apiserver", None, &names)?,
        ExtendedKeyUsagePurpose::ServerAuth,
        &issuer,
    )?;
    for (file, name, group) in [
        ("admin", "admin", Some("system:masters")),
        ("controller-manager", "system:kube-controller-manager", None),
        ("scheduler", "system:kube-scheduler", None),
        ("proxy", "front-proxy-client", None),
    ] {
        leaf(
            home,
            file,
            params(name, group, &[])?,
            ExtendedKeyUsagePurpose::ClientAuth,
            &issuer,
        )?;
    }

    let key = KeyPair::generate().context("failed to make a key")?;
    write_secret(&home.pki("service-accounts.key"), &key.serialize_pem())?;
    write_secret(&home.pki("service-accounts.pub"), &key.public_key_pem())?;

    let (admin, nobody) = (random_token()?, random_token()?);
    write_secret(&home.pki("admin.token"), &admin)?;
    write_secret(&home.pki("nobody.token"), &nobody)?;
    write_secret(
        &tokens,
        &format!("{admin},admin-token,admin-token,system:masters\n{nobody},nobody,nobody,\n"),
    )
}

fn params(name: &str, group: Option<&str>, alternatives: &[&str]) -> anyhow::Result<CertificateParams> {
    let alternatives: Vec<String> = alternatives.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(alternatives).context("failed to name a certificate")?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    if let Some(group) = group {
        params.distinguished_name.push(DnType::OrganizationName, group);
    }
    Ok(params)
}

fn leaf(
    home: &ClusterHome,
    file: &str,
    mut params: CertificateParams,
    usage: ExtendedKeyUsagePurpose,
    issuer: &Issuer<'_, KeyPair>,
) -> anyhow::Result<()> {
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![usage];
    let key = KeyPair::generate().context("failed to make a key")?;
    let certificate = params
        .signed_by(&key, issuer)
        .with_context(|| format!("failed to sign {file}"))?;
    write_secret(&home.pki(&format!("{file}.crt")), &certificate.pem())?;
    write_secret(&home.pki(&format!("{file}.key")), &key.serialize_pem())
}

/// Writes a file that only its owner can read.
pub(super) fn write_secret(path: &Path, text: &str) -> anyhow::Result<()> {
    let write = || {
        let mut options = fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)?;
        std::io::Write::write_all(&mut file, text.as_bytes())
    };
    write().with_context(|| format!("failed to write {}", path.display()))
}

/// Anybody on the machine can reach a loopback port: a token must not be guessable.
fn random_token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .context("failed to read /dev/urandom")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
