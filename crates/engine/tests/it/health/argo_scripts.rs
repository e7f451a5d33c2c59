//! The health scripts that come with Argo CD, each with the tests that come with it.
//!
//! They are not ours and not in this repository. To run them, set `SLUICE_ARGO_CUSTOMIZATIONS` to the folder
//! `resource_customizations` of github.com/argoproj/argo-cd; without it the test is skipped.

use std::path::{Path, PathBuf};

use engine::health::lua::{Libraries, Script, Scripts};
use model::Value;

#[test]
fn scripts_of_argo_cd_say_what_their_tests_say() {
    let Some(folder) = testkit::program::named_by("SLUICE_ARGO_CUSTOMIZATIONS") else {
        return;
    };
    let places: Vec<PathBuf> = files(&folder, "health.lua");
    assert!(places.len() > 200, "only {} scripts were found", places.len());
    let scripts = Scripts::new(places.iter().map(|place| script(place)).collect()).unwrap();
    let (mut cases, mut wrong) = (0, Vec::new());
    for place in places.iter().filter_map(|place| place.parent()) {
        let tests = read(&place.join("health_test.yaml"));
        for test in tests.list_at(&["tests"]) {
            cases += 1;
            // Go does not mind how names are spelled.
            let input = ["inputPath", "inputpath"]
                .map(|name| test.str_at(&[name]))
                .concat();
            if let Err(problem) = check(&scripts, &read(&place.join(&input)), test) {
                wrong.push(format!("{}: {input}: {problem}", place.display()));
            }
        }
    }
    eprintln!("{} scripts, {cases} cases, {} wrong", places.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A script, which is for the group and kind that its folders are called after; `_` is any text.
fn script(path: &Path) -> Script {
    let mut folders = path
        .components()
        .rev()
        .skip(1)
        .map(|part| part.as_os_str().to_string_lossy().replace('_', "*"));
    let (kind, group) = (
        folders.next().unwrap_or_default(),
        folders.next().unwrap_or_default(),
    );
    let source = std::fs::read_to_string(path).unwrap();
    Script {
        group,
        kind,
        source,
        libraries: Libraries::Open,
    }
}

fn check(scripts: &Scripts, object: &Value, test: &Value) -> Result<(), String> {
    let now = "2026-11-16T00:00:00Z".parse().expect("it is a time");
    let health = scripts.assess(object, now).flatten();
    let got = health
        .as_ref()
        .map(|health| (health.state.argo(), health.message.as_str()))
        .unwrap_or_default();
    let wanted = (
        test.str_at(&["healthStatus", "status"]),
        test.str_at(&["healthStatus", "message"]),
    );
    if got == wanted {
        Ok(())
    } else {
        Err(format!("{got:?} instead of {wanted:?}"))
    }
}

fn read(path: &Path) -> Value {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    yaml::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files of this name below a folder.
fn files(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, name));
        } else if path.file_name().is_some_and(|found| found == name) {
            found.push(path);
        }
    }
    found.sort();
    found
}
