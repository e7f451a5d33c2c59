# Charts of a registry are released by the program, looked at, asked for again, taken to the next version, left alone and deleted.
cp -r "$here/manifests/chart" "$OUT/chart"
push_chart() {
    sed -i -E "s/^version: .*/version: $1/" "$OUT/chart/Chart.yaml"
    "$SLUICE" helm package "$OUT/chart" --destination "$OUT" >/dev/null
    "$SLUICE" helm push "$OUT/web-$1.tgz" "oci://$registry/charts" --plain-http >/dev/null 2>&1 || die "the chart cannot be pushed"
}
push_chart 1.0.0
says 0 'source created' -- flux create source helm charts --url="oci://$registry/charts" --interval=1h
kubectl patch helmrepository charts --type=merge -p '{"spec":{"insecure":true}}' >/dev/null
printf 'colour: blue\n' >"$OUT/values.yaml"
says 0 'kind: HelmRelease' 'chart: web' 'colour: blue' -- \
    flux create helmrelease web --source=HelmRepository/charts --chart=web --values="$OUT/values.yaml" --target-namespace=default \
    --release-name=web --interval=1h --export
says 0 'HelmRelease created' 'HelmRelease web is ready' 'applied revision 1.0.0' -- \
    flux create helmrelease web --source=HelmRepository/charts --chart=web --values="$OUT/values.yaml" --target-namespace=default \
    --release-name=web --interval=1h
says 0 'blue' -- kubectl get configmap web -n default -o 'jsonpath={.data.colour}'
says 0 '^web +1\.0\.0 +False +True +Helm install succeeded for release default/web\.v1 with chart web@1\.0\.0' -- flux get helmreleases
says 0 'helmchart/flux-system-web +1\.0\.0 +False +True' 'helmrelease/web +1\.0\.0 +False +True' -- flux get all
says 0 'HelmRelease +1 +0 +0' 'HelmChart +1 +0 +0' -- flux stats
says 0 'kind: HelmRelease' 'chart: web' '!status:' -- flux export helmrelease web
# What is exported can be applied, and is the same release.
mkdir "$OUT/releases"
flux export helmrelease web >"$OUT/releases/web.yaml"
says 0 'artifact successfully pushed' -- \
    flux push artifact "oci://$registry/releases:latest" --path="$OUT/releases" --source=here --revision=main@sha1:3333333333333333333333333333333333333333
says 0 'fetched revision' -- flux create source oci releases --url="oci://$registry/releases" --tag=latest --insecure --interval=1h
says 0 'Kustomization releases is ready' -- flux create kustomization releases --source=OCIRepository/releases --path=./ --interval=1h
says 0 '^Kustomization/flux-system/releases' 'HelmRelease/flux-system/web' 'ConfigMap/default/web' -- flux tree kustomization releases
says 0 'kustomization deleted' -- flux delete kustomization releases --silent
says 0 'source oci deleted' -- flux delete source oci releases --silent
says 0 '^colour: blue$' -- flux debug helmrelease web --show-values
says 0 'chartVersion: 1\.0\.0' 'status: deployed' -- flux debug helmrelease web --show-history
says 0 'storageNamespace: default' 'reason: InstallSucceeded' -- flux debug helmrelease web --show-status
says 0 'HelmRelease annotated' 'applied revision 1.0.0' -- flux reconcile helmrelease web
says 0 'applied revision 1.0.0' -- flux reconcile helmrelease web --force
says 0 '"version": ?2|version: 2' -- flux debug helmrelease web --show-history
push_chart 1.1.0
says 0 'HelmChart annotated' 'fetched revision 1\.1\.0' 'HelmRelease annotated' 'applied revision 1\.1\.0' -- flux reconcile helmrelease web --with-source
says 0 'applied revision 1\.1\.0' -- flux reconcile helmrelease web --reset
says 0 'suspending helmrelease web' 'helmrelease suspended' -- flux suspend helmrelease web
says 0 '^web +1\.1\.0 +True +True' -- flux get helmreleases web
says 1 'resource is suspended' -- flux reconcile helmrelease web
says 0 'helmrelease resumed' 'applied revision 1\.1\.0' -- flux resume helmrelease web
says 0 'Object: +ConfigMap/web' 'HelmRelease: +web' 'HelmChart: +flux-system-web' 'HelmRepository: +charts' -- \
    flux trace web --kind=ConfigMap --api-version=v1 --namespace=default
says 0 'UpgradeSucceeded +HelmRelease/web +Helm upgrade succeeded for release default/web\.v3 with chart web@1\.1\.0' -- \
    flux events --for=HelmRelease/web
says 0 'info HelmRelease/web.flux-system - Helm upgrade succeeded for release default/web\.v3' -- flux logs --kind=HelmRelease --name=web
# What fails is told, and the release before stays.
printf 'colour: {}\n' >"$OUT/broken.yaml"
says 1 'Helm upgrade failed for release default/web|context deadline exceeded' -- \
    flux create helmrelease web --source=HelmRepository/charts --chart=web --values="$OUT/broken.yaml" --target-namespace=default \
    --release-name=web --interval=1h --timeout=15s
says 0 'blue' -- kubectl get configmap web -n default -o 'jsonpath={.data.colour}'
says 0 '^web +1\.1\.0 +False +False +Helm upgrade failed for release default/web with chart web@1\.1\.0: .*web/templates/web\.yaml' -- \
    flux get helmreleases web
says 0 'helmrelease deleted' -- flux delete helmrelease web --silent
wait_for "the objects of the release gone" bash -c '! "$KUBECTL" get configmap web -n default'
says 0 '!helmchart/' -- flux get all
says 0 'source helm deleted' -- flux delete source helm charts --silent
