//! Mistakes that have nothing to do with each other: none hides another, whatever comes first in a build. Those that may
//! only follow from another one are left out.

use super::check_all;

/// A tree, and the beginnings of all that is told of it.
type Case = (&'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    // A field, a resource, a generator and a patch.
    (
        r"
=== kustomization.yaml
resource: [a.yaml]
resources: [gone.yaml]
configMapGenerator:
- name: m
  literals: [none]
patches:
- path: broken.yaml
- patch: '{kind: X, metadata: {name: may-be-in-gone}}'
=== broken.yaml
a: [
",
        &[
            "kustomization.yaml:1: invalid Kustomization: json: unknown field \"resource\"; did you mean \"resources\"?",
            "kustomization.yaml:2: accumulating resources from 'gone.yaml'",
            "kustomization.yaml:5: loading KV pairs: literal source number 1",
            "broken.yaml:2: unable to parse SM or JSON patch",
        ],
    ),
    // Two bases that stand beside each other, and the kustomization above them.
    (
        r"
=== kustomization.yaml
resources: [one, two]
patches:
- target: {kind: Z}
  patch: '- {op: remove, path: /none}'
- target: {kind: X}
  patch: '- {op: remove, path: /follows}'
replicas:
- {name: nobody, count: 2}
sortOptions: {order: odd}
=== one/kustomization.yaml
resources: [x.yaml]
patches:
- target: {kind: X}
  patch: '- {op: remove, path: /none}'
=== one/x.yaml
kind: X
metadata: {name: x}
=== two/kustomization.yaml
resources: [z.yaml]
replacements:
- source: {kind: Nothing}
  targets: [{select: {kind: Q}, fieldPaths: [a]}]
patches:
- patch: '{kind: Z, metadata: {name: none}}'
=== two/z.yaml
kind: Z
metadata: {name: z}
",
        &[
            "one/kustomization.yaml:4: error in remove for path: '/none'",
            "two/kustomization.yaml:6: no resource matches strategic merge patch \"Z.[noVer].[noGrp]/none.[noNs]\"",
            "two/kustomization.yaml:3: nothing selected by Nothing.",
            "kustomization.yaml:4: error in remove for path: '/none'",
            "kustomization.yaml:8: resource with name nobody does not match a config",
            "kustomization.yaml:9: ",
        ],
    ),
    // A patch that cannot be read makes only what it is for uncertain.
    (
        r"
=== kustomization.yaml
resources: [a.yaml]
patches:
- target: {kind: X}
  path: broken.yaml
- target: {kind: X}
  patch: '- {op: remove, path: /may/follow}'
- target: {kind: W}
  patch: '- {op: remove, path: /none}'
- patch: '{kind: Z, metadata: {name: z}}'
images:
- name: '('
=== a.yaml
kind: X
metadata: {name: x}
---
kind: W
metadata: {name: y}
=== broken.yaml
- op: [
",
        &[
            "broken.yaml:2: unable to parse SM or JSON patch",
            "kustomization.yaml:11: error parsing regexp",
            "kustomization.yaml:8: error in remove for path: '/none'",
            "kustomization.yaml:9: no resource matches strategic merge patch \"Z.[noVer].[noGrp]/z.[noNs]\"",
        ],
    ),
    // A file that is missing hides nothing about objects that are there.
    (
        r"
=== kustomization.yaml
resources: [gone.yaml, a.yaml, b.yaml]
namespace: ns
patches:
- target: {kind: W}
  patch: '- {op: remove, path: /none}'
- patch: '{kind: Z, metadata: {name: may-be-in-gone}}'
replacements:
- source: {kind: MayBeInGone}
  targets: [{select: {kind: X}, fieldPaths: [a]}]
- source: {kind: X, name: x, fieldPath: no.such}
  targets: [{select: {kind: X}, fieldPaths: [a]}]
=== a.yaml
kind: X
metadata: {name: x}
---
kind: W
metadata: {name: y}
=== b.yaml
kind: X
metadata: {name: x}
---
kind: X
metadata: {name: other, namespace: a}
---
kind: X
metadata: {name: other, namespace: b}
",
        &[
            "kustomization.yaml:1: accumulating resources from 'gone.yaml'",
            "b.yaml:1: may not add resource with an already registered id: X.[noVer].[noGrp]/x.[noNs]; also in a.yaml:1",
            "kustomization.yaml:5: error in remove for path: '/none'",
            "kustomization.yaml:2: namespace transformation produces ID conflict: X.[noVer].[noGrp]/other.ns; in b.yaml:4 and \
             b.yaml:7",
            "kustomization.yaml:10: fieldPath `no.such` is missing",
        ],
    ),
    // A generator that makes nothing explains that ConfigMaps and Secrets are missing, and nothing else.
    (
        r"
=== kustomization.yaml
secretGenerator:
- name: s
  files: [gone.txt]
- {name: t, behavior: merge}
patches:
- patch: '{apiVersion: v1, kind: Secret, metadata: {name: s}}'
- patch: '{apiVersion: v1, kind: Service, metadata: {name: s}}'
vars:
- name: V
  objref: {apiVersion: v1, kind: Service, name: s}
- name: V
  objref: {apiVersion: v1, kind: Secret, name: s}
",
        &[
            "kustomization.yaml:3: loading KV pairs: file source gone.txt",
            "kustomization.yaml:7: no resource matches strategic merge patch \"Service.v1.[noGrp]/s.[noNs]\"",
            "kustomization.yaml:11: merging vars: var 'V' already encountered",
            "kustomization.yaml:8: var '{V Service.v1.[noGrp] {metadata.name}}' cannot be mapped to a field",
        ],
    ),
    // Components, plugins and validators.
    (
        r"
=== kustomization.yaml
resources: [a.yaml]
components: [part, nowhere]
transformers:
- |-
  apiVersion: builtin
  kind: PrefixTransformer
  metadata: {name: p}
- gone.yaml
validators:
- |-
  apiVersion: builtin
  kind: NoValidator
  metadata: {name: v}
labels:
- pairs: {a: b}
  fields: [{path: metadata/name/x, create: true}]
=== a.yaml
kind: X
metadata: {name: x}
=== part/kustomization.yaml
kind: Component
apiVersion: kustomize.config.k8s.io/v1alpha1
patches:
- patch: '{kind: W, metadata: {name: y}}'
",
        &[
            "part/kustomization.yaml:4: no resource matches strategic merge patch \"W.[noVer].[noGrp]/y.[noNs]\"",
            "kustomization.yaml:2: accumulating components: ",
            "kustomization.yaml:8: accumulating resources from 'gone.yaml'",
            "kustomization.yaml:5: ",
            "kustomization.yaml:11: unable to load builtin NoValidator",
        ],
    ),
    // What is only found at the very end.
    (
        r"
=== kustomization.yaml
resources: [gone.yaml, a.yaml]
namePrefix: p-
=== a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {volumes: [{configMap: {name: [[b]]}}]}
",
        &[
            "kustomization.yaml:1: accumulating resources from 'gone.yaml'",
            "a.yaml:5: updating name reference in 'spec/volumes/configMap/name' field",
        ],
    ),
    // What has replicas is no ConfigMap.
    (
        r"
=== kustomization.yaml
configMapGenerator:
- {name: m, files: [gone.txt]}
replicas:
- {name: nobody, count: 2}
",
        &[
            "kustomization.yaml:2: loading KV pairs: file source gone.txt",
            "kustomization.yaml:4: resource with name nobody does not match a config",
        ],
    ),
    // A namespace that cannot be read gives nothing another name, but namespaces.
    (
        r"
=== kustomization.yaml
namespace: [a]
resources: [a.yaml]
replacements:
- source: {kind: X, name: nobody}
  targets: [{select: {kind: X}, fieldPaths: [a]}]
- source: {kind: X, name: x, namespace: may-be-a}
  targets: [{select: {kind: X}, fieldPaths: [a]}]
- source: {kind: Namespace, name: may-be-n}
  targets: [{select: {kind: X}, fieldPaths: [a]}]
vars:
- name: V
  objref: {kind: X, name: nobody}
=== a.yaml
kind: X
metadata: {name: x}
---
apiVersion: v1
kind: Namespace
metadata: {name: n}
",
        &[
            "kustomization.yaml:1: invalid Kustomization: json: cannot unmarshal array",
            "kustomization.yaml:4: nothing selected by X.[noVer].[noGrp]/nobody.[noNs]",
            "kustomization.yaml:10: var '{V X.[noVer].[noGrp] {metadata.name}}' cannot be mapped to a field",
        ],
    ),
    // Objects that can be read are there, whatever stands beside them in their file.
    (
        r"
=== kustomization.yaml
resources: [list.yaml, documents.yaml]
patches:
- target: {kind: X}
  patch: '- {op: remove, path: /none}'
- patch: '{kind: W, metadata: {name: may-be-the-broken-one}}'
=== list.yaml
apiVersion: v1
kind: List
items:
- kind: X
  metadata: {name: good}
- kind: X
- kind: V
  metadata: {name: v}
  number: !!int word
=== documents.yaml
kind: X
metadata: {name: good}
---
a: [
---
kind: Z
metadata: {name: z}
number: !!int word
",
        &[
            "list.yaml:6: items[1]: missing metadata.name in object",
            "documents.yaml:5: MalformedYAMLError: ",
            "documents.yaml:1: may not add resource with an already registered id: X.[noVer].[noGrp]/good.[noNs]; also in list.yaml:4",
            "kustomization.yaml:4: error in remove for path: '/none'",
            "list.yaml:7: V.[noVer].[noGrp]/v.[noNs]: number: cannot decode !!str as a !!int",
            "documents.yaml:8: Z.[noVer].[noGrp]/z.[noNs]: number: cannot decode !!str as a !!int",
        ],
    ),
    // So are patches.
    (
        r"
=== kustomization.yaml
resources: [a.yaml]
patches:
- path: p.yaml
patchesStrategicMerge:
- p.yaml
=== a.yaml
kind: X
metadata: {name: x}
=== p.yaml
kind: X
metadata: {name: x}
---
a: [
---
kind: X
metadata: {name: nobody}
",
        &[
            "p.yaml:5: MalformedYAMLError: ",
            "p.yaml:5: unable to parse SM or JSON patch from [path: \"p.yaml\"]: MalformedYAMLError: ",
            "p.yaml:6: no matches for Id X.[noVer].[noGrp]/nobody.[noNs]",
            "p.yaml:6: no resource matches strategic merge patch \"X.[noVer].[noGrp]/nobody.[noNs]\"",
        ],
    ),
];

#[test]
fn no_mistake_hides_one_that_does_not_follow_from_it() {
    for (tree, wanted) in CASES {
        check_all(tree, wanted);
    }
}

#[test]
fn what_is_told_always_has_the_same_order() {
    for (tree, _) in CASES {
        let first = crate::errors(tree);
        assert!((0..3).all(|_| crate::errors(tree) == first));
    }
}
