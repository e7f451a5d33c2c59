//! Webhooks and policies that are asked before objects are stored.

use model::Map;

use super::Fields;

pub(super) fn validating_webhooks(object: &mut Map) {
    object.each("webhooks", webhook);
}

pub(super) fn mutating_webhooks(object: &mut Map) {
    object.each("webhooks", |hook| {
        webhook(hook);
        hook.default("reinvocationPolicy", "Never");
    });
}

fn webhook(webhook: &mut Map) {
    webhook.default("failurePolicy", "Fail");
    webhook.default("timeoutSeconds", 10);
    selectors(webhook);
    webhook.within("clientConfig", |client| {
        client.within("service", |service| service.default("port", 443))
    });
    webhook.each("rules", rule);
}

pub(super) fn policy(object: &mut Map) {
    object.within("spec", |spec| {
        spec.default("failurePolicy", "Fail");
        spec.within("matchConstraints", match_resources);
    });
}

pub(super) fn binding(object: &mut Map) {
    object.within("spec", |spec| spec.within("matchResources", match_resources));
}

fn match_resources(resources: &mut Map) {
    selectors(resources);
    resources.each("resourceRules", rule);
    resources.each("excludeResourceRules", rule);
}

fn selectors(holder: &mut Map) {
    holder.default("matchPolicy", "Equivalent");
    holder.default("namespaceSelector", Map::new());
    holder.default("objectSelector", Map::new());
}

fn rule(rule: &mut Map) {
    rule.default("scope", "*");
}
