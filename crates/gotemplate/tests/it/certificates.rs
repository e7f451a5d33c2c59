//! Certificates that Go has made, made again with the same keys, serial numbers and times: they are the same to the byte.

use std::path::Path;
use std::sync::Arc;

use gotemplate::{Functions, Limits, Map, Session, Templates, Value, World};
use serde::Deserialize;

#[derive(Deserialize)]
struct Recorded {
    /// Keys, of which nobody uses any, and the certificate of an authority.
    keys: std::collections::BTreeMap<String, String>,
    certificates: Vec<Certificate>,
}

#[derive(Deserialize)]
struct Certificate {
    /// The template that gives it.
    t: String,
    serial: String,
    now: i64,
    out: String,
}

/// The time and the only random bytes that a certificate needs where its key is given.
struct Once {
    now: i64,
    serial: u128,
}

impl World for Once {
    fn now(&mut self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(self.now).expect("it is a time")
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.serial.to_be_bytes());
    }
}

#[test]
fn certificates_are_those_of_go_to_the_byte() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/certificates.json");
    let recorded: Recorded = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let data: Map = recorded
        .keys
        .iter()
        .map(|(name, text)| (name.as_str(), Value::str(text.as_str())))
        .collect();
    assert!(recorded.certificates.len() > 5);
    for certificate in &recorded.certificates {
        let mut templates = Templates::new(Arc::new(Functions::sprig()));
        templates.parse("t", &certificate.t).unwrap();
        let mut world = Once {
            now: certificate.now,
            serial: u128::from_str_radix(&certificate.serial, 16).unwrap(),
        };
        let mut session = Session::new(Limits::default(), &mut world);
        let out = templates
            .execute("t", &Value::Map(data.clone()), &mut session)
            .unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out, certificate.out, "{}", certificate.t);
    }
}
