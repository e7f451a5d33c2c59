//! Kubeconfig files of a cluster.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::certificates::write_secret;
use super::home::ClusterHome;

/// Writes the file for people and tests: `admin` by client certificate, `admin-token` by bearer token, and
/// `nobody`, a user without any rights. Certificates are inside the file, so that it can be copied.
pub(super) fn write(home: &ClusterHome, port: u16) -> anyhow::Result<PathBuf> {
    let token = |file: &str| -> anyhow::Result<String> {
        let path = home.pki(file);
        let token =
            fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))?;
        Ok(format!("{{\"token\":\"{token}\"}}"))
    };
    let users = [
        ("admin", certificate(home, "admin")?),
        ("admin-token", token("admin.token")?),
        ("nobody", token("nobody.token")?),
    ];
    let path = home.kubeconfig();
    write_secret(&path, &render(&authority(home)?, port, &users))?;
    Ok(path)
}

/// Writes the file of one of the cluster's own programs, who is known by a client certificate.
pub(super) fn write_component(home: &ClusterHome, port: u16, component: &str) -> anyhow::Result<PathBuf> {
    let path = home.pki(&format!("{component}.kubeconfig"));
    write_secret(
        &path,
        &render(
            &authority(home)?,
            port,
            &[(component, certificate(home, component)?)],
        ),
    )?;
    Ok(path)
}

fn authority(home: &ClusterHome) -> anyhow::Result<String> {
    encoded(&home.pki("ca.crt"))
}

fn certificate(home: &ClusterHome, file: &str) -> anyhow::Result<String> {
    Ok(format!(
        "{{\"client-certificate-data\":\"{}\",\"client-key-data\":\"{}\"}}",
        encoded(&home.pki(&format!("{file}.crt")))?,
        encoded(&home.pki(&format!("{file}.key")))?
    ))
}

fn encoded(path: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(path).with_context(|| format!("failed to read {}", path.display()))?;
    Ok(STANDARD.encode(bytes))
}

/// The first user's context is the current one. Users are written as JSON, which is YAML.
fn render(authority: &str, port: u16, users: &[(&str, String)]) -> String {
    let mut text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: {}\nclusters:\n- name: real\n  cluster:\n    \
         server: https://127.0.0.1:{port}\n    certificate-authority-data: {authority}\ncontexts:\n",
        users[0].0
    );
    for (name, _) in users {
        text += &format!("- name: {name}\n  context: {{cluster: real, user: {name}}}\n");
    }
    text += "users:\n";
    for (name, user) in users {
        text += &format!("- name: {name}\n  user: {user}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_user_is_the_current_one() {
        let text = super::render("Q0E=", 6443, &[("admin", "{\"token\":\"t\"}".to_owned())]);
        assert_eq!(
            text,
            "apiVersion: v1\nkind: Config\ncurrent-context: admin\nclusters:\n- name: real\n  cluster:\n    \
             server: https://127.0.0.1:6443\n    certificate-authority-data: Q0E=\ncontexts:\n- name: admin\n  \
             context: {cluster: real, user: admin}\nusers:\n- name: admin\n  user: {\"token\":\"t\"}\n"
        );
    }
}
