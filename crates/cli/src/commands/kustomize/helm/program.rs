//! Charts by a `helm` program, with the arguments that kustomize gives it.

use std::path::{Path, PathBuf};
use std::process::Command;

use kustomize::HelmChart;
use kustomize::helm::Request;

use super::program_files;

fn run(command: &str, arguments: &[String], home: &Path) -> Result<String, String> {
    let output = Command::new(command)
        .args(arguments)
        .env("HELM_CONFIG_HOME", home)
        .env("HELM_CACHE_HOME", home.join(".cache"))
        .env("HELM_DATA_HOME", home.join(".data"))
        .output()
        .map_err(|error| format!("failed to run {command} (is it installed?): {error}"))?;
    if !output.status.success() {
        let problem = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command} {}: {}", arguments[0], problem.trim()));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{command} printed no UTF-8"))
}

/// What the program prints of a chart.
pub(super) fn template(command: &str, request: &Request<'_>, chart: &HelmChart) -> Result<String, String> {
    // Helm reads charts from the disk of this machine. What has the same path there is not what the base means.
    if !request.tree.is_file_system() {
        return Err(
            "charts of a base that is fetched are not rendered by a program: leave out --helm-command"
                .to_owned(),
        );
    }
    let temporary = tempfile::tempdir().map_err(|error| error.to_string())?;
    let home = match request.globals.config_home.as_str() {
        "" => temporary.path().join("helm"),
        home => PathBuf::from(home),
    };
    let root = PathBuf::from(request.tree.show(request.root));
    let mut chart_home = root.join(&request.globals.chart_home);
    if !chart.version.is_empty() && !chart.repo.is_empty() {
        chart_home.push(format!("{}-{}", chart.name, chart.version));
    }
    let folder = chart_home.join(&chart.name);
    if !folder.is_dir() {
        if chart.repo.is_empty() {
            return Err(format!(
                "no repo specified for pull, no chart found at '{}'",
                folder.display()
            ));
        }
        run(command, &pull(chart, &chart_home), &home)?;
    }
    program_files::check(request, &root, &folder)?;
    let own = folder.join("values.yaml");
    let values = request.load(match chart.values_file.as_str() {
        "" => own.to_str().ok_or("the path of the chart is not UTF-8")?,
        file => file,
    })?;
    let values = String::from_utf8(values).map_err(|_| "the values are not UTF-8".to_owned())?;
    // Values are handed to helm as copies of what a kustomization may read, and never by paths that others wrote.
    let copy = |name: String, content: &[u8]| {
        let path = temporary.path().join(name);
        std::fs::write(&path, content).map_err(|error| error.to_string())?;
        Ok::<_, String>(path)
    };
    let mut files = vec![copy(
        "values.yaml".to_owned(),
        request.values(&values)?.as_bytes(),
    )?];
    for (number, file) in chart.additional_values_files.iter().enumerate() {
        files.push(copy(format!("values-{number}.yaml"), &request.load(file)?)?);
    }
    run(command, &arguments(chart, &folder, &files), &home)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn pull(chart: &HelmChart, chart_home: &Path) -> Vec<String> {
    let mut arguments: Vec<String> = ["pull", "--untar", "--untardir"].map(str::to_owned).into();
    arguments.push(text(chart_home));
    if chart.repo.starts_with("oci://") {
        arguments.push(format!("{}/{}", chart.repo.trim_end_matches('/'), chart.name));
    } else {
        arguments.extend(["--repo".to_owned(), chart.repo.clone(), chart.name.clone()]);
    }
    if !chart.version.is_empty() {
        arguments.extend(["--version".to_owned(), chart.version.clone()]);
    }
    if chart.devel {
        arguments.push("--devel".to_owned());
    }
    arguments
}

fn arguments(chart: &HelmChart, folder: &Path, values: &[PathBuf]) -> Vec<String> {
    let mut arguments = vec!["template".to_owned()];
    arguments.push(match chart.release_name.as_str() {
        "" => "--generate-name".to_owned(),
        name => name.to_owned(),
    });
    arguments.push(text(folder));
    let mut pair = |flag: &str, value: String| {
        if !value.is_empty() {
            arguments.extend([flag.to_owned(), value]);
        }
    };
    pair("--namespace", chart.namespace.clone());
    pair("--name-template", chart.name_template.clone());
    for file in values {
        pair("-f", text(file));
    }
    for version in &chart.api_versions {
        pair("--api-versions", version.clone());
    }
    pair("--kube-version", chart.kube_version.clone());
    let flags = [
        (chart.include_crds, "--include-crds"),
        (chart.skip_tests, "--skip-tests"),
        (chart.skip_hooks, "--no-hooks"),
        (chart.debug, "--debug"),
        (chart.devel, "--devel"),
    ];
    arguments.extend(
        flags
            .iter()
            .filter(|(set, _)| *set)
            .map(|(_, flag)| (*flag).to_owned()),
    );
    arguments
}
