//! Archives and indexes of strangers.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use source::helm::chart::{Chart, Limits, files, metadata_of_archive};
use testkit::helm::Chart as Made;

/// A gzipped archive of these files.
fn tgz(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        // Set as bytes: the library refuses paths that lead elsewhere.
        let name = &mut header.as_gnu_mut().unwrap().name;
        name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_cksum();
        tar.append(&header, content.as_slice()).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

const METADATA: &str = "apiVersion: v2\nname: app\nversion: 1.0.0\n";

fn refusal(files: &[(&str, Vec<u8>)]) -> String {
    let error = Chart::from_archive(&tgz(files), &Limits::default()).unwrap_err();
    super::chain(&error)
}

#[test]
fn archives_that_lead_elsewhere_are_refused() {
    for path in [
        "app/../../etc/passwd",
        "Chart.yaml",
        "app//etc/passwd",
        "app/c:/x",
    ] {
        let text = refusal(&[("app/Chart.yaml", METADATA.into()), (path, b"x".to_vec())]);
        assert!(
            text.contains("chart illegally contains the path"),
            "{path}: {text}"
        );
    }
}

#[test]
fn bombs_are_refused_by_size_number_and_depth() {
    let large = vec![0; 6 << 20];
    let text = refusal(&[("app/Chart.yaml", METADATA.into()), ("app/large", large)]);
    assert!(text.contains("exceeds the limit of 5242880 bytes"), "{text}");

    let small = Limits {
        file: 1 << 10,
        unpacked: 4 << 10,
        files: 10,
        ..Limits::default()
    };
    let refused = |archive: &[u8]| super::chain(&Chart::from_archive(archive, &small).unwrap_err());
    let names: Vec<String> = (0..11).map(|number| format!("app/{number}")).collect();
    let large: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), vec![0; 1 << 10]))
        .collect();
    assert!(refused(&tgz(&large)).contains("the unpacked chart exceeds the limit of 4096 bytes"));
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), Vec::new())).collect();
    assert!(refused(&tgz(&many)).contains("more than 10 files"));

    // Each of the charts inside is small enough, but all of them are not.
    let inner = tgz(&[("app/Chart.yaml", METADATA.into()), ("app/x", vec![0; 1 << 10])]);
    let names: Vec<String> = (0..5).map(|number| format!("app/charts/{number}.tgz")).collect();
    let mut outer: Vec<_> = names.iter().map(|name| (name.as_str(), inner.clone())).collect();
    outer.push(("app/Chart.yaml", METADATA.into()));
    let text = refused(&tgz(&outer));
    assert!(
        text.contains("exceeds the limit") || text.contains("more than"),
        "{text}"
    );

    let mut nested = tgz(&[("app/Chart.yaml", METADATA.into())]);
    for _ in 0..20 {
        nested = tgz(&[
            ("app/Chart.yaml", METADATA.into()),
            ("app/charts/app.tgz", nested),
        ]);
    }
    let error = Chart::from_archive(&nested, &Limits::default()).unwrap_err();
    assert!(
        super::chain(&error).contains("nested deeper"),
        "{}",
        super::chain(&error)
    );
}

#[test]
fn an_archive_larger_than_allowed_is_not_opened() {
    let archive = Made::new("app", "1.0.0").archive();
    let limits = Limits {
        archive: 10,
        ..Limits::default()
    };
    assert!(matches!(
        files::from_archive(&archive, &limits),
        Err(files::Error::Archive(10))
    ));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]
    #[test]
    fn damaged_archives_make_nothing_panic(at in 0usize..4096, byte: u8, cut in 0usize..4096) {
        let chart = Made::new("app", "1.0.0").values("a: 1\n").template("cm.yaml", "kind: ConfigMap\n");
        let mut tar = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(chart.archive().as_slice()), &mut tar).unwrap();
        let at = at % tar.len();
        tar[at] = byte;
        tar.truncate(tar.len().saturating_sub(cut));
        let mut zip = GzEncoder::new(Vec::new(), Compression::fast());
        zip.write_all(&tar).unwrap();
        let archive = zip.finish().unwrap();
        let _ = Chart::from_archive(&archive, &Limits::default());
        let _ = metadata_of_archive(&archive, &Limits::default());
        let _ = Chart::from_archive(&archive[..archive.len() - cut.min(archive.len())], &Limits::default());
    }
}
