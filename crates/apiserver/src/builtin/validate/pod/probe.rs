//! Probes and hooks of containers.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::port::number_or_name;
use super::super::text::http_header;
use super::Holder;

/// All probes of a container.
pub(super) fn probes(container: &At, holder: &Holder, errors: &mut Errors) {
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let at = container.get(name);
        if !at.is_set() {
            continue;
        }
        probe(&at, holder, errors);
        let grace = at.get("terminationGracePeriodSeconds");
        if name == "readinessProbe" {
            if grace.is_set() {
                errors.invalid(&grace, "must not be set for readinessProbes");
            }
        } else if at.int_of("successThreshold") != 1 {
            errors.invalid(&at.num("successThreshold"), "must be 1");
        }
    }
}

fn probe(at: &At, holder: &Holder, errors: &mut Errors) {
    handler(at, &["exec", "httpGet", "tcpSocket", "grpc"], holder, errors);
    for name in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        errors.not_negative(&at.num(name));
    }
    let grace = at.get("terminationGracePeriodSeconds");
    if grace.is_set() && grace.int() <= 0 {
        errors.invalid(&grace, "must be greater than 0");
    }
}

/// What is done after a container starts and before it stops.
pub(super) fn lifecycle(at: &At, holder: &Holder, errors: &mut Errors) {
    for name in ["postStart", "preStop"] {
        let hook = at.get(name);
        if hook.is_set() {
            handler(&hook, &["exec", "httpGet", "tcpSocket", "sleep"], holder, errors);
        }
    }
    let signal = at.get("stopSignal");
    if signal.is_set() {
        stop_signal(&signal, holder.os, errors);
    }
}

fn handler(at: &At, kinds: &[&str], holder: &Holder, errors: &mut Errors) {
    let mut count = 0;
    for kind in kinds {
        let action = at.get(kind);
        if !action.is_set() {
            continue;
        }
        if count > 0 {
            errors.forbidden(&action, "may not specify more than 1 handler type");
            continue;
        }
        count += 1;
        match *kind {
            "exec" => {
                if action.get("command").is_empty() {
                    errors.required(&action.get("command"), "");
                }
            }
            "httpGet" => http_get(&action, errors),
            "tcpSocket" => number_or_name(&action.num("port"), errors),
            "grpc" => number_or_name(&action.num("port"), errors),
            _ => sleep(&action, holder, errors),
        }
    }
    if count == 0 {
        errors.required(at, "must specify a handler type");
    }
}

fn http_get(at: &At, errors: &mut Errors) {
    errors.require_text(&at.txt("path"));
    number_or_name(&at.num("port"), errors);
    let scheme = at.txt("scheme");
    if !matches!(scheme.text(), "HTTP" | "HTTPS") {
        errors.not_supported(&scheme, &["HTTP", "HTTPS"]);
    }
    let headers = at.get("httpHeaders");
    for header in headers.items() {
        if let Some(problem) = http_header(header.text_of("name")) {
            errors.invalid_value(&headers, header.text_of("name"), problem);
        }
    }
}

fn sleep(at: &At, holder: &Holder, errors: &mut Errors) {
    let seconds = at.int_of("seconds");
    if let Some(grace) = holder.grace
        && !(0..=grace).contains(&seconds)
    {
        let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        errors.invalid_value(at, seconds, detail);
    }
}

fn stop_signal(at: &At, os: &str, errors: &mut Errors) {
    match os {
        "" => errors.forbidden(at, "may not be set for containers with empty `spec.os.name`"),
        "windows" => errors.one_of_if_set(at, &["SIGKILL", "SIGTERM"]),
        "linux" => errors.one_of_if_set(at, SIGNALS),
        _ => {}
    }
}

const SIGNALS: &[&str] = &[
    "SIGABRT",
    "SIGALRM",
    "SIGBUS",
    "SIGCHLD",
    "SIGCLD",
    "SIGCONT",
    "SIGFPE",
    "SIGHUP",
    "SIGILL",
    "SIGINT",
    "SIGIO",
    "SIGIOT",
    "SIGKILL",
    "SIGPIPE",
    "SIGPOLL",
    "SIGPROF",
    "SIGPWR",
    "SIGQUIT",
    "SIGRTMAX",
    "SIGRTMAX-1",
    "SIGRTMAX-10",
    "SIGRTMAX-11",
    "SIGRTMAX-12",
    "SIGRTMAX-13",
    "SIGRTMAX-14",
    "SIGRTMAX-2",
    "SIGRTMAX-3",
    "SIGRTMAX-4",
    "SIGRTMAX-5",
    "SIGRTMAX-6",
    "SIGRTMAX-7",
    "SIGRTMAX-8",
    "SIGRTMAX-9",
    "SIGRTMIN",
    "SIGRTMIN+1",
    "SIGRTMIN+10",
    "SIGRTMIN+11",
    "SIGRTMIN+12",
    "SIGRTMIN+13",
    "SIGRTMIN+14",
    "SIGRTMIN+15",
    "SIGRTMIN+2",
    "SIGRTMIN+3",
    "SIGRTMIN+4",
    "SIGRTMIN+5",
    "SIGRTMIN+6",
    "SIGRTMIN+7",
    "SIGRTMIN+8",
    "SIGRTMIN+9",
    "SIGSEGV",
    "SIGSTKFLT",
    "SIGSTOP",
    "SIGSYS",
    "SIGTERM",
    "SIGTRAP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGUSR1",
    "SIGUSR2",
    "SIGVTALRM",
    "SIGWINCH",
    "SIGXCPU",
    "SIGXFSZ",
];
