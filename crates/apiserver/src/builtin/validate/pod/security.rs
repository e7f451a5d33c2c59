//! Which rights containers and pods run with.

use std::collections::HashSet;

use super::super::at::At;
use super::super::errors::Errors;
use super::super::text::range;
use super::{Holder, path, windows};

/// The settings of a container.
pub(super) fn of_container(at: &At, holder: &Holder, errors: &mut Errors) {
    if !at.is_set() {
        return;
    }
    id(&at.get("runAsUser"), errors);
    id(&at.get("runAsGroup"), errors);
    let proc_mount = at.get("procMount");
    errors.one_of_if_set(&proc_mount, &["Default", "Unmasked"]);
    if holder.host_users && proc_mount.text() == "Unmasked" {
        errors.invalid(&proc_mount, "`hostUsers` must be false to use `Unmasked`");
    }
    seccomp(&at.get("seccompProfile"), errors);
    if at.has("allowPrivilegeEscalation") && !at.flag_of("allowPrivilegeEscalation") {
        let shown = "core.SecurityContext";
        if at.flag_of("privileged") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            errors.invalid_as(at, shown, detail);
        }
        let capabilities = at.get("capabilities");
        for _ in capabilities
            .get("add")
            .texts()
            .filter(|name| *name == "CAP_SYS_ADMIN")
        {
            let detail =
                "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            errors.invalid_as(at, shown, detail);
        }
    }
    windows::options(&at.get("windowsOptions"), errors);
    app_armor(&at.get("appArmorProfile"), errors);
}

/// The settings of a pod.
pub(super) fn of_pod(spec: &At, errors: &mut Errors) {
    let at = spec.get("securityContext");
    id(&at.get("fsGroup"), errors);
    id(&at.get("runAsUser"), errors);
    id(&at.get("runAsGroup"), errors);
    for group in at.get("supplementalGroups").items() {
        id(&group, errors);
    }
    if spec.flag_of("hostPID") && spec.flag_of("shareProcessNamespace") {
        let here = at.get("shareProcessNamespace");
        errors.invalid_value(
            &here,
            true,
            "ShareProcessNamespace and HostPID cannot both be enabled",
        );
    }
    sysctls(&at.get("sysctls"), spec, errors);
    errors.one_of_if_set(&at.get("fsGroupChangePolicy"), &["Always", "OnRootMismatch"]);
    seccomp(&at.get("seccompProfile"), errors);
    windows::options(&at.get("windowsOptions"), errors);
    app_armor(&at.get("appArmorProfile"), errors);
    errors.one_of_if_set(&at.get("supplementalGroupsPolicy"), &["Merge", "Strict"]);
    errors.one_of_if_set(&at.get("seLinuxChangePolicy"), &["Recursive"]);
}

/// The number of a user or a group.
pub(super) fn id(at: &At, errors: &mut Errors) {
    let most = i64::from(i32::MAX);
    if at.is_set() && !(0..=most).contains(&at.int()) {
        errors.invalid(at, range(0, most));
    }
}

fn seccomp(at: &At, errors: &mut Errors) {
    if !at.is_set() {
        return;
    }
    let kind = at.txt("type");
    match kind.text() {
        "Localhost" | "RuntimeDefault" | "Unconfined" => {}
        "" => errors.required(&kind, "type is required when seccompProfile is set"),
        _ => errors.not_supported(&kind, &["Localhost", "RuntimeDefault", "Unconfined"]),
    }
    let profile = at.get("localhostProfile");
    match (kind.text(), profile.is_set()) {
        ("Localhost", false) => errors.required(&profile, "must be set when seccomp type is Localhost"),
        ("Localhost", true) => path::local(&profile, errors),
        (_, true) => errors.invalid_as(
            &profile.with(at.value()),
            "core.SeccompProfile",
            "can only be set when seccomp type is Localhost",
        ),
        (_, false) => {}
    }
}

fn app_armor(at: &At, errors: &mut Errors) {
    if !at.is_set() {
        return;
    }
    let (kind, profile) = (at.txt("type"), at.get("localhostProfile"));
    match kind.text() {
        "Localhost" => {
            let text = profile.text();
            if !profile.is_set() || text.is_empty() {
                errors.required(&profile, "must be set when AppArmor type is Localhost");
            } else if text.trim() != text {
                errors.invalid(&profile, "must not be padded with whitespace");
            }
            if text.len() > 4095 {
                errors.too_long(&profile, 4095);
            }
        }
        "RuntimeDefault" | "Unconfined" => {
            if profile.is_set() {
                errors.invalid(&profile, "can only be set when AppArmor type is Localhost");
            }
        }
        "" => errors.required(&kind, "type is required when appArmorProfile is set"),
        _ => errors.not_supported(&kind, &["Localhost", "RuntimeDefault", "Unconfined"]),
    }
}

fn sysctls(at: &At, spec: &At, errors: &mut Errors) {
    let mut names = HashSet::new();
    for one in at.items() {
        let name_at = one.txt("name");
        let name = name_at.text();
        if name.is_empty() {
            errors.required(&name_at, "");
        } else if !is_sysctl(name) {
            errors.invalid(
                &name_at,
                "must have at most 253 characters and match regex \
                 ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$",
            );
        } else if names.contains(name) {
            errors.duplicate(&name_at);
        }
        let normal = match name.find(['.', '/']).map(|at| name.as_bytes()[at]) {
            Some(b'/') => name.replace('/', "."),
            _ => name.to_owned(),
        };
        let is_ipc = normal == "kernel.sem"
            || ["kernel.shm", "kernel.msg", "fs.mqueue."]
                .iter()
                .any(|start| normal.starts_with(start));
        if spec.flag_of("hostNetwork") && normal.starts_with("net.") {
            errors.invalid(&name_at, "may not be specified when 'hostNetwork' is true");
        } else if spec.flag_of("hostIPC") && is_ipc {
            errors.invalid(&name_at, "may not be specified when 'hostIPC' is true");
        }
        names.insert(name);
    }
}

fn is_sysctl(name: &str) -> bool {
    name.len() <= 253
        && name.split(['.', '/']).all(|part| {
            let end = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
            let bytes = part.as_bytes();
            let inner = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_');
            end(bytes.first()) && end(bytes.last()) && bytes.iter().all(inner)
        })
}
