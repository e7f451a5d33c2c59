//! What holds for the operating system of a pod.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::name;
use super::each_container;

/// Settings that only Windows knows.
pub(super) fn options(at: &At, errors: &mut Errors) {
    if !at.is_set() {
        return;
    }
    let credential = at.get("gmsaCredentialSpecName");
    if credential.is_set() {
        errors.each(&credential, name::subdomain(credential.text()));
    }
    let spec = at.get("gmsaCredentialSpec");
    if spec.is_set() && spec.text().is_empty() {
        errors.invalid(&spec, "gmsaCredentialSpec cannot be an empty string");
    } else if spec.text().len() > 64 * 1024 {
        errors.invalid(&spec, "gmsaCredentialSpec size must be under 64 KiB");
    }
    let user = at.get("runAsUserName");
    if user.is_set() {
        user_name(&user, errors);
    }
}

fn user_name(at: &At, errors: &mut Errors) {
    let text = at.text();
    let parts: Vec<&str> = text.split('\\').collect();
    let (domain, user) = match parts.as_slice() {
        _ if text.is_empty() => return errors.invalid(at, "runAsUserName cannot be an empty string"),
        _ if text.bytes().any(|byte| byte.is_ascii_control()) => {
            return errors.invalid(at, "runAsUserName cannot contain control characters");
        }
        [user] => (None, *user),
        [domain, user] => (Some(*domain), *user),
        _ => return errors.invalid(at, "runAsUserName cannot contain more than one backslash"),
    };
    if let Some(domain) = domain {
        if domain.len() >= 256 {
            errors.invalid(at, "runAsUserName's Domain length must be under 256 characters");
        }
        if !is_net_bios(domain) && !is_dns(domain) {
            let detail = "runAsUserName's Domain doesn't match the NetBios nor the DNS format";
            errors.invalid(at, detail);
        }
    }
    if user.is_empty() {
        errors.invalid(at, "runAsUserName's User cannot be empty");
    } else if user.len() > 104 {
        let detail = "runAsUserName's User length must not be longer than 104 characters";
        errors.invalid(at, detail);
    }
    if !user.is_empty() && user.chars().all(|c| matches!(c, '.' | ' ')) {
        errors.invalid(at, "runAsUserName's User cannot contain only periods or spaces");
    }
    if user.contains(|c| "\"/\\:;|=,+*?<>@[]".contains(c)) {
        let detail = "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]";
        errors.invalid(at, detail);
    }
}

fn is_net_bios(domain: &str) -> bool {
    let count = domain.chars().count();
    (1..=15).contains(&count) && !domain.starts_with('.') && !domain.contains(|c| "\\/:*?\"<>|".contains(c))
}

fn is_dns(domain: &str) -> bool {
    domain.split('.').all(|part| {
        let end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = part.as_bytes();
        bytes.len() <= 63
            && end(bytes.first())
            && end(bytes.last())
            && bytes
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    })
}

/// Containers that run on the host itself: all of a pod or none.
pub(super) fn host_processes(spec: &At, errors: &mut Errors) {
    let of = |at: &At| {
        let context = at.get("securityContext");
        let options = context.get("windowsOptions");
        options.has("hostProcess").then(|| options.flag_of("hostProcess"))
    };
    let pod = of(spec);
    let (mut all, mut count) = (0, 0);
    each_container(spec, &mut |container| {
        all += 1;
        let own = of(container);
        if let (Some(pod), Some(own)) = (pod, own)
            && pod != own
        {
            let detail = format!("pod hostProcess value must be identical if both are specified, was {pod}");
            let place = container.deep("securityContext.windowsOptions.hostProcess");
            errors.invalid(&place, detail);
        }
        if own.or(pod) == Some(true) {
            count += 1;
        }
    });
    if count == 0 {
        return;
    }
    if count != all {
        let detail =
            "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.invalid_value(spec, "", detail);
    }
    if !spec.flag_of("hostNetwork") {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.invalid_value(&spec.get("hostNetwork"), false, detail);
    }
}

/// The operating system, and what cannot be set for it.
pub(super) fn os(spec: &At, errors: &mut Errors) {
    let at = spec.get("os");
    if !at.is_set() {
        return;
    }
    match at.text_of("name") {
        "linux" => linux(spec, errors),
        "windows" => windows(spec, errors),
        "" => errors.required(&at.txt("name"), ""),
        _ => {
            let name_at = at.txt("name");
            errors.not_supported(&at.with(name_at.value()), &["linux", "windows"]);
        }
    }
}

fn linux(spec: &At, errors: &mut Errors) {
    let mut look = |at: &At| {
        let context = at.get("securityContext");
        if context.has("windowsOptions") {
            let detail = "windows options cannot be set for a linux pod";
            errors.forbidden(&context.get("windowsOptions"), detail);
        }
    };
    look(spec);
    each_container(spec, &mut look);
}

fn windows(spec: &At, errors: &mut Errors) {
    const DETAIL: &str = "cannot be set for a windows pod";
    let context = spec.get("securityContext");
    let mut forbid = |set: bool, at: &At| {
        if set {
            errors.forbidden(at, DETAIL);
        }
    };
    let own = |name| (context.has(name), context.get(name));
    let shared = |name: &'static str| match name {
        "hostPID" | "hostIPC" => (spec.flag_of(name), spec.get(name)),
        _ => (spec.has(name), spec.get(name)),
    };
    for (set, at) in [
        own("appArmorProfile"),
        own("seLinuxOptions"),
        shared("hostUsers"),
        shared("hostPID"),
        shared("hostIPC"),
        own("seccompProfile"),
        own("fsGroup"),
        own("fsGroupChangePolicy"),
        own("sysctls"),
        shared("shareProcessNamespace"),
        own("runAsUser"),
        own("runAsGroup"),
        own("supplementalGroups"),
        own("supplementalGroupsPolicy"),
        own("seLinuxChangePolicy"),
    ] {
        forbid(set, &at);
    }
    each_container(spec, &mut |container| {
        let context = container.get("securityContext");
        for name in [
            "appArmorProfile",
            "seLinuxOptions",
            "seccompProfile",
            "capabilities",
            "readOnlyRootFilesystem",
            "privileged",
            "allowPrivilegeEscalation",
            "procMount",
            "runAsUser",
            "runAsGroup",
        ] {
            forbid(context.has(name), &context.get(name));
        }
    });
}

/// What cannot be shared with the host by a pod that has users of its own.
pub(super) fn own_users(spec: &At, errors: &mut Errors) {
    if !spec.has("hostUsers") || spec.flag_of("hostUsers") {
        return;
    }
    const DETAIL: &str = "when `hostUsers` is false";
    for (field, shown) in [
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ] {
        if spec.flag_of(field) {
            errors.forbidden(&spec.get(shown), DETAIL);
        }
    }
    each_container(spec, &mut |container| {
        if !container.get("volumeDevices").is_empty() {
            errors.forbidden(&container.get("volumeDevices"), DETAIL);
        }
    });
}
