//! Vars.

use crate::check;

#[test]
fn vars_are_put_into_texts_with_their_types() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
namePrefix: p-
vars:
- {name: NAME, objref: {apiVersion: v1, kind: Service, name: s}}
- {name: PORT, objref: {apiVersion: v1, kind: Service, name: s}, fieldref: {fieldPath: "spec.ports[0].port"}}
=== a.yaml
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {ports: [{port: 8080, targetPort: $(PORT)}]}
---
apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {n: "$(NAME) $(OTHER)"}}
spec: {containers: [{name: c, args: ["--host=$(NAME):$(PORT)", "$$(NAME)", "$(PORT)"]}]}
"#,
        r#"
apiVersion: v1
kind: Service
metadata:
  name: p-s
spec:
  ports:
  - port: 8080
    targetPort: 8080
---
apiVersion: v1
kind: Pod
metadata:
  annotations:
    "n": p-s $(OTHER)
  name: p-p
spec:
  containers:
  - args:
    - --host=p-s:8080
    - $(NAME)
    - 8080
    name: c
"#,
    );
}

#[test]
fn all_vars_that_have_no_value_are_told() {
    let told = crate::errors(
        r#"
=== kustomization.yaml
resources: [a.yaml]
vars:
- {name: A, objref: {apiVersion: v1, kind: Pod, name: nobody}}
- {name: B, objref: {apiVersion: apps/v1, kind: Deployment, name: d}, fieldref: {fieldPath: spec.none}}
- {name: C, objref: {apiVersion: apps/v1, kind: Deployment, name: d}, fieldref: {fieldPath: spec.large}}
=== a.yaml
{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {large: 12345678901234567890}}
"#,
    );
    for part in [
        "var '{A Pod.v1.[noGrp] {metadata.name}}' cannot be mapped to a field in the set of known resources",
        "field specified in var '{B Deployment.v1.apps {spec.none}}' not found in corresponding resource",
        "field specified in var '{C Deployment.v1.apps {spec.large}}' not found in corresponding resource",
    ] {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn a_value_that_a_replacement_made_stays_a_text_where_vars_are() {
    check(
        r#"
=== kustomization.yaml
resources: [a.yaml]
vars:
- {name: V, objref: {apiVersion: v1, kind: ConfigMap, name: c}}
replacements:
- source: {kind: ConfigMap, name: c, fieldPath: data.ratio}
  targets:
  - select: {kind: Pod}
    fieldPaths: [spec.containers.0.env.0.value]
    options: {create: true}
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {ratio: "1.50"}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - name: c
    env:
    - name: RATIO
    - name: V
      value: $(V)
"#,
        r#"
apiVersion: v1
data:
  ratio: "1.50"
kind: ConfigMap
metadata:
  name: c
---
apiVersion: v1
kind: Pod
metadata:
  name: p
spec:
  containers:
  - env:
    - name: RATIO
      value: "1.50"
    - name: V
      value: c
    name: c
"#,
    );
}

/// A number that a JSON patch has passed is a float to kustomize, which writes it for a var as a whole number again. Those
/// of 64 bits without sign it cannot read then.
#[test]
fn a_float_that_looks_like_a_whole_number_of_64_bits_cannot_be_printed() {
    let built = |number: &str| {
        let tree = crate::tree(&format!(
            "
=== kustomization.yaml
resources: [a.yaml]
patches:
- target: {{kind: Service}}
  patch: '- {{op: add, path: /metadata/labels, value: {{}}}}'
vars:
- {{name: V, objref: {{apiVersion: v1, kind: Service, name: s}}, fieldref: {{fieldPath: spec.number}}}}
=== a.yaml
apiVersion: v1
kind: Service
metadata: {{name: s}}
spec: {{number: {number}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec: {{containers: [{{name: c, args: [$(V)]}}]}}
"
        ));
        let options = kustomize::Options::default();
        let output = kustomize::build(&tree, "", &options).and_then(|output| output.to_yaml());
        output.map_err(|errors| errors.to_string())
    };
    for number in ["9223372036854775808", "1e+19", "18446744073709549568"] {
        let told = built(number).expect_err("it is no float");
        assert!(told.contains("cannot decode !!int as a !!float"), "{told}");
    }
    for (number, printed) in [
        ("1048576", "1048576"),
        ("1e+20", "1e+20"),
        ("18446744073709551616", "1.8446744073709552e+19"),
    ] {
        let printed = format!("    - {printed}\n");
        let text = built(number).unwrap_or_else(|told| panic!("{told}"));
        assert!(text.contains(&printed), "wanted {printed:?} in:\n{text}");
    }
}

/// Go formats floats that are parts of texts in another way than those that stand alone.
#[test]
fn floats_in_texts_have_exponents() {
    check(
        r"
=== kustomization.yaml
resources: [a.yaml]
vars:
- {name: SMALL, objref: {apiVersion: v1, kind: Odd, name: a}, fieldref: {fieldPath: spec.small}}
- {name: LARGE, objref: {apiVersion: v1, kind: Odd, name: a}, fieldref: {fieldPath: spec.large}}
- {name: WHOLE, objref: {apiVersion: v1, kind: Odd, name: a}, fieldref: {fieldPath: spec.whole}}
- {name: USUAL, objref: {apiVersion: v1, kind: Odd, name: a}, fieldref: {fieldPath: spec.usual}}
=== a.yaml
apiVersion: v1
kind: Odd
metadata:
  name: a
spec:
  small: 0.00001
  large: 1234567.5
  whole: 1e6
  usual: 1.50
---
apiVersion: v1
kind: Pod
metadata:
  name: b
spec:
  containers:
  - name: b
    env:
    - {name: small, value: $(SMALL)}
    - {name: large, value: $(LARGE)}
    - {name: whole, value: $(WHOLE)}
    - {name: usual, value: $(USUAL)}
    - {name: small-in-text, value: =$(SMALL)}
    - {name: large-in-text, value: =$(LARGE)}
    - {name: whole-in-text, value: =$(WHOLE)}
    - {name: usual-in-text, value: =$(USUAL)}
",
        r"
apiVersion: v1
kind: Odd
metadata:
  name: a
spec:
  large: 1.2345675e+06
  small: 1e-05
  usual: 1.5
  whole: 1000000
---
apiVersion: v1
kind: Pod
metadata:
  name: b
spec:
  containers:
  - env:
    - name: small
      value: 1e-05
    - name: large
      value: 1.2345675e+06
    - name: whole
      value: 1000000
    - name: usual
      value: 1.5
    - name: small-in-text
      value: =1e-05
    - name: large-in-text
      value: =1.2345675e+06
    - name: whole-in-text
      value: =1e+06
    - name: usual-in-text
      value: =1.5
    name: b
",
    );
}

/// Quotes that a number has from the string it was written over do not make it a string for vars.
#[test]
fn a_number_written_over_a_quoted_string_is_put_in_as_a_number() {
    check(
        r#"
=== kustomization.yaml
resources: [base]
patches:
- patch: |
    {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {hostname: 5, subdomain: 1e3, other: true}}
=== base/kustomization.yaml
resources: [a.yaml]
vars:
- {name: A, objref: {apiVersion: v1, kind: Pod, name: p}, fieldref: {fieldPath: spec.hostname}}
- {name: B, objref: {apiVersion: v1, kind: Pod, name: p}, fieldref: {fieldPath: spec.subdomain}}
- {name: C, objref: {apiVersion: v1, kind: Pod, name: p}, fieldref: {fieldPath: spec.other}}
=== base/a.yaml
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  hostname: "a"
  subdomain: "b"
  other: "c"
  containers: [{name: c, args: ["$(A)", "$(B)", "$(C)", "=$(A)"]}]
"#,
        r#"
apiVersion: v1
kind: Pod
metadata:
  name: p
spec:
  containers:
  - args:
    - 5
    - 1000
    - true
    - =5
    name: c
  hostname: "5"
  other: "true"
  subdomain: "1e3"
"#,
    );
    let told = crate::errors(
        r#"
=== kustomization.yaml
resources: [a.yaml]
vars:
- {name: A, objref: {apiVersion: v1, kind: Pod, name: p}, fieldref: {fieldPath: spec.hostname}}
patches:
- patch: |
    {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {hostname: 0x10}}
=== a.yaml
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {hostname: "a"}
"#,
    );
    assert!(told.contains("not found in corresponding resource"), "{told}");
}
