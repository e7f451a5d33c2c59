//! `sluice create secret notation`: trust policies are refused for what flux refuses them for.

use super::export::compare;
use super::{SLUICE, run, said};

/// The statement of a trust policy as far as it matters, by the rule that it breaks or keeps.
const STATEMENTS: &[(bool, &str)] = &[
    (
        true,
        r#"{"name":"p","registryScopes":["*"],"signatureVerification":{"level":"strict"},"trustStores":["ca:a"],"trustedIdentities":["*"]}"#,
    ),
    (
        true,
        r#"{"name":"p","registryScopes":["a.io/b"],"signatureVerification":{"level":"audit","override":{"revocation":"skip"},"verifyTimestamp":"always"},"trustStores":["tsa:a_.-"],"trustedIdentities":["x509.subject: C=US, S=WA, O=a\\, b"]}"#,
    ),
    (
        true,
        r#"{"name":"p","registryScopes":["*"],"signatureVerification":{"level":"skip"}}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["*"],"signatureVerification":{"level":"skip"},"trustStores":["ca:a"]}"#,
    ),
    (
        false,
        r#"{"name":"","registryScopes":["*"],"signatureVerification":{"level":"skip"}}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":[],"signatureVerification":{"level":"skip"}}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["*","a.io/b"],"signatureVerification":{"level":"skip"}}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["a.io/b","a.io/b"],"signatureVerification":{"level":"skip"}}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["a.io"],"signatureVerification":{"level":"skip"}}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["*"],"signatureVerification":{"level":"other"}}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["*"],"signatureVerification":{}}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["*"],"signatureVerification":{"level":"strict","override":{"expiry":"skip"}},"trustStores":["ca:a"],"trustedIdentities":["*"]}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["*"],"signatureVerification":{"level":"strict","override":{"integrity":"log"}},"trustStores":["ca:a"],"trustedIdentities":["*"]}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["*"],"signatureVerification":{"level":"strict","verifyTimestamp":"never"},"trustStores":["ca:a"],"trustedIdentities":["*"]}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["*"],"signatureVerification":{"level":"strict"},"trustStores":["cb:a"],"trustedIdentities":["*"]}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["*"],"signatureVerification":{"level":"strict"},"trustStores":["ca:a/b"],"trustedIdentities":["*"]}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["*"],"signatureVerification":{"level":"strict"},"trustStores":["ca:a"],"trustedIdentities":["*","x509.subject: C=US, ST=WA, O=a"]}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["*"],"signatureVerification":{"level":"strict"},"trustStores":["ca:a"],"trustedIdentities":["x509.subject: C=US, O=a"]}"#,
    ),
    (
        false,
        r#"{"name":"p","registryScopes":["*"],"signatureVerification":{"level":"strict"},"trustStores":["ca:a"],"trustedIdentities":["x509.subject: C=US, ST=WA, O=a","x509.subject: C=US, ST=WA, O=a, CN=b"]}"#,
    ),
];

#[tokio::test]
async fn trust_policies_are_checked_and_printed() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (crt, pem) = (write("ca.crt", "one"), write("ca.pem", "two\n"));
    let other = write("ca.txt", "three");
    let mut lines = Vec::new();
    for (number, (is_good, statement)) in STATEMENTS.iter().enumerate() {
        let text = format!("{{\n  \"version\": \"1.0\",\n  \"trustPolicies\": [{statement}]\n}}\n");
        let policy = write(&format!("{number}.json"), &text);
        let line = format!("secret notation app --ca-cert-file={crt} --trust-policy-file={policy}");
        let arguments: Vec<&str> = ["create"]
            .into_iter()
            .chain(line.split(' '))
            .chain(["--export"])
            .collect();
        let output = run(SLUICE, &arguments).await;
        assert_eq!(
            output.status.success(),
            *is_good,
            "{statement}: {}",
            said(&output)
        );
        lines.push(line);
    }
    let policy = folder.path().join("0.json").display().to_string();
    for (number, text) in ["", "{}", "[]", r#"{"version":"1.1"}"#, r#"{"version":"1.0"}"#]
        .iter()
        .enumerate()
    {
        let wrong = write(&format!("wrong-{number}.json"), text);
        lines.push(format!(
            "secret notation app --ca-cert-file={crt} --trust-policy-file={wrong}"
        ));
    }
    lines.extend([
        format!(
            "secret notation app --ca-cert-file={crt},{pem} --trust-policy-file={policy} --label=a=b -n apps"
        ),
        format!("secret notation app --ca-cert-file={crt},{other} --trust-policy-file={policy}"),
    ]);
    if let Some(flux) = testkit::program::find("flux") {
        compare(flux.to_str().unwrap(), &lines).await;
    }
}
