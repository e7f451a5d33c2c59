//! What is decrypted before and after the build: SO4, SO5, SO6, K8. Decrypting itself is replaced by a stand-in.

use std::cell::RefCell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use builder::{Decrypter, Request, Tools};
use kustomize::Memory;
use sops::Format;

use super::config;

/// Answers with a plain text for each form, and notes what it was asked for.
#[derive(Default)]
struct StandIn {
    asked: RefCell<Vec<(Format, Format)>>,
    broken: bool,
}

impl Decrypter for StandIn {
    fn decrypt(&self, content: &[u8], from: Format, to: Format) -> Result<Vec<u8>, String> {
        self.asked.borrow_mut().push((from, to));
        if self.broken {
            return Err("cannot get sops data key".to_owned());
        }
        if from == Format::Json && content.starts_with(b"{\"apiVersion\"") {
            return Ok(config("plain").into_bytes())
                .map(|text| model::json::to_vec(&yaml::parse(&text).unwrap()));
        }
        Ok(match to {
            Format::Dotenv => b"KEY=plain\n".to_vec(),
            Format::Yaml => config("a")
                .into_bytes()
                .into_iter()
                .chain(*b"data: {v: plain}\n")
                .collect(),
            _ => b"plain".to_vec(),
        })
    }
}

fn build(files: &[(&str, &str)], decrypter: &StandIn) -> Result<String, String> {
    let files: Memory = files
        .iter()
        .map(|(name, text)| (*name, text.as_bytes()))
        .collect();
    let tools = Tools {
        decrypter: Some(decrypter),
        ..Tools::default()
    };
    let built = builder::build(&files, &Request::default(), &tools).map_err(|errors| errors.to_string())?;
    Ok(built.to_yaml().unwrap())
}

/// SO4: any kind with `.sops.mac` is decrypted as JSON, unless its annotation says otherwise in any case.
#[test]
fn so4_whole_objects_are_decrypted_as_json() {
    let encrypted = "apiVersion: v1\nkind: Thing\nmetadata: {name: a}\nv: ENC[x]\nsops: {mac: 'ENC[y]'}\n";
    let decrypter = StandIn::default();
    let text = build(&[("a.yaml", encrypted)], &decrypter).unwrap();
    assert_eq!(text, config("plain"));
    assert_eq!(decrypter.asked.take(), [(Format::Json, Format::Json)]);
    let annotated = encrypted.replace(
        "{name: a}",
        "{name: a, annotations: {kustomize.toolkit.fluxcd.io/decrypt: Disabled}}",
    );
    assert!(
        build(&[("a.yaml", &annotated)], &decrypter)
            .unwrap()
            .contains("ENC[x]")
    );
    let without_mac = encrypted.replace("mac: 'ENC[y]'", "version: '3'");
    assert!(
        build(&[("a.yaml", &without_mac)], &decrypter)
            .unwrap()
            .contains("ENC[x]")
    );
    assert!(decrypter.asked.take().is_empty());
}

/// SO5: values of Secrets are known to be encrypted by marks; the form that comes out is that of their key.
#[test]
fn so5_values_of_secrets_are_known_by_their_marks() {
    for (content, key, from, to) in [
        ("{\"mac\": \"ENC[", "a.json", Format::Json, Format::Json),
        ("{\"mac\": \"ENC[", "any", Format::Json, Format::Binary),
        ("sops_mac=ENC[", "a.env", Format::Dotenv, Format::Dotenv),
        ("[sops]", "a.ini", Format::Ini, Format::Ini),
        ("mac: ENC[", "a.yaml", Format::Yaml, Format::Yaml),
        ("mac: ENC[", ".dockerconfigjson", Format::Yaml, Format::Json),
    ] {
        let value = STANDARD.encode(content);
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\ndata: {{{key}: {value}, no64: '%', open: {}}}\n",
            STANDARD.encode("open")
        );
        let decrypter = StandIn::default();
        let text = build(&[("a.yaml", &secret)], &decrypter).unwrap();
        assert!(
            !text.contains(&value) && text.contains("no64: '%'"),
            "{content}: {text}"
        );
        assert_eq!(decrypter.asked.take(), [(from, to)], "{content}");
    }
}

