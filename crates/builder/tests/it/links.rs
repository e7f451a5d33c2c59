//! Directories on a disk: whatever links, dots and slashes lead out of one, a build reads nothing from there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use builder::{Directory, Request, Tools};

use super::{at, config};

/// What nobody may read.
const SECRET: &str = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: outside\n";

/// A directory `tree` with a kustomization in `app`, beside one with a secret.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for name in ["tree/app", "tree/base", "outside"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::write(root.join("outside/secret.yaml"), SECRET).unwrap();
    fs::write(
        root.join("outside/kustomization.yaml"),
        "resources: [secret.yaml]\n",
    )
    .unwrap();
    fs::write(root.join("tree/base/kustomization.yaml"), "resources: [a.yaml]\n").unwrap();
    fs::write(root.join("tree/base/a.yaml"), config("a")).unwrap();
    folder
}

fn build(folder: &Path, request: &Request) -> Result<String, String> {
    let tree = Directory::new(&folder.join("tree")).unwrap();
    let built = builder::build(&tree, request, &Tools::default()).map_err(|errors| errors.to_string())?;
    built.to_yaml().map_err(|errors| errors.to_string())
}

#[test]
fn no_kustomization_reads_through_links_that_lead_out() {
    let folder = folder();
    let root = folder.path();
    let app = root.join("tree/app");
    symlink("../../outside/secret.yaml", app.join("file.yaml")).unwrap();
    symlink(root.join("outside/secret.yaml"), app.join("absolute.yaml")).unwrap();
    symlink("../../outside", app.join("folder")).unwrap();
    symlink("file.yaml", app.join("chain.yaml")).unwrap();
    symlink("loop.yaml", app.join("loop.yaml")).unwrap();
    symlink("../..", app.join("above")).unwrap();
    symlink("nowhere", app.join("broken.yaml")).unwrap();
    let outside = root.join("outside").display().to_string();
    let names = [
        "file.yaml",
        "absolute.yaml",
        "folder",
        "folder/secret.yaml",
        "chain.yaml",
        "loop.yaml",
        "above/outside",
        "above/outside/secret.yaml",
        "broken.yaml",
        "../../outside",
        "../../outside/secret.yaml",
        "../../../../../../../../etc",
        &outside,
        &format!("{outside}/secret.yaml"),
    ];
    for name in names {
        for text in [
            format!("resources: ['{name}']\n"),
            format!("components: ['{name}']\n"),
            format!("resources: [../base]\npatches: [{{path: '{name}'}}]\n"),
            format!("configMapGenerator: [{{name: x, files: ['k={name}'], envs: ['{name}']}}]\n"),
            format!("resources: [../base]\nreplacements: [{{path: '{name}'}}]\n"),
            format!("resources: [../base]\nconfigurations: ['{name}']\n"),
            format!("resources: [../base]\ntransformers: ['{name}']\n"),
            format!("resources: [../base]\nopenapi: {{path: '{name}'}}\n"),
        ] {
            fs::write(app.join("kustomization.yaml"), &text).unwrap();
            let built = build(root, &at("app"));
            assert!(built.is_err(), "{text} built {built:?}");
        }
    }
}

#[test]
fn a_generated_kustomization_leaves_out_what_links_lead_to_outside() {
    let folder = folder();
    let app = folder.path().join("tree/app");
    fs::write(app.join("own.yaml"), config("own")).unwrap();
    symlink("../../outside", app.join("folder")).unwrap();
    symlink("../../outside/secret.yaml", app.join("file.yaml")).unwrap();
    if let Ok(built) = build(folder.path(), &at("app")) {
        assert!(!built.contains("outside"), "{built}");
    }
}

#[test]
fn no_path_of_a_request_leads_out() {
    let folder = folder();
    symlink("../outside", folder.path().join("tree/out")).unwrap();
    for path in [
        "out",
        "..",
        "../outside",
        "app/../../outside",
        "/../outside",
        "./../outside",
    ] {
        let built = build(folder.path(), &at(path));
        assert!(
            !built.as_deref().is_ok_and(|text| text.contains("outside")),
            "{path}: {built:?}"
        );
    }
}

#[test]
fn links_inside_of_the_tree_are_followed() {
    let folder = folder();
    let app = folder.path().join("tree/app");
    symlink("../base", app.join("link")).unwrap();
    fs::write(app.join("kustomization.yaml"), "resources: [link]\n").unwrap();
    assert_eq!(
        build(folder.path(), &at("app")),
        Ok("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n".to_owned())
    );
}

#[test]
fn all_files_that_cannot_be_reached_are_told_with_line_and_reason() {
    let folder = folder();
    let app = folder.path().join("tree/app");
    symlink("../../outside/secret.yaml", app.join("out.yaml")).unwrap();
    symlink("round.yaml", app.join("about.yaml")).unwrap();
    symlink("about.yaml", app.join("round.yaml")).unwrap();
    symlink("nothing", app.join("broken.yaml")).unwrap();
    fs::write(
        app.join("kustomization.yaml"),
        "resources:\n- out.yaml\n- about.yaml\n- broken.yaml\n- gone.yaml\n",
    )
    .unwrap();
    let tree = Directory::new(&folder.path().join("tree"))
        .unwrap()
        .shown_relative();
    let errors = builder::build(&tree, &at("app"), &Tools::default())
        .unwrap_err()
        .to_string();
    let lines: Vec<&str> = errors.lines().collect();
    let wanted = [
        (
            "2: accumulating resources from 'out.yaml': open app/out.yaml",
            "it leads out of the source",
        ),
        (
            "3: accumulating resources from 'about.yaml': open app/about.yaml",
            "symbolic links",
        ),
        (
            "4: accumulating resources from 'broken.yaml': open app/broken.yaml",
            "it is a link to 'nothing', which is not there",
        ),
        (
            "5: accumulating resources from 'gone.yaml': open app/gone.yaml",
            "no such file or directory",
        ),
    ];
    assert_eq!(lines.len(), wanted.len(), "{errors}");
    for (line, (place, reason)) in lines.iter().zip(wanted) {
        assert!(
            line.starts_with(&format!("app/kustomization.yaml:{place}: ")) && line.contains(reason),
            "{line}"
        );
    }
}
