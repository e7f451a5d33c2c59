//! Certificates, laid out as Go's `crypto/x509` lays out those that Sprig asks it for.

use std::any::Any;
use std::net::IpAddr;

use sha2::Digest;

use super::super::encoding::base64_decode;
use super::super::time::{Duration, Time};
use super::super::{INT, STR};
use super::der;
use super::key::Key;
use crate::error::{Error, ErrorKind};
use crate::function::{Call, Function, Functions};
use crate::print::sprint_value;
use crate::value::{ArcStr, Object, Type, Value};

const CERTIFICATE: Type = Type::Named("sprig.certificate");
const LIST: Type = Type::LIST;

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert(
            "genCA",
            Function::new(&[STR, INT], |call| {
                let key = new_key(call)?;
                authority(call, &key)
            }),
        )
        .insert(
            "genCAWithKey",
            Function::new(&[STR, INT, STR], |call| {
                let key = given_key(call, 2)?;
                authority(call, &key)
            }),
        )
        .insert(
            "genSelfSignedCert",
            Function::new(&[STR, LIST, LIST, INT], |call| self_signed(call, new_key)),
        )
        .insert(
            "genSelfSignedCertWithKey",
            Function::new(&[STR, LIST, LIST, INT, STR], |call| {
                self_signed(call, |call| given_key(call, 4))
            }),
        )
        .insert(
            "genSignedCert",
            Function::new(&[STR, LIST, LIST, INT, CERTIFICATE], |call| {
                let key = new_key(call)?;
                signed(call, &key)
            }),
        )
        .insert(
            "genSignedCertWithKey",
            Function::new(&[STR, LIST, LIST, INT, CERTIFICATE, STR], |call| {
                let key = given_key(call, 5)?;
                signed(call, &key)
            }),
        )
        .insert("buildCustomCert", Function::new(&[STR, STR], build_custom));
}

/// Sprig's `certificate`: a certificate and its key, both in PEM.
struct Certificate {
    cert: ArcStr,
    key: ArcStr,
}

impl Object for Certificate {
    fn type_name(&self) -> &'static str {
        "sprig.certificate"
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Cert" => Some(Value::Str(self.cert.clone())),
            "Key" => Some(Value::Str(self.key.clone())),
            _ => None,
        }
    }

    fn fields(&self) -> Vec<(ArcStr, Value)> {
        vec![
            (arcstr::literal!("Cert"), Value::Str(self.cert.clone())),
            (arcstr::literal!("Key"), Value::Str(self.key.clone())),
        ]
    }

    fn equals(&self, other: &dyn Object) -> bool {
        let other = other.as_any().downcast_ref::<Certificate>();
        other.is_some_and(|other| self.cert == other.cert && self.key == other.key)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn new_key(call: &mut Call<'_, '_>) -> Result<Key, Error> {
    Key::rsa(call.session).map_err(|error| said(error, "error generating rsa key"))
}

fn given_key(call: &mut Call<'_, '_>, index: usize) -> Result<Key, Error> {
    Key::parse(call.session, &call.str(index)).map_err(|error| said(error, "parsing private key"))
}

/// An error with what was done before it. Those of limits stay what they are.
fn said(error: Error, doing: &str) -> Error {
    match error.kind() {
        ErrorKind::Limit => error,
        _ => Error::new(format!("{doing}: {error}")),
    }
}

/// What a certificate says of whom it is for.
struct Request {
    name: String,
    addresses: Vec<IpAddr>,
    hosts: Vec<String>,
    days: i64,
    is_authority: bool,
}

impl Request {
    /// The name, addresses, hosts and days of a call.
    fn new(call: &mut Call<'_, '_>) -> Result<Request, Error> {
        for index in [1, 2] {
            let items = call.arg(index).items();
            let size = items.iter().flat_map(|items| items.iter());
            // Each is copied several times on the way into the certificate.
            let size: usize = size.map(|item| item.text_size() + 64).sum();
            call.session.charge(size.saturating_mul(8))?;
        }
        let items = |index: usize| {
            call.arg(index)
                .items()
                .map(|items| items.into_owned())
                .unwrap_or_default()
        };
        let addresses = items(1).iter().map(address).collect::<Result<_, _>>()?;
        let hosts = items(2).iter().map(host).collect::<Result<_, _>>()?;
        Ok(Request {
            name: call.str(0).into_owned(),
            addresses,
            hosts,
            days: call.int(3),
            is_authority: false,
        })
    }
}

fn address(value: &Value) -> Result<IpAddr, Error> {
    let Some(text) = value.as_str() else {
        return Err(Error::new(format!(
            "error parsing ip: {} is not a string",
            sprint_value(value)
        )));
    };
    text.parse()
        .map_err(|_| Error::new(format!("error parsing ip: {text}")))
}

fn host(value: &Value) -> Result<String, Error> {
    let Some(text) = value.as_str() else {
        let shown = sprint_value(value);
        return Err(Error::new(format!(
            "error processing alternate dns name: {shown} is not a string"
        )));
    };
    if !text.is_ascii() {
        let shown = model::quote::quote(text);
        return Err(Error::new(format!(
            "error creating certificate: x509: {shown} cannot be encoded as an IA5String"
        )));
    }
    Ok(text.to_owned())
}

fn authority(call: &mut Call<'_, '_>, key: &Key) -> Result<Value, Error> {
    let request = Request {
        name: call.str(0).into_owned(),
        addresses: Vec::new(),
        hosts: Vec::new(),
        days: call.int(1),
        is_authority: true,
    };
    issue(call, &request, key, None)
}

fn self_signed(
    call: &mut Call<'_, '_>,
    key: fn(&mut Call<'_, '_>) -> Result<Key, Error>,
) -> Result<Value, Error> {
    let request = Request::new(call)?;
    // What it is for is checked before a key is made, which takes its time.
    let key = key(call)?;
    issue(call, &request, &key, None)
}

fn signed(call: &mut Call<'_, '_>, key: &Key) -> Result<Value, Error> {
    let authority = call
        .arg(4)
        .downcast::<Certificate>()
        .ok_or("unable to decode certificate")?;
    let (_, bytes) = der::unpem(&authority.cert).ok_or("unable to decode certificate")?;
    let (subject, key_id) = subject_of(&bytes)
        .ok_or("error parsing certificate: decodedSignerCert.Bytes: x509: malformed certificate")?;
    let signer =
        Key::parse(call.session, &authority.key).map_err(|error| said(error, "error parsing private key"))?;
    let request = Request::new(call)?;
    let issuer = Issuer {
        subject,
        key_id,
        key: &signer,
    };
    issue(call, &request, key, Some(&issuer))
}

/// Who signs, where that is another.
struct Issuer<'k> {
    subject: Vec<u8>,
    key_id: Option<Vec<u8>>,
    key: &'k Key,
}

