//! Building charts that lie in a source.

use source::archive::MemoryTree;
use source::helm::NoRepositories;
use source::helm::build::{Content, Options, Stored, from_tree};
use testkit::helm::{Chart, Server};

use super::{Anyone, archive, chain, chart, files, text, tree};

#[tokio::test]
async fn a_directory_is_packed_without_what_helmignore_names() {
    let built = from_tree(&tree(), "charts/app", &NoRepositories, &Options::default())
        .await
        .unwrap();
    assert_eq!(built.summary(), "packaged 'app' chart with version '0.1.0'");
    let paths: Vec<String> = files(archive(&built)).into_iter().map(|file| file.path).collect();
    assert_eq!(
        paths,
        [
            ".helmignore",
            "Chart.yaml",
            "README.md",
            "templates/cm.yaml",
            "values.yaml"
        ]
    );
    let chart = chart(&built);
    assert_eq!(chart.metadata.app_version, "1.1");
    assert!(
        text(&chart, "values.yaml").starts_with("# default\n"),
        "unchanged values keep their text"
    );
}

#[tokio::test]
async fn values_files_are_found_from_the_root_of_the_source_on() {
    let options = Options {
        version_metadata: Some("abc.2".into()),
        values_files: vec![
            "charts/app/values.yaml".into(),
            "../envs/prod.yaml".into(),
            "envs/null.yaml".into(),
        ],
        ..Options::default()
    };
    let built = from_tree(&tree(), "./charts/app", &NoRepositories, &options)
        .await
        .unwrap();
    assert_eq!(built.version, "0.1.0+abc.2");
    assert_eq!(text(&chart(&built), "values.yaml"), "image: null\nreplicas: 3\n");
    assert_eq!(built.values_files, options.values_files);
}

#[tokio::test]
async fn a_chart_of_the_same_version_is_not_packed_again() {
    let stored = Stored {
        name: "app".into(),
        version: "0.1.0".into(),
        values_files: None,
    };
    let options = Options {
        stored: Some(stored),
        ..Options::default()
    };
    let built = from_tree(&tree(), "charts/app", &NoRepositories, &options)
        .await
        .unwrap();
    assert_eq!((built.content, built.packaged), (Content::Stored, true));
}

#[tokio::test]
async fn an_archive_in_the_source_is_taken_as_it_is_or_packed_anew() {
    let packed = Chart::new("app", "1.0.0").values("a: 1\n");
    let tree = MemoryTree::new()
        .with("app.tgz", packed.archive())
        .with("over.yaml", "a: 2\n");
    let built = from_tree(&tree, "app.tgz", &NoRepositories, &Options::default())
        .await
        .unwrap();
    assert_eq!(archive(&built), packed.archive());
    assert!(!built.packaged);
    let options = Options {
        values_files: vec!["over.yaml".into()],
        ..Options::default()
    };
    let built = from_tree(&tree, "app.tgz", &NoRepositories, &options)
        .await
        .unwrap();
    assert_eq!(text(&chart(&built), "values.yaml"), "a: 2\n");
}

#[tokio::test]
async fn missing_dependencies_are_fetched_and_local_ones_found_in_the_source() {
    let server = Server::start();
    server.add(&Chart::new("redis", "1.0.0").values("port: 1\n"));
    server.add(&Chart::new("redis", "1.5.0"));
    let metadata = format!(
        "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n\
         - {{name: redis, version: 1.x, repository: \"{}\", alias: cache}}\n\
         - {{name: lib, version: \">=0.1\", repository: \"file://../lib\"}}\n\
         - {{name: here, version: 0.1.0, repository: \"\"}}\n",
        server.url()
    );
    let tree = MemoryTree::new()
        .with("charts/app/Chart.yaml", metadata.clone())
        .with(
            "charts/app/charts/here/Chart.yaml",
            "apiVersion: v2\nname: here\nversion: 0.1.0\n",
        )
        .with(
            "charts/lib/Chart.yaml",
            "apiVersion: v2\nname: lib\nversion: 0.2.0\ntype: library\n",
        );
    let built = from_tree(&tree, "charts/app", &Anyone, &Options::default())
        .await
        .unwrap();
    assert_eq!(built.resolved_dependencies, 2);
    let found = chart(&built);
    let names: Vec<_> = found
        .dependencies
        .iter()
        .map(|dependency| {
            (
                dependency.metadata.name.as_str(),
                dependency.metadata.version.as_str(),
            )
        })
        .collect();
    assert_eq!(names, [("cache", "1.5.0"), ("here", "0.1.0"), ("lib", "0.2.0")]);

    let lock = format!(
        "dependencies:\n- {{name: redis, version: 1.0.0, repository: \"{}\", alias: cache}}\ndigest: x\ngenerated: \"2026-01-01T00:00:00Z\"\n",
        server.url()
    );
    let locked = MemoryTree::new()
        .with("app/Chart.yaml", metadata)
        .with("app/Chart.lock", lock);
    let built = from_tree(&locked, "app", &Anyone, &Options::default())
        .await
        .unwrap();
    let found = chart(&built);
    assert_eq!(found.dependencies[0].metadata.version, "1.0.0", "the lock counts");
    assert_eq!(found.lock.unwrap().digest, "x");
}

