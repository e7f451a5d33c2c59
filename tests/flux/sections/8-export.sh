# What is there, as one would write it.
says 0 'kind: Kustomization' 'path: ./' 'prune: true' 'name: app' '!status:' -- flux export kustomization app
says 0 'kind: OCIRepository' "url: oci://$registry/manifests" 'tag: latest' -- flux export source oci app
flux export kustomization app >"$OUT/exported.yaml"
says 0 'kustomization.kustomize.toolkit.fluxcd.io/app' -- kubectl apply --server-side --force-conflicts --dry-run=server -f "$OUT/exported.yaml"