fn issue(
    call: &mut Call<'_, '_>,
    request: &Request,
    key: &Key,
    issuer: Option<&Issuer<'_>>,
) -> Result<Value, Error> {
    let mut serial = [0; 16];
    call.session.world().random(&mut serial);
    let zone = jiff::tz::TimeZone::UTC;
    let start = Time::new(call.session.world().now(), zone);
    let day = Duration(24 * 3_600_000_000_000);
    let end = start.add(Duration(day.0.saturating_mul(request.days)));
    let (public, public_bits) = key
        .public()
        .ok_or("error retrieving public key from signee key")?;
    let subject = name(&request.name);
    let signer = issuer.map_or(key, |issuer| issuer.key);
    let issuer_name = issuer.map_or(&subject, |issuer| &issuer.subject);
    let key_id = request
        .is_authority
        .then(|| sha2::Sha256::digest(&public_bits)[..20].to_vec());
    let authority_id = issuer
        .filter(|issuer| issuer.subject != subject)
        .and_then(|issuer| issuer.key_id.as_deref());
    let body = der::sequence(&[
        &der::value(der::context(0), &der::unsigned(&[2])),
        &der::unsigned(&serial),
        &signer.algorithm(),
        issuer_name,
        &der::sequence(&[&time(&start), &time(&end)]),
        &subject,
        &public,
        &der::value(
            der::context(3),
            &extensions(request, key_id.as_deref(), authority_id),
        ),
    ]);
    let signature = signer
        .sign(&body)
        .map_err(|error| Error::new(format!("error creating certificate: {error}")))?;
    let certificate = der::sequence(&[&body, &signer.algorithm(), &der::bits(&signature)]);
    Ok(Value::object(Certificate {
        cert: der::pem("CERTIFICATE", &certificate).into(),
        key: key.pem().into(),
    }))
}

/// A name that has nothing but the common name, or not even that.
fn name(common: &str) -> Vec<u8> {
    if common.is_empty() {
        return der::sequence(&[]);
    }
    let printable = common
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&byte));
    let tag = if printable {
        der::PRINTABLE_STRING
    } else {
        der::UTF8_STRING
    };
    let part = der::sequence(&[
        &der::value(der::OID, &[0x55, 4, 3]),
        &der::value(tag, common.as_bytes()),
    ]);
    der::sequence(&[&der::value(der::SET, &part)])
}

fn time(time: &Time) -> Vec<u8> {
    let (tag, layout) = match time.year() {
        1950..2050 => (der::UTC_TIME, "060102150405Z"),
        _ => (der::GENERALIZED_TIME, "20060102150405Z"),
    };
    der::value(tag, time.format(layout).as_bytes())
}

