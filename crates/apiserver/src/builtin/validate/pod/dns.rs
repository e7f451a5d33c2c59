//! Names: of the pod itself, and how it finds others.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::{address, name};

/// How names are resolved.
pub(super) fn config(spec: &At, errors: &mut Errors) {
    let at = spec.get("dnsConfig");
    let servers = at.get("nameservers");
    if spec.text_of("dnsPolicy") == "None" {
        if !at.is_set() {
            errors.required(&at, "must provide `dnsConfig` when `dnsPolicy` is None");
            return;
        }
        if servers.is_empty() {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            errors.required(&servers, detail);
            return;
        }
    }
    if servers.len() > 3 {
        errors.invalid(&servers, "must not have more than 3 nameservers");
    }
    for server in servers.items() {
        address::address(&server, errors);
    }
    let searches = at.get("searches");
    if searches.len() > 32 {
        errors.invalid(&searches, "must not have more than 32 search paths");
    }
    let length: usize = searches.texts().map(|text| text.len() + 1).sum();
    if length > 2049 {
        let detail = "must not have more than 2048 characters (including spaces) in the search list";
        errors.invalid(&searches, detail);
    }
    for search in searches.items() {
        if search.text() != "." {
            let domain = search.text().strip_suffix('.').unwrap_or(search.text());
            for problem in name::subdomain_with_underscore(domain) {
                errors.invalid_value(&search, domain, problem);
            }
        }
    }
    for option in at.get("options").items() {
        if option.text_of("name").is_empty() {
            errors.required(&option, "must not be empty");
        }
    }
}

/// Names in the pod's own list of hosts.
pub(super) fn host_aliases(at: &At, errors: &mut Errors) {
    for alias in at.items() {
        address::address(&alias.txt("ip"), errors);
        for host in alias.get("hostnames").items() {
            errors.each(&host, name::subdomain(host.text()));
        }
    }
}

/// A name in place of the pod's own.
pub(super) fn hostname_override(spec: &At, errors: &mut Errors) {
    let at = spec.get("hostnameOverride");
    if !at.is_set() {
        return;
    }
    if spec.flag_of("setHostnameAsFQDN") {
        errors.forbidden(&at, "may not be specified when setHostnameAsFQDN is true");
    }
    if spec.flag_of("hostNetwork") {
        errors.forbidden(&at, "may not be specified when hostNetwork is true");
    }
    if at.text().len() > 64 {
        errors.too_long(&at, 64);
    }
    errors.each(&at, name::subdomain(at.text()));
}
