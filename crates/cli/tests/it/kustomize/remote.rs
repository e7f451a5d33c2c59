//! Files at URLs and bases in Git repositories.

use testkit::git;
use testkit::http::{Fault, Reply, Request, Server};

use super::{folder, refused, same};

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: far}\ndata: {a: b}\n";

#[test]
fn files_at_urls_are_resources() {
    let server = Server::serve(|request: &Request| {
        Reply::text(if request.path() == "/far.yaml" { CONFIG } else { "" })
    });
    let kustomization = format!("resources: ['{}/far.yaml']\nnamePrefix: near-\n", server.url());
    let folder = folder(&[("kustomization.yaml", &kustomization)]);
    assert!(same(&[], folder.path()).contains("name: near-far"));
    server.fail(Fault::status(404).forever());
    let said = refused(&[], folder.path());
    assert!(said.contains("404") && said.contains("/far.yaml"), "{said}");
}

#[test]
fn bases_in_git_are_had_by_branch_tag_commit_and_default() {
    let server = git::Server::start();
    let repository = server.repository("team/app");
    let commit_of = |branch: &str, name: &str| {
        let config = CONFIG.replace("far", name);
        let files = [
            (
                "base/kustomization.yaml",
                "resources: [../shared]\nnameSuffix: -base\n",
            ),
            ("shared/kustomization.yaml", "resources: [a.yaml]\n"),
            ("shared/a.yaml", config.as_str()),
        ];
        repository.commit(branch, name, files)
    };
    let first = commit_of("main", "first");
    repository.annotated_tag("v1", first).create();
    commit_of("main", "second");
    commit_of("other", "third");
    let commit = first.to_string();
    for (query, name) in [
        ("", "second"),
        ("?ref=v1", "first"),
        ("?ref=other", "third"),
        (&format!("?ref={commit}"), "first"),
    ] {
        let url = format!("{}//base{query}", server.clone_url("team/app"));
        let kustomization = format!("resources: ['{url}']\n");
        let text = same(&[], folder(&[("kustomization.yaml", &kustomization)]).path());
        assert!(text.contains(&format!("name: {name}-base")), "{query}: {text}");
    }
    let kustomization = format!("resources: ['{}//base?ref=gone']\n", server.clone_url("team/app"));
    let said = refused(&[], folder(&[("kustomization.yaml", &kustomization)]).path());
    assert!(said.contains("gone"), "{said}");
}
