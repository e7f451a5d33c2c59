# Sources and Kustomizations are made by the program, which waits until they are ready.
cp -r "$here/manifests/app" "$OUT/app"
push "$OUT/app" 1111111111111111111111111111111111111111
says 0 'OCIRepository created' 'OCIRepository reconciliation completed' 'fetched revision: latest@sha256:[0-9a-f]{64}' -- \
    flux create source oci app --url="oci://$registry/manifests" --tag=latest --insecure --interval=1h
says 0 'Kustomization created' 'Kustomization app is ready' 'applied revision latest@sha256:[0-9a-f]{64}' -- \
    flux create kustomization app --source=OCIRepository/app --path=./ --prune --wait --interval=1h
says 0 'blue' -- kubectl get configmap settings -n default -o 'jsonpath={.data.colour}'
# What may yet be mended is waited for.
says 1 'context deadline exceeded' -- \
    flux create kustomization broken --source=OCIRepository/app --path=./nowhere --prune --interval=1h --timeout=10s
says 0 '^broken +.* False +kustomization path not found: .*\./nowhere' -- flux get kustomizations broken
says 0 'kustomization deleted' -- flux delete kustomization broken --silent
