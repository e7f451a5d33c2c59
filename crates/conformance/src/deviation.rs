//! Where the embedded server differs from the real one.

/// One check that the embedded server fails.
#[derive(Clone, Copy, Debug)]
pub struct Deviation {
    /// The check, as `cargo test` names it: `area::the_check`.
    pub check: &'static str,
    /// Why the difference is accepted.
    pub reason: &'static str,
}

/// Every accepted deviation, by area. On the embedded server such a check has to fail.
pub fn deviations() -> &'static [Deviation] {
    DEVIATIONS
}

const DEVIATIONS: &[Deviation] = &[
    Deviation {
        check: "defaults_workloads::a_pod_gets_a_service_account_and_tolerations",
        reason: "no service account token is mounted into pods, as nothing runs in them",
    },
    Deviation {
        check: "definitions::a_rule_compiles",
        reason: "rules are parsed and their functions looked up, but fields that they name are not checked against the schema",
    },
    Deviation {
        check: "read::yaml_is_written_to_who_asks_for_it",
        reason: "answers are JSON only: every client that we know takes it",
    },
    Deviation {
        check: "watch::the_old_path_of_a_watch_works",
        reason: "watches below /watch/ are deprecated since 2018, and no client that we know uses them",
    },
];

/// What the embedded server is still to learn. Such a check may fail on it or not: whoever teaches the server removes the line.
pub const TO_DO: &[&str] = &[
    "apply_refused::an_applied_object_is_validated",
    "errors::an_oversized_config_map_is_invalid",
    "immutable::an_immutable_config_map_stays",
    "immutable::an_immutable_secret_stays",
    "immutable::most_of_a_claim_stays",
    "immutable::most_of_a_pod_stays",
    "immutable::most_of_a_stateful_set_stays",
    "immutable::the_address_of_a_service_stays",
    "immutable::the_role_of_a_binding_stays",
    "immutable::the_selector_of_a_deployment_stays",
    "immutable::the_template_of_a_job_stays",
    "immutable::the_type_of_a_secret_stays",
    "patch_merge::a_merge_with_an_invalid_result_is_invalid",
    "validation::a_backend_of_an_ingress_has_a_port",
    "validation::a_claim_has_a_size_and_an_access_mode",
    "validation::a_disruption_budget_has_one_bound",
    "validation::a_network_policy_has_known_types",
    "validation::a_node_port_is_for_some_types_only",
    "validation::a_path_of_an_ingress_has_a_type",
    "validation::a_port_of_a_service_is_a_port",
    "validation::a_priority_is_below_a_billion",
    "validation::a_service_has_one_of_four_types",
    "validation::a_service_needs_ports",
    "validation::a_storage_class_has_a_provisioner",
    "validation::a_typed_secret_has_its_keys",
    "validation::an_autoscaler_has_a_range_and_a_target",
    "validation::an_event_is_about_its_own_namespace",
    "validation::an_external_name_is_given",
    "validation::an_ingress_has_rules_or_a_default",
    "validation::keys_of_a_config_map_are_file_names",
    "validation::several_ports_need_names",
    "validation_workloads::a_container_needs_a_valid_name_and_an_image",
    "validation_workloads::a_cron_job_needs_a_schedule",
    "validation_workloads::a_deployment_needs_a_selector",
    "validation_workloads::a_deployment_restarts_its_pods_always",
    "validation_workloads::a_job_needs_a_restart_policy",
    "validation_workloads::a_mounted_volume_exists",
    "validation_workloads::a_pod_needs_a_container",
    "validation_workloads::a_port_is_a_port",
    "validation_workloads::a_probe_names_a_port",
    "validation_workloads::a_pull_policy_is_one_of_three",
    "validation_workloads::a_request_is_not_above_its_limit",
    "validation_workloads::a_selector_has_to_match_the_template",
    "validation_workloads::a_stateful_set_has_one_of_two_policies",
    "validation_workloads::a_strategy_has_only_its_own_fields",
    "validation_workloads::a_template_needs_a_container",
    "validation_workloads::an_environment_variable_has_a_name_and_one_source",
    "validation_workloads::containers_have_different_names",
];

/// The deviation of a check, by its full path: the name of the test program is not part of the list.
pub(crate) fn of(path: &str) -> Option<&'static Deviation> {
    DEVIATIONS.iter().find(|deviation| name(path) == deviation.check)
}

/// Whether a check is on the list of what is still to be done.
pub(crate) fn is_to_do(path: &str) -> bool {
    TO_DO.contains(&name(path))
}

fn name(path: &str) -> &str {
    path.split_once("::").map_or(path, |(_, name)| name)
}
