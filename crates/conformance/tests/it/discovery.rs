//! What the server says of itself.

use conformance::check;
use conformance::objects::definition;
use kube::core::GroupVersionKind;
use kube::discovery::{Discovery, Scope, verbs};
use serde_json::{Value, json};

/// The entry of one resource in an `APIResourceList`.
fn resource<'a>(list: &'a Value, name: &str) -> &'a Value {
    let resources = list["resources"].as_array().expect("a list of resources");
    resources
        .iter()
        .find(|resource| resource["name"] == name)
        .unwrap_or(&Value::Null)
}

const ALL_VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];

check!(the_core_group_has_version_v1, async |t| {
    let body = t.get("/api").await.code(200);
    assert_eq!(body["kind"], "APIVersions");
    assert_eq!(body["versions"], json!(["v1"]));
});

check!(the_groups_are_listed_with_their_preferred_version, async |t| {
    let body = t.get("/apis").await.code(200);
    assert_eq!(
        (&body["kind"], &body["apiVersion"]),
        (&json!("APIGroupList"), &json!("v1"))
    );
    let groups = body["groups"].as_array().unwrap();
    let apps = groups
        .iter()
        .find(|group| group["name"] == "apps")
        .expect("apps is served");
    let version = json!({"groupVersion": "apps/v1", "version": "v1"});
    assert_eq!(
        apps,
        &json!({"name": "apps", "versions": [version], "preferredVersion": version})
    );
});

check!(every_group_of_a_gitops_repository_is_served, async |t| {
    for version in [
        "admissionregistration.k8s.io/v1",
        "apiextensions.k8s.io/v1",
        "apiregistration.k8s.io/v1",
        "apps/v1",
        "authentication.k8s.io/v1",
        "authorization.k8s.io/v1",
        "autoscaling/v1",
        "autoscaling/v2",
        "batch/v1",
        "certificates.k8s.io/v1",
        "coordination.k8s.io/v1",
        "discovery.k8s.io/v1",
        "events.k8s.io/v1",
        "flowcontrol.apiserver.k8s.io/v1",
        "networking.k8s.io/v1",
        "node.k8s.io/v1",
        "policy/v1",
        "rbac.authorization.k8s.io/v1",
        "scheduling.k8s.io/v1",
        "storage.k8s.io/v1",
    ] {
        let body = t.get(&format!("/apis/{version}")).await.code(200);
        assert_eq!(body["kind"], "APIResourceList");
        assert_eq!(body["groupVersion"], version);
    }
});

check!(one_group_can_be_asked_for, async |t| {
    let body = t.get("/apis/apps").await.code(200);
    assert_eq!(
        (&body["kind"], &body["name"]),
        (&json!("APIGroup"), &json!("apps"))
    );
    assert_eq!(body["preferredVersion"]["groupVersion"], "apps/v1");
});

check!(a_resource_is_listed_with_verbs_scope_and_names, async |t| {
    let body = t.get("/api/v1").await.code(200);
    let pods = resource(&body, "pods");
    assert_eq!(pods["singularName"], "pod");
    assert_eq!(pods["namespaced"], true);
    assert_eq!(pods["kind"], "Pod");
    assert_eq!(pods["verbs"], json!(ALL_VERBS));
    assert_eq!(pods["shortNames"], json!(["po"]));
    assert_eq!(pods["categories"], json!(["all"]));
    let namespaces = resource(&body, "namespaces");
    assert_eq!(namespaces["namespaced"], false);
    assert_eq!(
        namespaces["verbs"],
        json!(["create", "delete", "get", "list", "patch", "update", "watch"])
    );
});

check!(subresources_are_listed_with_their_own_kinds, async |t| {
    let core = t.get("/api/v1").await.code(200);
    let token = resource(&core, "serviceaccounts/token");
    assert_eq!(token["kind"], "TokenRequest");
    assert_eq!(
        (&token["group"], &token["version"]),
        (&json!("authentication.k8s.io"), &json!("v1"))
    );
    assert_eq!(token["verbs"], json!(["create"]));
    let apps = t.get("/apis/apps/v1").await.code(200);
    let scale = resource(&apps, "deployments/scale");
    assert_eq!(
        (&scale["kind"], &scale["group"]),
        (&json!("Scale"), &json!("autoscaling"))
    );
    assert_eq!(scale["verbs"], json!(["get", "patch", "update"]));
    assert_eq!(
        resource(&apps, "deployments/status")["verbs"],
        json!(["get", "patch", "update"])
    );
});

