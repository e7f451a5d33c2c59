# The ways to look at objects.

body() {
    quiet apply -f configmaps.yaml -f web.yaml -f web-service.yaml -f credentials.yaml -f database.yaml -f agent.yaml \
        -f migrate.yaml -f report.yaml -f shop.yaml -f reader.yaml -f claim.yaml
    quiet rollout status deployment/web --timeout=60s
    quiet rollout status statefulset/database --timeout=60s
    quiet rollout status daemonset/agent --timeout=60s
    quiet wait --for=condition=complete job/migrate --timeout=60s

    shows "tables, narrow and wide"
    local kind
    for kind in configmaps deployments services statefulsets daemonsets jobs cronjobs ingresses roles rolebindings pvc; do
        k get $kind
        k get $kind -o wide
    done
    k get secrets
    k get serviceaccounts
    k get replicasets -o wide
    k get pods
    k get pods -o wide
    k get pods --show-labels
    k get pods -L app -l app=web
    k get endpointslices
    k get controllerrevisions -l app=agent
    k get all
    shows "several kinds, several names"
    k get configmap/settings service/web deployment/web
    k get configmap settings extras
    k get deploy,svc
    k get cm settings --no-headers

    shows "machine-readable forms"
    k get configmap settings -o yaml
    k get configmap settings -o json
    k get configmap settings -o yaml --show-managed-fields
    k get service web -o yaml
    k get deployment web -o yaml
    k get job migrate -o yaml
    k get configmaps -l part=settings -o yaml
    k get configmaps -o name
    k get deployment web -o 'jsonpath={.spec.template.spec.containers[*].name}'
    k get pods -l app=web -o 'jsonpath={range .items[*]}{.status.phase}{" "}{.spec.nodeName}{"\n"}{end}'
    k get configmap settings -o 'go-template={{range $k, $v := .data}}{{$k}}={{$v}};{{end}}'
    k get configmaps -l part=settings -o custom-columns=NAME:.metadata.name,SIZE:.data.size,PART:.metadata.labels.part
    k get configmaps --sort-by=.metadata.name -l part=settings
    k get configmaps --sort-by=.data.note -l part=settings -o name

    shows "selectors"
    k get configmaps -l 'part in (settings, other),!none' -o name
    k get configmaps -l part!=settings -o name
    k get configmaps --field-selector metadata.name=extras
    k get pods --field-selector status.phase=Running,spec.nodeName=sim-0 -l app=web -o 'jsonpath={.items[*].status.phase}'
    k get pods --field-selector status.phase=Succeeded -o 'jsonpath={.items[*].metadata.labels.batch\.kubernetes\.io/job-name}'
    k get configmaps -l part=none
    k get pods -A -l app=web --field-selector "metadata.namespace=$NS"
    k get deployments -A --field-selector "metadata.namespace=$NS"
    k get secrets --field-selector type=Opaque -o name
    k get services --field-selector spec.type=ClusterIP -o name
    k get configmaps --chunk-size=1 -o name
    k get namespace "$NS"
    k get namespace "$NS" -o yaml
    k get nodes -o name
    shows "parts of objects"
    k get deployment web --subresource=scale
    k get deployment web --subresource=scale -o yaml
    k get deployment web --subresource=status -o 'jsonpath={.status.readyReplicas}'
    shows "what is not there"
    k get configmap none
    k get configmap none --ignore-not-found
    k get configmap settings none
    k get widgets
    k get configmaps -n "$NS-none"
}
