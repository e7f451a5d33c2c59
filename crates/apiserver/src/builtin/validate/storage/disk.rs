//! Where the files of volumes are: on hosts, in networks, in clouds.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::name;
use super::super::pod::not_up;
use super::super::text::{is_absolute, range};

/// Why the portal of an iSCSI volume may be too long.
pub(in super::super) const LONG_PORTAL: &str = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 \
                                                characters if iscsi.initiatorName is specified.";

/// Fields that must be there.
fn require(at: &At, names: &[&str], errors: &mut Errors) {
    for name in names {
        errors.require_text(&at.txt(name));
    }
}

fn require_list(at: &At, errors: &mut Errors) {
    if at.is_empty() {
        errors.required(at, "");
    }
}

/// A path on the host.
pub(in super::super) fn host_path(at: &At, errors: &mut Errors) {
    let path = at.txt("path");
    if !errors.require_text(&path) {
        return;
    }
    not_up(&path, errors);
    errors.one_of_if_set(
        &at.get("type"),
        &[
            "",
            "BlockDevice",
            "CharDevice",
            "Directory",
            "DirectoryOrCreate",
            "File",
            "FileOrCreate",
            "Socket",
        ],
    );
}

/// A disk of Google's cloud.
pub(in super::super) fn gce(at: &At, errors: &mut Errors) {
    require(at, &["pdName"], errors);
    partition(at, errors);
}

/// A disk of Amazon's cloud.
pub(in super::super) fn aws(at: &At, errors: &mut Errors) {
    require(at, &["volumeID"], errors);
    partition(at, errors);
}

fn partition(at: &At, errors: &mut Errors) {
    let partition = at.num("partition");
    if !(0..=255).contains(&partition.int()) {
        errors.invalid(&partition, range(1, 255));
    }
}

/// A network file system.
pub(in super::super) fn nfs(at: &At, errors: &mut Errors) {
    require(at, &["server", "path"], errors);
    let path = at.txt("path");
    if !is_absolute(path.text()) {
        errors.invalid(&path, "must be an absolute path");
    }
}

/// A disk behind an iSCSI portal.
pub(in super::super) fn iscsi(at: &At, errors: &mut Errors) {
    iscsi_with(at, "must be valid format starting with iqn, eui, or naa", errors);
}

/// As [`iscsi`], in a volume of its own called `volume`.
pub(super) fn iscsi_volume(at: &At, volume: &str, errors: &mut Errors) {
    let portal = at.text_of("targetPortal");
    iscsi_with(at, "must be valid format", errors);
    if at.has("initiatorName") && volume.len() + 1 + portal.len() > 64 {
        errors.invalid_value(&at.get("targetportal"), portal, LONG_PORTAL);
    }
}

fn iscsi_with(at: &At, unknown: &str, errors: &mut Errors) {
    require(at, &["targetPortal"], errors);
    let target = at.txt("iqn");
    if errors.require_text(&target) {
        iscsi_name(&target, unknown, errors);
    }
    lun(&at.num("lun"), errors);
    let secret = at.get("secretRef");
    if (at.flag_of("chapAuthDiscovery") || at.flag_of("chapAuthSession")) && !secret.is_set() {
        errors.required(&secret, "");
    }
    let initiator = at.get("initiatorName");
    if initiator.is_set() {
        iscsi_name(&initiator.called("initiatorname"), unknown, errors);
    }
}

fn iscsi_name(at: &At, unknown: &str, errors: &mut Errors) {
    let text = at.text();
    let right = match text.get(..3) {
        Some("iqn") => is_iqn(text),
        Some("eui") => is_long_number(text, 16),
        Some("naa") => is_long_number(text, 32),
        _ => return errors.invalid(at, unknown),
    };
    if !right {
        errors.invalid(at, "must be valid format");
    }
}

/// `iqn.2001-04.com.example:storage`
fn is_iqn(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((date, rest)) = text
        .strip_prefix("iqn.")
        .and_then(|rest| rest.split_at_checked(8))
    else {
        return false;
    };
    let dated = date.is_ascii()
        && digits(&date[..4])
        && &date[4..5] == "-"
        && digits(&date[5..7])
        && date.ends_with('.');
    let Some((domain, name)) = rest.split_once(':') else {
        return false;
    };
    let domain_fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let name_fits = |c: char| !",;*&$|".contains(c) && !matches!(c, ' ' | '\t' | '\n' | '\x0c' | '\r');
    dated
        && !domain.is_empty()
        && domain.bytes().all(domain_fits)
        && !name.is_empty()
        && name.chars().all(name_fits)
}

/// Three letters, any one character, and `count` letters and digits.
fn is_long_number(text: &str, count: usize) -> bool {
    let mut rest = text.chars().skip(4);
    rest.by_ref()
        .take(count)
        .filter(char::is_ascii_alphanumeric)
        .count()
        == count
        && rest.next().is_none()
}

fn lun(at: &At, errors: &mut Errors) {
    if !(0..=255).contains(&at.int()) {
        errors.invalid(at, range(0, 255));
    }
}

/// A Gluster file system.
pub(in super::super) fn glusterfs(at: &At, errors: &mut Errors) {
    require(at, &["endpoints", "path"], errors);
}

/// A Flocker data set.
pub(in super::super) fn flocker(at: &At, errors: &mut Errors) {
    let (name_at, uuid) = (at.txt("datasetName"), at.text_of("datasetUUID"));
    match (name_at.text().is_empty(), uuid.is_empty()) {
        (true, true) => errors.required(at, "one of datasetName and datasetUUID is required"),
        (false, false) => {
            let detail = "datasetName and datasetUUID can not be specified simultaneously";
            errors.invalid_value(at, "resource", detail);
        }
        _ => {}
    }
    if name_at.text().contains('/') {
        errors.invalid(&name_at, "must not contain '/'");
    }
}

