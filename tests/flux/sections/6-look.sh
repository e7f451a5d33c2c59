# Where objects come from, what they made, what was told of them.
says 0 'Object: +ConfigMap/settings' 'Namespace: +default' 'Status: +Managed by Flux' 'Kustomization: +app' 'Status: +Last reconciled at' \
    'OCIRepository: +app' "URL: +oci://$registry/manifests" "Revision: +latest@$newest" -- \
    flux trace settings --kind=ConfigMap --api-version=v1 --namespace=default
says 0 '^Kustomization/flux-system/app' 'ConfigMap/default/settings' 'Deployment/default/web' -- flux tree kustomization app
says 0 '^Kustomization/flux-system/app' '!Deployment/default/web' -- flux tree kustomization app --compact
says 0 'ConfigMap/default/settings configured' 'ReconciliationSucceeded +Kustomization/app +Reconciliation finished in' -- \
    flux events --for=Kustomization/app
says 0 'NewArtifact +OCIRepository/app +stored artifact with revision' -- flux events -A
says 0 'info Kustomization/app.flux-system - Reconciliation finished in' '!OCIRepository/app' -- flux logs --kind=Kustomization --name=app
says 0 'info OCIRepository/app.flux-system - stored artifact with revision' -- flux logs --kind=OCIRepository
says 0 'error Kustomization/broken.flux-system - .*kustomization path not found' -- flux logs --level=error
