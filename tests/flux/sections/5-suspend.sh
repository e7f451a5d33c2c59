# What is suspended is left alone until it is resumed.
says 0 'suspending kustomization app' 'kustomization suspended' -- flux suspend kustomization app
says 0 '^app +latest@sha256:[0-9a-f]{8} +True +True' -- flux get kustomizations app
says 1 'resource is suspended' -- flux reconcile kustomization app
kubectl patch configmap settings -n default --type=merge -p '{"data":{"colour":"red"}}' >/dev/null
says 0 'source oci suspended' -- flux suspend source oci app
says 0 'fetched revision latest@sha256:' -- flux resume source oci app
says 0 'red' -- kubectl get configmap settings -n default -o 'jsonpath={.data.colour}'
says 0 'kustomization resumed' 'applied revision latest@sha256:' -- flux resume kustomization app
says 0 'green' -- kubectl get configmap settings -n default -o 'jsonpath={.data.colour}'
