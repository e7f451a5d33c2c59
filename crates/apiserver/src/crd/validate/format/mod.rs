//! The formats of texts that the real server checks. All others (`int32`, `float`, made-up ones) mean nothing to it.

mod id;
mod net;
mod time;

/// A format that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A BSON object id.
    BsonObjectId,
    /// A URI that a request can be sent to.
    Uri,
    /// A mail address.
    Email,
    /// A host name.
    Hostname,
    /// An IPv4 address.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
    /// A network.
    Cidr,
    /// A hardware address.
    Mac,
    /// A UUID; of that version where one is given.
    Uuid(Option<char>),
    /// An ISBN with 10 or 13 digits.
    Isbn,
    /// An ISBN with 10 digits.
    Isbn10,
    /// An ISBN with 13 digits.
    Isbn13,
    /// A credit card's number.
    CreditCard,
    /// A US social security number.
    Ssn,
    /// A colour as `#ffffff`.
    HexColor,
    /// A colour as `rgb(0,0,0)`.
    RgbColor,
    /// Base64.
    Byte,
    /// Anything.
    Password,
    /// A date.
    Date,
    /// A length of time.
    Duration,
    /// A date with a time and a time zone.
    DateTime,
    /// A DNS label.
    ShortName,
    /// A DNS subdomain.
    LongName,
}

impl Format {
    /// The format called `name`, if it is one that is checked. Dashes in the name do not count.
    pub(crate) fn named(name: &str) -> Option<Format> {
        Some(match name.replace('-', "").as_str() {
            "bsonobjectid" => Format::BsonObjectId,
            "uri" => Format::Uri,
            "email" => Format::Email,
            "hostname" => Format::Hostname,
            "ipv4" => Format::Ipv4,
            "ipv6" => Format::Ipv6,
            "cidr" => Format::Cidr,
            "mac" => Format::Mac,
            "uuid" => Format::Uuid(None),
            "uuid3" => Format::Uuid(Some('3')),
            "uuid4" => Format::Uuid(Some('4')),
            "uuid5" => Format::Uuid(Some('5')),
            "isbn" => Format::Isbn,
            "isbn10" => Format::Isbn10,
            "isbn13" => Format::Isbn13,
            "creditcard" => Format::CreditCard,
            "ssn" => Format::Ssn,
            "hexcolor" => Format::HexColor,
            "rgbcolor" => Format::RgbColor,
            "byte" => Format::Byte,
            "password" => Format::Password,
            "date" => Format::Date,
            "duration" => Format::Duration,
            "datetime" => Format::DateTime,
            "k8sshortname" => Format::ShortName,
            "k8slongname" => Format::LongName,
            _ => return None,
        })
    }

