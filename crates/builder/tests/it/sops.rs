//! What the real sops has encrypted, from the files to the manifests: SO1, SO4 to SO8, with variables after decryption.
//!
//! The files in `tests/data/sops` are made with `sops encrypt` for the recipient in `age.agekey`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use builder::{Request, Sops, Substitution, Tools, Variables};
use kustomize::Memory;
use sops::Keys;

const KEY: &str = include_str!("../data/sops/age.agekey");
const KUSTOMIZATION: &str = "resources: [secret.yaml, config.yaml, values.yaml]
patches: [{path: patch.yaml}]
secretGenerator:
- name: made
  files: [token]
  envs: [vars.env]
  options: {disableNameSuffixHash: true}
namePrefix: x-
commonLabels: {team: a}
";

fn files() -> Memory {
    let inner = STANDARD.encode(include_str!("../data/sops/inner.yaml"));
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: patched}\n";
    let values =
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: values}}\ndata: {{a.json: {inner}}}\n");
    [
        ("kustomization.yaml", KUSTOMIZATION),
        ("config.yaml", config),
        ("values.yaml", &values),
        ("secret.yaml", include_str!("../data/sops/secret.yaml")),
        ("patch.yaml", include_str!("../data/sops/patch.yaml")),
        ("vars.env", include_str!("../data/sops/vars.env")),
        ("token", include_str!("../data/sops/token")),
    ]
    .into_iter()
    .collect()
}

fn build(keys: &Keys) -> Result<String, String> {
    let mut variables = Variables::default();
    variables.insert("greeting", "hello");
    let request = Request {
        substitution: Some(Substitution {
            variables,
            always: false,
        }),
        ..Request::default()
    };
    let sops = Sops::new(keys);
    let tools = Tools {
        decrypter: Some(&sops),
        ..Tools::default()
    };
    let built = builder::build(&files(), &request, &tools).map_err(|errors| errors.to_string())?;
    Ok(built.to_yaml().unwrap())
}

/// SO1, SO4 to SO7: everything that is encrypted is plain in the end, although kustomize has changed it, and variables in it
/// are substituted.
#[test]
fn so7_what_sops_encrypted_is_built_as_if_it_were_plain() {
    let keys = Keys::from_secret([("age.agekey", KEY.as_bytes())]).unwrap();
    let text = build(&keys).unwrap();
    for word in [
        "word: hello from a Secret".to_owned(),
        "port: \"8080\"".to_owned(),
        "token: from the patch".to_owned(),
        format!("TOKEN: {}", STANDARD.encode("s3cr3t")),
        format!("USER: {}", STANDARD.encode("ada")),
        format!("token: {}", STANDARD.encode("plain bytes\n")),
        format!("a.json: {}", STANDARD.encode("{\n\t\"token\": \"inner\"\n}\n")),
        "name: x-whole".to_owned(),
    ] {
        assert!(text.contains(&word), "{word}: {text}");
    }
    assert!(!text.contains("ENC[") && !text.contains("sops"), "{text}");
}

/// SO8: without a key everything that cannot be decrypted is named, with whom it is for.
#[test]
fn so8_without_a_key_the_recipient_is_named() {
    let said = build(&Keys::default()).unwrap_err();
    assert_eq!(
        said.lines()
            .filter(|line| line.starts_with("decryption failed for "))
            .count(),
        3,
        "{said}"
    );
    for word in [
        "'token'",
        "'vars.env'",
        "'patch.yaml'",
        "age1cksxcwt006k3307rkuwdcmtn8d67dz23rez09l387fn8tjxafcqsws754h",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
}