#[tokio::test]
async fn the_first_format_has_its_dependencies_in_a_file_of_their_own() {
    let tree = MemoryTree::new()
        .with("app/Chart.yaml", "name: app\nversion: 1.0.0\n")
        .with(
            "app/requirements.yaml",
            "dependencies:\n- {name: lib, version: 0.x, repository: \"file://../lib\"}\n",
        )
        .with("lib/Chart.yaml", "name: lib\nversion: 0.2.0\n");
    let built = from_tree(&tree, "app", &NoRepositories, &Options::default())
        .await
        .unwrap();
    let found = chart(&built);
    assert_eq!(found.metadata.api_version, "v1");
    assert_eq!(found.dependencies[0].metadata.name, "lib");
    assert!(found.file("requirements.yaml").is_some());
}

#[tokio::test]
async fn dependencies_that_cannot_be_had_are_told_by_name() {
    let cases = [
        (
            "@stable",
            "aliased repository dependency is not supported: @stable",
        ),
        ("s3://bucket", "invalid dependency repository URL: s3://bucket"),
        (
            "https://charts.example",
            "no chart repository for URL 'https://charts.example/'",
        ),
        (
            "file://../../../nowhere",
            "no chart found at '/nowhere' (reference 'file://../../../nowhere')",
        ),
        ("file://../old", "can't get a valid version for constraint '1.x'"),
    ];
    for (repository, expected) in cases {
        let metadata = format!(
            "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n- {{name: dep, version: 1.x, repository: \"{repository}\"}}\n"
        );
        let tree = MemoryTree::new()
            .with("app/Chart.yaml", metadata)
            .with("old/Chart.yaml", "apiVersion: v2\nname: dep\nversion: 0.9.0\n");
        let error = from_tree(&tree, "app", &NoRepositories, &Options::default())
            .await
            .unwrap_err();
        assert_eq!(
            (error.reason(), error.is_stalling()),
            ("DependencyBuildError", false)
        );
        let text = chain(&error);
        assert!(
            text.contains("dependency 'dep'") && text.contains(expected),
            "{text}"
        );
    }
}

#[tokio::test]
async fn what_is_no_chart_is_a_wrong_reference() {
    let tree = tree()
        .with("broken/Chart.yaml", "name: [\n")
        .with("nameless/Chart.yaml", "version: 1.0.0\n")
        .with("file.tgz", "no archive");
    for path in [
        "",
        "/charts/app",
        "nowhere",
        "broken",
        "nameless",
        "envs",
        "file.tgz",
        "envs/prod.yaml",
    ] {
        let error = from_tree(&tree, path, &NoRepositories, &Options::default())
            .await
            .unwrap_err();
        assert_eq!(
            (error.reason(), error.is_stalling()),
            ("InvalidChartReference", true),
            "{path}"
        );
    }
    let options = Options {
        values_files: vec!["envs".into()],
        ..Options::default()
    };
    let error = from_tree(&tree, "charts/app", &NoRepositories, &options)
        .await
        .unwrap_err();
    assert_eq!(error.reason(), "ValuesFilesError");
    let mut options = Options::default();
    options.limits.file = 10;
    let error = from_tree(&tree, "charts/app", &NoRepositories, &options)
        .await
        .unwrap_err();
    assert!(
        chain(&error).contains("exceeds the limit of 10 bytes"),
        "{}",
        chain(&error)
    );
}
