//! What is taken for encrypted, and in which format it comes out.

use sops::Format;

/// SO5: the markers of Flux, to the letter.
#[test]
fn encrypted_data_is_recognised_by_the_markers_of_flux() {
    for (data, format) in [
        ("{\"data\": \"x\",\n\"mac\": \"ENC[AES256_GCM", Some(Format::Json)),
        ("A=1\nsops_mac=ENC[AES256_GCM", Some(Format::Dotenv)),
        ("[a]\nb = 1\n[sops]\n", Some(Format::Ini)),
        ("a: 1\nsops:\n    mac: ENC[AES256_GCM", Some(Format::Yaml)),
        ("{\"mac\":\"ENC[AES256_GCM", None),
        ("sops_mac = ENC[", None),
        ("[ sops ]", None),
        ("mac:  ENC[", None),
        ("mac: plain", None),
        ("", None),
    ] {
        assert_eq!(Format::detect(data.as_bytes()), format, "{data}");
    }
}

/// SO5: the format that a value of a Secret is written in follows from its key.
#[test]
fn the_format_follows_from_how_a_name_ends() {
    for (name, format) in [
        ("values.yaml", Format::Yaml),
        ("values.yml", Format::Yaml),
        ("a.json", Format::Json),
        (".dockerconfigjson", Format::Json),
        ("x.dockerconfigjson", Format::Json),
        ("app.ini", Format::Ini),
        ("app.env", Format::Dotenv),
        (".env", Format::Dotenv),
        ("token", Format::Binary),
        ("YAML", Format::Binary),
        ("a.yaml.enc", Format::Binary),
        ("file.txt", Format::Binary),
    ] {
        assert_eq!(Format::for_path(name), format, "{name}");
    }
}

/// SO6: an `envs` file is dotenv unless its name says otherwise.
#[test]
fn an_env_file_is_dotenv_unless_its_name_says_otherwise() {
    assert_eq!(Format::for_env_path("secrets"), Format::Dotenv);
    assert_eq!(Format::for_env_path("secrets.env"), Format::Dotenv);
    assert_eq!(Format::for_env_path("secrets.json"), Format::Json);
    assert_eq!(Format::for_env_path("a.yaml"), Format::Yaml);
}

/// SO6: a file is looked at only if it has the marker of the format that its name gives.
#[test]
fn a_file_without_the_marker_of_its_format_is_left_alone() {
    let yaml = crate::kit::file("age.yaml");
    assert!(Format::Yaml.is_encrypted(&yaml));
    assert!(!Format::Binary.is_encrypted(&yaml));
    assert!(!Format::Dotenv.is_encrypted(&yaml));
    assert!(Format::Binary.is_encrypted(&crate::kit::file("age.json")));
}