check!(the_aggregated_form_lists_groups_with_their_resources, async |t| {
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let reply = t.get_as("/apis", accept).await;
    assert_eq!(reply.header("content-type"), accept);
    let body = reply.code(200);
    assert_eq!(body["kind"], "APIGroupDiscoveryList");
    assert_eq!(body["apiVersion"], "apidiscovery.k8s.io/v2");
    let items = body["items"].as_array().unwrap();
    let apps = items
        .iter()
        .find(|item| item["metadata"]["name"] == "apps")
        .expect("apps is served");
    let version = &apps["versions"][0];
    assert_eq!(
        (&version["version"], &version["freshness"]),
        (&json!("v1"), &json!("Current"))
    );
    let deployments = version["resources"].as_array().unwrap();
    let deployments = deployments
        .iter()
        .find(|one| one["resource"] == "deployments")
        .unwrap();
    assert_eq!(
        deployments["responseKind"],
        json!({"group": "", "version": "", "kind": "Deployment"})
    );
    assert_eq!(deployments["scope"], "Namespaced");
    assert_eq!(deployments["singularResource"], "deployment");
    assert_eq!(deployments["verbs"], json!(ALL_VERBS));
    assert_eq!(deployments["shortNames"], json!(["deploy"]));
    let names: Vec<_> = deployments["subresources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["subresource"])
        .collect();
    assert_eq!(names, ["scale", "status"]);
});

check!(the_core_group_has_the_aggregated_form_too, async |t| {
    let body = t
        .get_as(
            "/api",
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        )
        .await
        .code(200);
    assert_eq!(body["items"].as_array().unwrap().len(), 1);
    assert_eq!(body["items"][0]["versions"][0]["version"], "v1");
});

check!(the_aggregated_form_is_not_sent_again_to_who_has_it, async |t| {
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let etag = t.get_as("/api", accept).await.header("etag").to_owned();
    assert!(!etag.is_empty());
    let headers = [("accept", accept), ("if-none-match", etag.as_str())];
    let reply = t.send(http::Method::GET, "/api", &headers, Vec::new()).await;
    assert_eq!((reply.code, reply.text.as_str()), (304, ""));
});

check!(
    a_client_that_takes_both_forms_gets_the_aggregated_one,
    async |t| {
        let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
        let body = t.get_as("/apis", accept).await.code(200);
        assert_eq!(body["kind"], "APIGroupDiscoveryList");
    }
);

check!(kube_finds_kinds_in_the_aggregated_form, async |t| {
    let discovery = Discovery::new(t.client()).run_aggregated().await.unwrap();
    let gvk = GroupVersionKind::gvk("apps", "v1", "Deployment");
    let (resource, capabilities) = discovery.resolve_gvk(&gvk).expect("Deployment is known");
    assert_eq!(resource.plural, "deployments");
    assert_eq!(capabilities.scope, Scope::Namespaced);
    assert!(capabilities.supports_operation(verbs::DELETE_COLLECTION));
});

check!(an_unknown_group_is_a_plain_404, async |t| {
    for path in ["/apis/no.such.group", "/apis/no.such.group/v1"] {
        let reply = t.get(path).await;
        assert_eq!(
            (reply.code, reply.text.as_str()),
            (404, "404 page not found\n"),
            "{path}"
        );
        assert_eq!(reply.header("content-type"), "text/plain; charset=utf-8");
    }
});

check!(an_unknown_version_of_a_known_group_is_not_found, async |t| {
    t.get("/apis/apps/v9").await.fails(
        404,
        "NotFound",
        "the server could not find the requested resource",
    );
});

check!(the_version_is_told, async |t| {
    let body = t.get("/version").await.code(200);
    assert_eq!(body["major"], "1");
    assert!(body["minor"].as_str().unwrap().parse::<u32>().unwrap() >= 32);
    assert!(body["gitVersion"].as_str().unwrap().starts_with("v1."));
    assert!(body["platform"].as_str().unwrap().contains('/'));
});

check!(the_health_paths_say_ok, async |t| {
    for path in ["/healthz", "/livez", "/readyz"] {
        let reply = t.get(path).await;
        assert_eq!((reply.code, reply.text.as_str()), (200, "ok"), "{path}");
    }
});

check!(openapi_v3_has_an_index_of_group_versions, async |t| {
    let body = t.get("/openapi/v3").await.code(200);
    for path in ["api/v1", "apis/apps/v1", "apis/batch/v1"] {
        let url = body["paths"][path]["serverRelativeURL"].as_str().unwrap();
        assert!(url.starts_with(&format!("/openapi/v3/{path}?hash=")), "{url}");
    }
});

check!(openapi_v3_describes_the_kinds_of_a_group_version, async |t| {
    let body = t.get("/openapi/v3/apis/apps/v1").await.code(200);
    assert!(body["openapi"].as_str().unwrap().starts_with("3."));
    let schema = &body["components"]["schemas"]["io.k8s.api.apps.v1.Deployment"];
    let kind = json!([{"group": "apps", "kind": "Deployment", "version": "v1"}]);
    assert_eq!(schema["x-kubernetes-group-version-kind"], kind);
    assert_eq!(schema["properties"]["apiVersion"]["type"], "string");
    let path = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}";
    assert_eq!(
        body["paths"][path]["get"]["x-kubernetes-group-version-kind"]["kind"],
        "Deployment"
    );
});

check!(
    a_custom_resource_is_discovered_while_its_definition_exists,
    async |t| {
        let group = t.cluster.name("discovered.example.com");
        let mut crd = definition(&group);
        crd["spec"]["names"]["shortNames"] = json!(["wd"]);
        crd["spec"]["names"]["categories"] = json!(["all"]);
        t.cluster.establish(&crd).await;
        let list = t
            .until(&format!("/apis/{group}/v1"), |reply| reply.code == 200)
            .await;
        let widgets = resource(&list, "widgets");
        assert_eq!(widgets["shortNames"], json!(["wd"]));
        assert_eq!(widgets["categories"], json!(["all"]));
        assert_eq!(widgets["kind"], "Widget");
        assert_eq!(
            widgets["verbs"],
            json!([
                "delete",
                "deletecollection",
                "get",
                "list",
                "patch",
                "create",
                "update",
                "watch"
            ])
        );
        assert_eq!(
            resource(&list, "widgets/status")["verbs"],
            json!(["get", "patch", "update"])
        );
        t.delete(&format!(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.{group}"
        ))
        .await
        .ok();
        t.until_gone(&format!("/apis/{group}")).await;
    }
);
