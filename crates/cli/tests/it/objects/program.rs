//! What the real `flux` prints of the same objects, ours prints, where it is installed.

use super::bed::Bed;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_listed_and_exported_as_by_flux() {
    let Some(flux) = testkit::program::find("flux") else {
        return;
    };
    let flux = flux.to_str().unwrap().to_owned();
    let bed = Bed::start().await;
    let mut lines: Vec<String> = Vec::new();
    let kinds = [
        "source git",
        "source oci",
        "source helm",
        "source chart",
        "source bucket",
        "source external",
        "kustomization",
        "helmrelease",
        "image repository",
        "image policy",
        "image update",
        "receiver",
        "alert-provider",
        "alert",
    ];
    for kind in kinds {
        let several = kind
            .replacen("source ", "sources ", 1)
            .replacen("image ", "images ", 1);
        let several = match several.contains(' ') {
            true => several,
            false => format!("{several}s"),
        };
        for how in [
            "",
            " told",
            " -l team=new",
            " --status-selector=ready=true",
            " --no-header",
        ] {
            lines.push(format!("get {several}{how}"));
        }
        lines.push(format!("get {kind} told"));
        lines.push(format!("export {kind} told"));
        lines.push(format!("export {kind} --all"));
    }
    for line in [
        "get all",
        "get sources all",
        "get images all",
        "get ks",
        "get hr told",
        "get all -l team=told",
        "export source git told --with-credentials",
        "export source oci told --with-credentials",
    ] {
        lines.push(line.to_owned());
    }
    same_as_flux(&bed, &flux, &lines).await;
}

/// Each line said to both programs: they print the same, and both succeed or fail.
pub(super) async fn same_as_flux(bed: &Bed, flux: &str, lines: &[String]) {
    let mut differ = Vec::new();
    for line in lines {
        let arguments: Vec<&str> = line.split(' ').collect();
        let (theirs, ours) = tokio::join!(bed.run(flux, &arguments), bed.sluice(&arguments));
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if theirs.status.success() != ours.status.success() || theirs.stdout != ours.stdout {
            differ.push(format!(
                "== {line}\n-- flux\n{}{}\n-- ours\n{}{}",
                shown(&theirs.stdout),
                shown(&theirs.stderr),
                shown(&ours.stdout),
                shown(&ours.stderr)
            ));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