/// A Ceph block device.
pub(in super::super) fn rbd(at: &At, errors: &mut Errors) {
    require_list(&at.get("monitors"), errors);
    require(at, &["image"], errors);
}

/// A Cinder disk.
pub(in super::super) fn cinder(at: &At, errors: &mut Errors) {
    require(at, &["volumeID"], errors);
    let secret = at.get("secretRef");
    if secret.is_set() {
        require(&secret, &["name"], errors);
    }
}

/// A Ceph file system.
pub(in super::super) fn cephfs(at: &At, errors: &mut Errors) {
    require_list(&at.get("monitors"), errors);
}

/// A Quobyte volume.
pub(in super::super) fn quobyte(at: &At, errors: &mut Errors) {
    const REGISTRY: &str = "must be a host:port pair or multiple pairs separated by commas";
    let registry = at.txt("registry");
    if registry.text().is_empty() {
        errors.required(&registry, REGISTRY);
    } else if at.text_of("tenant").len() >= 65 {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        errors.required(&at.txt("tenant"), detail);
    } else {
        let is_pair = |text: &str| match text.rsplit_once(':') {
            Some((host, _)) => !host.contains(':') || (host.starts_with('[') && host.ends_with(']')),
            None => false,
        };
        for _ in registry.text().split(',').filter(|pair| !is_pair(pair)) {
            errors.invalid(&registry, REGISTRY);
        }
    }
    require(at, &["volume"], errors);
}

/// A disk on Fibre Channel.
pub(in super::super) fn fibre_channel(at: &At, errors: &mut Errors) {
    let (names, ids) = (at.get("targetWWNs"), at.get("wwids"));
    if names.is_empty() && ids.is_empty() {
        errors.required(&names, "must specify either targetWWNs or wwids, but not both");
    }
    if !names.is_empty() && !ids.is_empty() {
        errors.invalid(&names, "targetWWNs and wwids can not be specified simultaneously");
    }
    if !names.is_empty() {
        let number = at.get("lun");
        match number.is_set() {
            true => lun(&number, errors),
            false => errors.required(&number, "lun is required if targetWWNs is specified"),
        }
    }
}

/// A volume of a driver that was installed on nodes.
pub(in super::super) fn flex(at: &At, errors: &mut Errors) {
    require(at, &["driver"], errors);
    for (key, option) in at.get("options").entries() {
        let domain = key.split('/').next().unwrap_or_default().to_lowercase();
        let domain = format!(".{domain}");
        if domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io") {
            errors.invalid_value(&option, key, "kubernetes.io and k8s.io namespaces are reserved");
        }
    }
}

/// Files in Microsoft's cloud.
pub(in super::super) fn azure_file(at: &At, errors: &mut Errors) {
    require(at, &["secretName", "shareName"], errors);
}

/// A disk of Microsoft's cloud.
pub(in super::super) fn azure_disk(at: &At, errors: &mut Errors) {
    require(at, &["diskName", "diskURI"], errors);
    errors.one_of_if_set(&at.get("cachingMode"), &["None", "ReadOnly", "ReadWrite"]);
    let (kind, uri) = (at.get("kind"), at.txt("diskURI"));
    errors.one_of_if_set(&kind, &["Dedicated", "Managed", "Shared"]);
    if !kind.is_set() {
        return;
    }
    let (start, form) = match kind.text() {
        "Managed" => (
            "/subscriptions/",
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
        ),
        _ => (
            "https://",
            "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd",
        ),
    };
    if !uri.text().starts_with(start) {
        errors.not_supported(&uri, &[form]);
    }
}

/// A vSphere disk.
pub(in super::super) fn vsphere(at: &At, errors: &mut Errors) {
    require(at, &["volumePath"], errors);
}

/// A Photon disk.
pub(in super::super) fn photon(at: &At, errors: &mut Errors) {
    require(at, &["pdID"], errors);
}

/// A Portworx volume.
pub(in super::super) fn portworx(at: &At, errors: &mut Errors) {
    require(at, &["volumeID"], errors);
}

/// A ScaleIO volume.
pub(in super::super) fn scale_io(at: &At, errors: &mut Errors) {
    require(at, &["gateway", "system", "volumeName"], errors);
}

/// A StorageOS volume.
pub(in super::super) fn storage_os(at: &At, errors: &mut Errors) {
    let name_at = at.txt("volumeName");
    if errors.require_text(&name_at) {
        errors.each(&name_at, name::label(name_at.text()));
    }
    let namespace = at.txt("volumeNamespace");
    if !namespace.text().is_empty() {
        errors.each(&namespace, name::label(namespace.text()));
    }
    let secret = at.get("secretRef");
    if secret.is_set() {
        require(&secret, &["name"], errors);
    }
}

/// The name of a CSI driver.
pub(in super::super) fn driver_name(at: &At, errors: &mut Errors) {
    if !errors.require_text(at) {
        return;
    }
    if at.text().len() > 63 {
        errors.too_long(at, 63);
    }
    errors.each(at, name::subdomain(&at.text().to_lowercase()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iscsi_names_have_three_forms() {
        assert!(is_iqn("iqn.2001-04.com.example:storage.kube.sys1.xyz"));
        for bad in [
            "iqn.2001-04.com.example",
            "iqn.01-04.com:a",
            "iqn.2001-04.com:a b",
            "iqn",
            "iqn.2001-0é.a:b",
        ] {
            assert!(!is_iqn(bad), "{bad}");
        }
        assert!(is_long_number("eui.0123456789abcdef", 16));
        assert!(!is_long_number("eui.0123456789abcde", 16) && !is_long_number("eui.0123456789abcdef0", 16));
    }
}