fn extension(id: &[u8], critical: bool, content: &[u8]) -> Vec<u8> {
    let flag: &[u8] = if critical { &[0x01, 0x01, 0xff] } else { &[] };
    der::sequence(&[
        &der::value(der::OID, id),
        flag,
        &der::value(der::OCTET_STRING, content),
    ])
}

fn extensions(request: &Request, key_id: Option<&[u8]>, authority_id: Option<&[u8]>) -> Vec<u8> {
    // Signatures and encipherment, and for authorities certificates.
    let usage: &[u8] = if request.is_authority {
        &[2, 0xa4]
    } else {
        &[5, 0xa0]
    };
    let purpose = |number: u8| der::value(der::OID, &[0x2b, 6, 1, 5, 5, 7, 3, number]);
    let basic: &[u8] = if request.is_authority {
        &[0x01, 0x01, 0xff]
    } else {
        &[]
    };
    let mut all = vec![
        extension(&[0x55, 0x1d, 0x0f], true, &der::value(der::BIT_STRING, usage)),
        extension(
            &[0x55, 0x1d, 0x25],
            false,
            &der::sequence(&[&purpose(1), &purpose(2)]),
        ),
        extension(&[0x55, 0x1d, 0x13], true, &der::value(der::SEQUENCE, basic)),
    ];
    if let Some(id) = key_id {
        all.push(extension(
            &[0x55, 0x1d, 0x0e],
            false,
            &der::value(der::OCTET_STRING, id),
        ));
    }
    if let Some(id) = authority_id {
        all.push(extension(
            &[0x55, 0x1d, 0x23],
            false,
            &der::sequence(&[&der::value(0x80, id)]),
        ));
    }
    if !request.hosts.is_empty() || !request.addresses.is_empty() {
        let mut names: Vec<u8> = request
            .hosts
            .iter()
            .flat_map(|host| der::value(0x82, host.as_bytes()))
            .collect();
        for address in &request.addresses {
            names.extend(match address.to_canonical() {
                IpAddr::V4(address) => der::value(0x87, &address.octets()),
                IpAddr::V6(address) => der::value(0x87, &address.octets()),
            });
        }
        all.push(extension(
            &[0x55, 0x1d, 0x11],
            request.name.is_empty(),
            &der::value(der::SEQUENCE, &names),
        ));
    }
    der::value(der::SEQUENCE, &all.concat())
}

/// The subject of a certificate and the id of its key.
fn subject_of(certificate: &[u8]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let (content, _) = der::expect(certificate, der::SEQUENCE)?;
    let (body, _) = der::expect(content, der::SEQUENCE)?;
    let (_, mut rest) = der::expect(body, der::context(0))?;
    // The serial number, the algorithm, the issuer and the validity.
    for tag in [der::INTEGER, der::SEQUENCE, der::SEQUENCE, der::SEQUENCE] {
        (_, rest) = der::expect(rest, tag)?;
    }
    let (_, _, subject, mut rest) = der::read(rest)?;
    let subject = subject.to_vec();
    while let Some((tag, content, _, after)) = der::read(rest) {
        rest = after;
        if tag == der::context(3) {
            return Some((subject, key_id_in(der::expect(content, der::SEQUENCE)?.0)));
        }
    }
    Some((subject, None))
}

fn key_id_in(mut extensions: &[u8]) -> Option<Vec<u8>> {
    while let Some((content, rest)) = der::expect(extensions, der::SEQUENCE) {
        extensions = rest;
        let (id, value) = der::expect(content, der::OID)?;
        if id == [0x55, 0x1d, 0x0e] {
            let (octets, _) = der::expect(value, der::OCTET_STRING)?;
            return Some(der::expect(octets, der::OCTET_STRING)?.0.to_vec());
        }
    }
    None
}

fn build_custom(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let decode = |index: usize, what: &str| {
        base64_decode(call.bytes(index)).map_err(|_| Error::new(format!("unable to decode base64 {what}")))
    };
    let cert = String::from_utf8_lossy(&decode(0, "certificate")?).into_owned();
    let key = String::from_utf8_lossy(&decode(1, "private key")?).into_owned();
    let (_, bytes) = der::unpem(&cert).ok_or("unable to decode certificate")?;
    if subject_of(&bytes).is_none() {
        return Err(Error::new(
            "error parsing certificate: decodedCert.Bytes: x509: malformed certificate",
        ));
    }
    Key::parse(call.session, &key).map_err(|error| said(error, "error parsing private key"))?;
    Ok(Value::object(Certificate {
        cert: cert.into(),
        key: key.into(),
    }))
}
