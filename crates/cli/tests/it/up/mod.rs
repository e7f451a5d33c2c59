//! `sluice up`.

mod cluster;
mod examples;
mod given;
mod process;
mod releases;
mod repository;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use process::Up;

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";

const PAGE: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: page, namespace: shop}\ndata:\n  text: hello\n";

const WEB: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  replicas: 1
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: web:1
";

fn shop() -> Up {
    Up::new()
        .file("a.yaml", NAMESPACE)
        .file("page.yaml", PAGE)
        .file("web.yaml", WEB)
}

#[test]
fn a_workload_that_does_not_come_up_is_told_with_the_reason() {
    let failing = WEB.replace(
        "      labels: {app: web}\n",
        "      labels: {app: web}\n      annotations: {simulator.sluice.dev/outcome: image-pull}\n",
    );
    let (code, text) = shop().file("web.yaml", &failing).argument("--timeout=15").once();
    assert_eq!(code, Some(1), "{text}");
    let last = text.split_once("not ready after 15 s:").unwrap().1;
    assert!(
        last.contains("Deployment") && last.contains("web.yaml:1"),
        "{text}"
    );
    assert!(last.contains("ImagePull"), "{text}");
}

#[tokio::test]
async fn nothing_is_touched_while_anything_is_wrong() {
    let up = shop()
        .file(
            "page.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: page, namespace: shop}\ndata: [\n",
        )
        .file("web.yaml", &WEB.replace("replicas: 1", "replicas: three"))
        .file(
            "more.yaml",
            &WEB.replace("name: web\n  namespace", "name: more\n  namespace")
                .replace("image:", "imagee:"),
        )
        .start();
    let text = up.said("nothing is changed until this is mended").await;
    assert!(text.contains("page.yaml:"), "{text}");
    up.write("page.yaml", PAGE);
    let text = up.said("more.yaml:").await;
    assert!(
        text.contains("web.yaml:7: "),
        "the line of the field is told: {text}"
    );
    assert!(text.contains("more.yaml:15: "), "{text}");
    let pages: Api<ConfigMap> = Api::namespaced(up.client().await, "shop");
    assert!(pages.get_opt("page").await.unwrap().is_none());
    up.write("web.yaml", WEB);
    up.remove("more.yaml");
    up.said("ready     Deployment/shop/web").await;
}

#[test]
fn no_value_of_a_secret_is_told() {
    let secret = |rest: &str| format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\n{rest}\n");
    for rest in [
        "stringData: {password: 7654321}",
        "stringData: [7654321]",
        "stringData: '7654321'",
        "data: {password: '7654321!'}",
        "immutable: '7654321'",
        "stringData: {password: *7654321}",
    ] {
        let (code, text) = Up::new().file("s.yaml", &secret(rest)).once();
        assert_eq!(code, Some(1), "{rest}: {text}");
        assert!(!text.contains("7654321"), "{rest}: {text}");
        assert!(text.contains("s.yaml:"), "{rest}: {text}");
    }
}

#[tokio::test]
async fn files_are_followed() {
    let up = shop().start();
    up.said("ready     Deployment/shop/web").await;
    up.write("page.yaml", &PAGE.replace("hello", "changed"));
    up.said("changed   ConfigMap/shop/page").await;
    up.remove("web.yaml");
    up.said("pruned    Deployment/shop/web").await;
    up.remove("page.yaml");
    up.said("pruned    ConfigMap/shop/page").await;
    up.remove("a.yaml");
    let text = up.said("holds no objects any more").await;
    assert!(!text.contains("pruned    Namespace"), "{text}");
}

/// What cannot be read is never taken for gone.
#[tokio::test]
async fn what_cannot_be_read_is_told_and_prunes_nothing() {
    let up = shop().start();
    up.said("ready     Deployment/shop/web").await;
    let large = std::fs::File::create(up.folder().join("page.yaml")).unwrap();
    large.set_len(17 << 20).unwrap();
    let text = up.said("page.yaml: it is larger than 16 MiB").await;
    assert!(text.contains("nothing is changed until this is mended"), "{text}");
    up.write("page.yaml", PAGE);
    let text = up.said("mended    the files can be read again").await;
    assert!(!text.contains("pruned"), "{text}");
    let (code, text) = shop().large_file("large.yaml").once();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("large.yaml: it is larger than 16 MiB"), "{text}");
}

