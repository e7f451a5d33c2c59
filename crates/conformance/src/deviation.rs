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

const DEVIATIONS: &[Deviation] = &[];

/// What the embedded server is still to learn. Such a check may fail on it or not: whoever teaches the server removes the line.
pub const TO_DO: &[&str] = &[
    "apply_conflicts::kubectl_takes_over_from_its_client_side_apply",
    "apply_refused::a_field_manager_is_printable",
    "apply_refused::an_applied_object_is_validated",
    "apply_refused::apply_needs_kind_and_version",
    "apply_refused::apply_needs_the_name_of_the_path",
    "apply_refused::applying_a_field_that_is_not_in_the_schema_fails",
    "apply_refused::applying_a_value_of_the_wrong_type_fails",
    "apply_refused::malformed_yaml_cannot_be_applied",
    "apply_refused::two_elements_of_one_key_cannot_be_applied",
    "create::a_dry_run_of_another_kind_than_all_is_invalid",
    "create::an_empty_body_is_a_bad_request",
    "create::another_kind_in_the_body_is_a_bad_request",
    "create::another_version_in_the_body_is_a_bad_request",
    "create::create_with_a_name_in_the_path_is_not_allowed",
    "delete::a_collection_across_namespaces_cannot_be_deleted",
    "delete::a_pod_that_no_node_runs_is_deleted_at_once",
    "delete::an_unknown_propagation_policy_is_invalid",
    "discovery::a_custom_resource_is_discovered_while_its_definition_exists",
    "discovery::an_unknown_group_is_a_plain_404",
    "errors::a_cluster_scoped_kind_is_not_served_within_a_namespace",
    "errors::a_malformed_query_parameter_is_a_bad_request",
    "errors::a_media_type_that_cannot_be_written_is_not_acceptable",
    "errors::a_method_that_is_not_served_is_not_allowed",
    "errors::an_oversized_config_map_is_invalid",
    "errors::an_unknown_media_type_of_a_patch_is_unsupported",
    "errors::an_unknown_media_type_of_the_body_is_unsupported",
    "errors::an_unknown_path_is_a_plain_404",
    "errors::deep_nesting_is_refused",
    "errors::every_answer_names_an_audit_id",
    "errors::malformed_json_is_a_bad_request",
    "errors::malformed_yaml_is_a_bad_request",
    "field_validation::a_deprecated_resource_is_warned_of",
    "field_validation::a_strict_apply_refuses_duplicate_fields",
    "field_validation::a_strict_merge_patch_with_unknown_fields_is_invalid",
    "field_validation::a_strict_strategic_patch_with_unknown_fields_is_invalid",
    "paging::a_list_from_any_version_ignores_the_limit",
    "paging::a_token_of_a_forgotten_time_is_expired",
    "paging::a_token_that_is_none_is_a_bad_request",
    "patch_json::too_many_operations_are_refused",
    "patch_merge::a_merge_cannot_rename",
    "patch_merge::a_merge_of_a_custom_resource_works_alike",
    "patch_merge::a_merge_with_an_invalid_result_is_invalid",
    "patch_strategic::a_custom_resource_takes_no_strategic_merge",
    "read::every_namespace_gets_the_root_certificate",
    "read::pretty_output_is_indented",
    "read::yaml_is_written_to_who_asks_for_it",
    "resource_version::a_version_that_is_no_number_is_a_bad_request",
    "resource_version::an_exact_list_of_a_forgotten_version_is_expired",
    "resource_version::an_unknown_match_is_invalid",
    "selectors::a_field_that_cannot_be_selected_is_a_bad_request",
    "update::a_put_with_a_version_that_is_no_number_fails",
    "update::a_put_with_another_uid_conflicts",
    "update::a_put_without_a_name_is_a_bad_request",
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
