//! Charts in registries and repositories.

use std::fs;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;
use testkit::helm::{Chart, Server as Repository};
use testkit::oci::Server as Registry;

use super::{run, text};

const OURS: &str = env!("CARGO_BIN_EXE_sluice");

fn ours(folder: &Path, arguments: &[&str]) -> Output {
    run(OURS, &[&["helm"], arguments].concat(), folder)
}

fn good(output: Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = ours(folder, arguments);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    text(&output.stderr)
}

fn chart(version: &str) -> Chart {
    Chart::new("web", version)
        .metadata("description", "A <web> & more")
        .values("port: 80\n")
        .template(
            "service.yaml",
            "kind: Service\nmetadata: {name: {{ .Release.Name }}}\nport: {{ .Values.port }}\nversion: {{ .Chart.Version }}\n",
        )
}

fn folder(version: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join(format!("web-{version}.tgz")),
        chart(version).archive(),
    )
    .unwrap();
    folder
}

fn oci(registry: &Registry) -> String {
    format!("oci://{}/charts", registry.host())
}

/// What both print, where the real helm is, in folders of their own that hold the same afterwards.
fn same(arguments: &[&str]) -> (String, TempDir) {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let printed = good(ours(one.path(), arguments));
    if testkit::program::find("helm").is_some() {
        let theirs = run("helm", arguments, other.path());
        // Helm keeps what it has fetched at home.
        let _ = fs::remove_dir_all(other.path().join(".cache"));
        let theirs = good(theirs);
        assert_eq!(printed, theirs);
        assert_eq!(files(one.path()), files(other.path()));
    }
    (printed, one)
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.push((name, fs::read(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_pushed_has_the_digest_that_helm_gives_it() {
    for version in ["1.2.3", "1.2.3+build"] {
        let folder = folder(version);
        fs::write(folder.path().join(format!("web-{version}.tgz.prov")), "signed").unwrap();
        let archive = format!("web-{version}.tgz");
        let push = |program: &str, first: &[&str]| {
            let registry = Registry::start();
            let url = oci(&registry);
            let arguments = [first, &["push", &archive, &url, "--plain-http"]].concat();
            let printed = good(run(program, &arguments, folder.path()));
            (printed.replace(&registry.host(), "HOST"), registry)
        };
        let (printed, registry) = push(OURS, &["helm"]);
        let tag = version.replace('+', "_");
        let start = format!("Pushed: HOST/charts/web:{tag}\nDigest: sha256:");
        assert!(printed.starts_with(&start), "{printed}");
        assert!(registry.digest("charts/web", &tag).is_some());
        if testkit::program::find("helm").is_some() {
            assert_eq!(printed, push("helm", &[]).0);
        }
    }
}

#[test]
fn charts_of_a_registry_are_pulled_as_helm_pulls_them() {
    let registry = Registry::start();
    let url = oci(&registry);
    for version in ["1.0.0", "1.1.0", "2.0.0-rc.1"] {
        let folder = folder(version);
        let archive = format!("web-{version}.tgz");
        good(ours(folder.path(), &["push", &archive, &url, "--plain-http"]));
    }
    let digest = registry.digest("charts/web", "1.0.0").unwrap();
    let web = format!("{url}/web");
    let by_tag = format!("{web}:1.0.0");
    let by_digest = format!("{web}@{digest}");
    for (arguments, file) in [
        (&[web.as_str()][..], "web-1.1.0.tgz"),
        (&[&web, "--version", "~1.0"], "web-1.0.0.tgz"),
        (&[&web, "--devel"], "web-2.0.0-rc.1.tgz"),
        (&[&by_tag], "web-1.0.0.tgz"),
        (
            &[&by_digest],
            &format!("web@{}.tgz", digest.to_string().replace(':', "-")),
        ),
        (&[&web, "--untar"], "web/Chart.yaml"),
        (&[&web, "--untar", "--untardir", "below"], "below/web/Chart.yaml"),
    ] {
        let (printed, folder) = same(&[&["pull", "--plain-http"], arguments].concat());
        assert!(printed.starts_with("Pulled: "), "{printed}");
        assert!(folder.path().join(file).is_file(), "{file}");
    }
    let rendered = same(&["template", "r", &web, "--plain-http", "--set", "port=1"]).0;
    assert!(rendered.contains("port: 1\nversion: 1.1.0\n"), "{rendered}");
    let shown = same(&["show", "chart", &by_tag, "--plain-http"]).0;
    assert!(shown.contains("version: 1.0.0\n"), "{shown}");
}

#[test]
fn charts_of_a_repository_are_pulled_as_helm_pulls_them() {
    let repository = Repository::start();
    for version in ["1.0.0", "1.1.0", "2.0.0-rc.1"] {
        repository.add(&chart(version));
    }
    let url = repository.url();
    let whole = format!("{}/web-1.0.0.tgz", url.trim_end_matches('/'));
    for (arguments, file) in [
        (&["web", "--repo", &url][..], "web-1.1.0.tgz"),
        (&["web", "--repo", &url, "--version", "1.0.0"], "web-1.0.0.tgz"),
        (&["web", "--repo", &url, "--devel"], "web-2.0.0-rc.1.tgz"),
        (&["web", "--repo", &url, "--untar"], "web/Chart.yaml"),
        (&[&whole], "web-1.0.0.tgz"),
    ] {
        let folder = same(&[&["pull"], arguments].concat()).1;
        assert!(
            folder.path().join(file).is_file(),
            "{file}: {:?}",
            files(folder.path())
        );
    }
    let rendered = same(&["template", "r", "web", "--repo", &url, "--version", "^1"]).0;
    assert!(rendered.contains("version: 1.1.0\n"), "{rendered}");
    assert_eq!(same(&["show", "values", &whole]).0, "port: 80\n\n");
}

#[test]
fn repositories_that_helm_knows_are_found_by_their_names() {
    let repository = Repository::builder().basic("ada", "geheim").start();
    repository.add(&chart("1.0.0"));
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join(".config/helm/repositories.yaml");
    fs::create_dir_all(list.parent().unwrap()).unwrap();
    let text = format!(
        "repositories:\n- name: mine\n  url: {}\n  username: ada\n  password: geheim\n",
        repository.url()
    );
    fs::write(&list, text).unwrap();
    let rendered = good(ours(folder.path(), &["template", "r", "mine/web"]));
    assert!(rendered.contains("version: 1.0.0\n"), "{rendered}");
    good(ours(folder.path(), &["pull", "mine/web", "--untar"]));
    assert!(folder.path().join("web/Chart.yaml").is_file());
    let said = refused(folder.path(), &["pull", "other/web"]);
    assert!(said.contains("--repo"), "{said}");
    fs::write(&list, "repositories: [geheim").unwrap();
    let said = refused(folder.path(), &["pull", "mine/web"]);
    assert!(
        said.contains("repositories.yaml") && !said.contains("geheim"),
        "{said}"
    );
}

#[test]
fn what_is_not_there_is_told_in_the_words_of_helm() {
    let repository = Repository::start();
    repository.add(&chart("1.0.0"));
    let url = repository.url();
    let folder = folder("1.0.0");
    fs::create_dir(folder.path().join("web")).unwrap();
    for (arguments, word) in [
        (&["pull", "gone", "--repo", &url][..], "not found in"),
        (
            &["pull", "web", "--repo", &url, "--version", "9.x"],
            "version \"9.x\" not found in",
        ),
        (
            &["pull", "web", "--repo", &url, "--untar"],
            "failed to untar: a file or directory with the name web already exists",
        ),
        (&["push", "web-1.0.0.tgz", "elsewhere"], "scheme prefix missing"),
        (
            &["push", "web-1.0.0.tgz", "https://elsewhere"],
            "scheme \"https\" not supported",
        ),
        (
            &["push", "gone.tgz", "oci://127.0.0.1:1/x"],
            "gone.tgz: no such file",
        ),
        (&["push", "web", "oci://127.0.0.1:1/x"], "cannot push directory"),
        (
            &["pull", "oci://127.0.0.1:1/x/web:1.0.0", "--version", "2.0.0"],
            "chart reference and version mismatch: 2.0.0 is not 1.0.0",
        ),
        (&["template", "r", "./gone"], "path \"./gone\" not found"),
    ] {
        let said = refused(folder.path(), arguments);
        assert!(said.contains(word), "{arguments:?}: {said}");
        if testkit::program::find("helm").is_some() {
            let theirs = text(&run("helm", arguments, folder.path()).stderr);
            assert!(theirs.contains(word), "{arguments:?}: {theirs}");
        }
    }
}

#[test]
fn credentials_are_shown_to_who_asks_for_them_and_to_nobody_else() {
    let registry = Registry::builder().tokens("ada", "geheim").start();
    let url = oci(&registry);
    let folder = folder("1.0.0");
    let login = ["--plain-http", "--username", "ada", "--password", "geheim"];
    let push = ["push", "web-1.0.0.tgz", &url];
    good(ours(folder.path(), &[&push[..], &login].concat()));
    let web = format!("{url}/web");
    good(ours(
        folder.path(),
        &[&["pull", &web][..], &login, &["-d", "."]].concat(),
    ));
    let said = refused(folder.path(), &["pull", &web, "--plain-http"]);
    assert!(
        said.contains("401") || said.to_lowercase().contains("unauthorized") || said.contains("credentials"),
        "{said}"
    );
    let wrong = ["--plain-http", "--username", "ada", "--password", "falsch"];
    let said = refused(folder.path(), &[&["pull", &web][..], &wrong].concat());
    assert!(!said.contains("falsch"), "{said}");
    // What `helm registry login` and `docker login` write.
    let auths = format!(
        "{{\"auths\":{{\"{}\":{{\"auth\":\"YWRhOmdlaGVpbQ==\"}}}}}}",
        registry.host()
    );
    for file in [".config/helm/registry/config.json", ".docker/config.json"] {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &auths).unwrap();
        good(ours(folder.path(), &["pull", &web, "--plain-http"]));
        fs::remove_file(&path).unwrap();
    }
    let repository = Repository::builder().basic("ada", "geheim").start();
    repository.add(&chart("1.0.0"));
    let repo = repository.url();
    let said = refused(folder.path(), &["pull", "web", "--repo", &repo]);
    assert!(said.contains("401"), "{said}");
    good(ours(
        folder.path(),
        &[
            "pull",
            "web",
            "--repo",
            &repo,
            "--username",
            "ada",
            "--password",
            "geheim",
        ],
    ));
}

/// A tar archive with one file, whose path no library would write.
fn forged(path: &str, content: &[u8]) -> Vec<u8> {
    use std::io::Write as _;

    let mut header = [0_u8; 512];
    header[..path.len()].copy_from_slice(path.as_bytes());
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
    header[148..156].fill(b' ');
    header[156] = b'0';
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zip.write_all(&header).unwrap();
    zip.write_all(content).unwrap();
    zip.write_all(&vec![0; 512 - content.len() % 512 + 1024]).unwrap();
    zip.finish().unwrap()
}

#[test]
fn an_archive_that_leads_elsewhere_is_not_unpacked() {
    let registry = Registry::start();
    for path in ["web/../../out.txt", "web//etc/out.txt", "web\\..\\..\\out.txt"] {
        let artifact = testkit::oci::Artifact::with_config("application/vnd.cncf.helm.config.v1+json", "{}")
            .layer(
                "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
                forged(path, b"x"),
            );
        registry.push("charts/web", "1.0.0", &artifact);
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let web = format!("{}/web", oci(&registry));
        for command in [&["pull", "--untar"][..], &["template", "r"]] {
            let said = refused(&inner, &[command, &[&web, "--plain-http"]].concat());
            assert!(
                said.contains("out of the chart") || said.contains("it is absolute"),
                "{said}"
            );
        }
        assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));
    }
}

/// Whatever a chart calls itself, nothing is written but below the directory that was named.
#[test]
fn no_name_of_a_chart_leads_out_of_the_destination() {
    let registry = Registry::start();
    let web = format!("{}/web", oci(&registry));
    for name in [
        "..",
        ".",
        "../out",
        "/tmp/out",
        "a/../../out",
        "..\\\\out",
        "../../../out",
    ] {
        let metadata = format!("apiVersion: v2\nname: \"{name}\"\nversion: 1.0.0\n");
        let artifact = testkit::oci::Artifact::with_config("application/vnd.cncf.helm.config.v1+json", "{}")
            .layer(
                "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
                forged("web/Chart.yaml", metadata.as_bytes()),
            );
        registry.push("charts/web", "1.0.0", &artifact);
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let _ = refused(&inner, &["pull", &web, "--plain-http", "--untar", "-d", "."]);
        assert!(
            files(folder.path()).is_empty(),
            "{name}: {:?}",
            files(folder.path())
        );
        // The archive itself has the name of what was asked for.
        good(ours(&inner, &["pull", &web, "--plain-http"]));
        let written: Vec<String> = files(folder.path()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(written, ["a/b/web-1.0.0.tgz"], "{name}");
        let output = ours(&inner, &["template", "r", "./web-1.0.0.tgz", "--output-dir", "c"]);
        assert_eq!(files(folder.path()).len(), 1, "{name}: {}", text(&output.stderr));
        let output = ours(&inner, &["template", "r", "./web-1.0.0.tgz", "--include-crds"]);
        assert_eq!(
            output.status.success(),
            name.contains("\\\\"),
            "{}",
            text(&output.stderr)
        );
    }
}