    /// Whether `text` has the format.
    pub(crate) fn accepts(self, text: &str) -> bool {
        use crate::builtin::validate::name;
        match self {
            Format::BsonObjectId => text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
            Format::Uri => net::is_request_uri(text),
            Format::Email => net::is_email(text),
            Format::Hostname => net::is_hostname(text),
            Format::Ipv4 => text.contains('.') && net::parse_ip(text).is_some(),
            Format::Ipv6 => text.contains(':') && net::parse_ip(text).is_some(),
            Format::Cidr => net::is_cidr(text),
            Format::Mac => net::is_mac(text),
            Format::Uuid(version) => id::is_uuid(text, version),
            Format::Isbn => id::is_isbn10(text) || id::is_isbn13(text),
            Format::Isbn10 => id::is_isbn10(text),
            Format::Isbn13 => id::is_isbn13(text),
            Format::CreditCard => id::is_credit_card(text),
            Format::Ssn => id::is_ssn(text),
            Format::HexColor => id::is_hex_color(text),
            Format::RgbColor => id::is_rgb_color(text),
            Format::Byte => id::is_base64(text),
            Format::Password => true,
            Format::Date => time::is_date(text),
            Format::Duration => time::is_duration(text),
            Format::DateTime => time::is_date_time(text),
            Format::ShortName => name::label(text).is_empty(),
            Format::LongName => name::subdomain(text).is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Kubernetes 1.35 accepts and refuses.
    #[test]
    fn formats_accept_what_the_real_server_accepts() {
        let cases: [(&str, &[&str], &[&str]); 17] = [
            (
                "uri",
                &[
                    "http://a.b/c?d#e",
                    "/a",
                    "mailto:x",
                    "a:b c",
                    "http://[::1]:80/",
                    "*",
                    "http://h:/",
                    "x://u:p@h/%20",
                ],
                &[
                    "",
                    "a",
                    "a b",
                    ":x",
                    "http://a b/",
                    "http://h:x/",
                    "/%zz",
                    "http://[::1/",
                    "http://%41/",
                ],
            ),
            (
                "email",
                &["a@b", "A B <a@b.c>", "\"x y\"@b", "<a@b>", "a@[1.2.3.4]"],
                &["", "a", "@b", "a@", "a b@c", "a..b@c"],
            ),
            (
                "hostname",
                &["a", "a.bc", "a-b.example.com"],
                &["", "a.b", "-a.com", "a b", "a.c1"],
            ),
            (
                "ipv4",
                &["1.2.3.4", "01.2.3.4", "::1.2.3.4"],
                &["1.2.3", "256.1.1.1", "::1", "1.2.3.4 "],
            ),
            (
                "ipv6",
                &["::1", "fe80::1", "::1.2.3.4"],
                &["1.2.3.4", ":::1", "fe80::1%eth0"],
            ),
            (
                "cidr",
                &["10.0.0.0/8", "::/0", "010.0.0.0/8"],
                &["10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1"],
            ),
            (
                "mac",
                &["00:00:5e:00:53:01", "00-00-5e-00-53-01", "0000.5e00.5301"],
                &["00:00", "zz:00:5e:00:53:01"],
            ),
            (
                "uuid",
                &[
                    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
                    "6BA7B8109DAD11D180B400C04FD430C8",
                ],
                &["6ba7b810", ""],
            ),
            (
                "uuid4",
                &["6ba7b810-9dad-41d1-80b4-00c04fd430c8"],
                &["6ba7b810-9dad-11d1-80b4-00c04fd430c8"],
            ),
            ("isbn", &["0321751043", "978-0321751041"], &["0321751044", "x"]),
            (
                "creditcard",
                &["4012888888881881", "4012 8888 8888 1881"],
                &["4012888888881882", ""],
            ),
            (
                "ssn",
                &["111-11-1111", "111 11 1111"],
                &["111111111", "11-111-1111"],
            ),
            ("hexcolor", &["#fff", "ABCDEF"], &["#ffff", "ggg", ""]),
            (
                "rgbcolor",
                &["rgb(0,31,255)", "rgb( 1 , 2 , 3 )"],
                &["rgb(1,2)", "rgb(256,1,1)", "rgb(01,1,1)"],
            ),
            ("byte", &["YQ==", "YWI=", "YWJj"], &["", "YQ", "YQ=", "Y=Q="]),
            (
                "date",
                &["2024-02-29"],
                &["2023-02-29", "2024-1-01", "24-01-01", "2024-13-01"],
            ),
            (
                "date-time",
                &[
                    "2024-02-29T00:00:00Z",
                    "2024-02-29t23:59:59.123+01:00",
                    "2024-02-29T00:00:00x1Z",
                ],
                &[
                    "2024-02-29",
                    "2024-02-29T24:00:00Z",
                    "2024-02-29T00:00:00",
                    "2023-02-29T00:00:00Z",
                    "2024-02-29T00:00:60Z",
                ],
            ),
        ];
        for (name, good, bad) in cases {
            let format = Format::named(name).unwrap();
            for text in good {
                assert!(format.accepts(text), "{name} {text:?}");
            }
            for text in bad {
                assert!(!format.accepts(text), "{name} {text:?}");
            }
        }
        assert_eq!(Format::named("int32"), None);
    }

    #[test]
    fn durations_are_those_of_go_or_have_a_number_and_a_unit_somewhere() {
        for good in [
            "1h",
            "1.5s",
            "-1m30s",
            "0",
            "+1ns",
            "1µs",
            "22 ns",
            "3 days",
            "x 5 weeks y",
        ] {
            assert!(Format::Duration.accepts(good), "{good}");
        }
        for bad in ["", "1", "h", "1.5", "5 parsecs", "99999999999999999999 s"] {
            assert!(!Format::Duration.accepts(bad), "{bad}");
        }
    }
}