/// SO6: files of secret generators, and of patches, here and in local bases and components, are decrypted before the build.
#[test]
fn so6_files_that_kustomize_reads_are_decrypted_first() {
    let files = [
        ("kustomization.yaml", "resources: [base, a.yaml]\ncomponents: [part]\npatches: [{path: patch.yaml}]\n".to_owned()),
        ("a.yaml", config("a")),
        ("patch.yaml", "mac: ENC[".to_owned()),
        (
            "base/kustomization.yaml",
            "secretGenerator: [{name: s, files: [key=token], envs: [vars], options: {disableNameSuffixHash: true}}]\n".to_owned(),
        ),
        ("base/token", "\"mac\": \"ENC[".to_owned()),
        ("base/vars", "sops_mac=ENC[".to_owned()),
        (
            "part/kustomization.yaml",
            "kind: Component\nsecretGenerator: [{name: t, files: [open]}]\n".to_owned(),
        ),
        ("part/open", "mac: ENC[ is no mark of this form".to_owned()),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    let decrypter = StandIn::default();
    let text = build(&files, &decrypter).unwrap();
    let plain = STANDARD.encode("plain");
    assert!(
        text.contains(&format!("KEY: {plain}")) && text.contains(&format!("key: {plain}")),
        "{text}"
    );
    assert!(text.contains("v: plain"), "{text}");
    let mut asked = decrypter.asked.take();
    asked.sort_by_key(|asked| format!("{asked:?}"));
    assert_eq!(
        asked,
        [
            (Format::Binary, Format::Binary),
            (Format::Dotenv, Format::Dotenv),
            // Its name told nothing as a file; in the Secret the mark is seen, whatever the name.
            (Format::Yaml, Format::Binary),
            (Format::Yaml, Format::Yaml)
        ]
    );
}

/// SO8: all that cannot be decrypted is named.
#[test]
fn so8_errors_name_the_file_and_the_object() {
    let decrypter = StandIn {
        broken: true,
        ..StandIn::default()
    };
    let value = STANDARD.encode("mac: ENC[");
    let secret =
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\ndata: {{x: {value}, y: {value}}}\n");
    assert_eq!(
        build(&[("a.yaml", &secret)], &decrypter).unwrap_err(),
        "decryption failed for 'v1/Secret/a: data.x': cannot get sops data key\n\
         decryption failed for 'v1/Secret/a: data.y': cannot get sops data key"
    );
    let files = [
        (
            "kustomization.yaml",
            "secretGenerator: [{name: s, envs: [dir/vars.env]}]\n",
        ),
        ("dir/vars.env", "sops_mac=ENC["),
    ];
    assert_eq!(
        build(&files, &decrypter).unwrap_err(),
        "decryption failed for 'dir/vars.env': cannot get sops data key"
    );
}

/// K8: a Secret that is still encrypted is told apart, so that whoever applies it can refuse.
#[test]
fn k8_encrypted_leftovers_are_seen() {
    let object = |text: &str| yaml::parse(text.as_bytes()).unwrap();
    assert!(builder::is_encrypted_secret(&object(
        "{apiVersion: v1, kind: Secret, sops: {}}"
    )));
    assert!(!builder::is_encrypted_secret(&object(
        "{apiVersion: v1, kind: Secret, data: {}}"
    )));
    assert!(!builder::is_encrypted_secret(&object(
        "{apiVersion: v1, kind: Thing, sops: {}}"
    )));
}

/// SO6: files of more than 5 MiB are refused, and those that are not encrypted may be larger.
#[test]
fn so6_files_of_more_than_five_megabytes_are_not_decrypted() {
    let generator = "secretGenerator: [{name: s, files: [a.yaml], options: {disableNameSuffixHash: true}}]\n";
    let build_with = |mark: &str, size: usize| {
        let content = format!("{mark}{}", "#".repeat(size - mark.len()));
        build(
            &[("kustomization.yaml", generator), ("a.yaml", &content)],
            &StandIn::default(),
        )
    };
    let limit = 5 << 20;
    assert!(build_with("sops:\n  mac: ENC[x]\n", limit).is_ok());
    let told = build_with("sops:\n  mac: ENC[x]\n", limit + 1).unwrap_err();
    let wanted = format!(
        "cannot decrypt file with size ({} bytes) exceeding limit ({limit})",
        limit + 1
    );
    assert!(told.contains(&wanted), "{told}");
    assert!(build_with("", limit + 1).is_ok());
}
