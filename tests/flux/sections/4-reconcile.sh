# A new revision is fetched and applied when the program asks for it, and not before.
sed -i 's/blue/green/' "$OUT/app/settings.yaml"
push "$OUT/app" 2222222222222222222222222222222222222222
newest=$(digest)
says 0 'blue' -- kubectl get configmap settings -n default -o 'jsonpath={.data.colour}'
says 0 'OCIRepository annotated' "fetched revision latest@$newest" 'Kustomization annotated' "applied revision latest@$newest" -- \
    flux reconcile kustomization app --with-source
says 0 'green' -- kubectl get configmap settings -n default -o 'jsonpath={.data.colour}'
says 0 "fetched revision latest@$newest" -- flux reconcile source oci app