#[tokio::test]
async fn what_was_pruned_and_comes_back_was_deleted_by_nobody_else() {
    let up = shop().start();
    up.said("ready     Deployment/shop/web").await;
    up.remove("page.yaml");
    up.said("pruned    ConfigMap/shop/page").await;
    up.write("page.yaml", PAGE);
    up.until("it is made again", async || {
        up.count("created   ConfigMap/shop/page") == 2
    })
    .await;
    let text = up.said("created").await;
    assert!(!text.contains("restored"), "{text}");
}

#[test]
fn one_object_is_spoken_of_as_one() {
    let (code, text) = Up::new().file("a.yaml", NAMESPACE).once();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("the one object is ready"), "{text}");
    let (code, text) = Up::new().file("a.yaml", NAMESPACE).argument("--path=nope").once();
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("files/nope is not a directory: correct --path"),
        "{text}"
    );
}

#[tokio::test]
async fn what_others_change_or_delete_is_put_right() {
    let up = shop().start();
    up.said("ready     Deployment/shop/web").await;
    let client = up.client().await;
    let webs: Api<Deployment> = Api::namespaced(client.clone(), "shop");
    let scaled = serde_json::json!({"spec": {"replicas": 3}});
    webs.patch("web", &PatchParams::default(), &Patch::Merge(&scaled))
        .await
        .unwrap();
    let text = up.said("restored  Deployment/shop/web").await;
    assert_eq!(text.matches("restored").count(), 1, "{text}");
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.delete("shop", &DeleteParams::default()).await.unwrap();
    let pages: Api<ConfigMap> = Api::namespaced(client, "shop");
    up.until("the whole namespace is back", async || {
        let page = pages.get_opt("page").await.unwrap();
        let web = webs.get_opt("web").await.unwrap();
        let ready = web.and_then(|web| web.status?.available_replicas);
        page.is_some_and(|page| page.metadata.deletion_timestamp.is_none()) && ready == Some(1)
    })
    .await;
}

#[tokio::test]
async fn a_namespace_that_comes_later_is_waited_for() {
    let up = Up::new().file("page.yaml", PAGE).start();
    let text = up.said("ConfigMap/shop/page: not found").await;
    assert!(text.contains("page.yaml:"), "{text}");
    let namespaces: Api<Namespace> = Api::all(up.client().await);
    let mut shop = Namespace::default();
    shop.metadata.name = Some("shop".into());
    namespaces.create(&Default::default(), &shop).await.unwrap();
    up.said("created   ConfigMap/shop/page").await;
}

#[test]
fn a_definition_and_its_objects_stand_in_one_file() {
    let text = "apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {size: 3}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
";
    let (code, said) = Up::new().file("all.yaml", text).once();
    assert_eq!(code, Some(0), "{said}");
    let wrong = text.replace("size: 3", "size: three");
    let (code, said) = Up::new().file("all.yaml", &wrong).once();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("all.yaml:4: "), "{said}");
}

#[test]
fn an_empty_directory_is_no_success() {
    let (code, text) = Up::new().once();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("holds no objects"), "{text}");
}

#[cfg(unix)]
#[tokio::test]
async fn signals_end_it_whatever_it_does_and_no_credentials_stay() {
    use rustix::process::Signal;
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        // It waits for a kind that never comes, with its credentials in a directory of its own.
        let up = Up::new()
            .file(
                "w.yaml",
                "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n",
            )
            .own_temporary_directory()
            .start_without_kubeconfig();
        up.said("no matches for kind \"Widget\"").await;
        assert!(up.temporary_files() > 0);
        up.signal(signal);
        assert_eq!(up.ended().await, Some(0), "{signal:?}");
        assert_eq!(up.temporary_files(), 0, "{signal:?}");
    }
}

#[cfg(unix)]
#[test]
fn pipes_and_links_are_left_out() {
    let up = shop();
    let pipe = up.folder().join("pipe.yaml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", up.folder().join("zero.yaml")).unwrap();
    let (code, text) = up.once();
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("pipe.yaml: it is a link or no regular file"),
        "{text}"
    );
    assert!(
        text.contains("zero.yaml: it is a link or no regular file"),
        "{text}"
    );
}
