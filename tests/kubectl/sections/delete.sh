# Deletion: of what, how deep, and when it is over.

body() {
    quiet apply -f configmaps.yaml -f web.yaml -f web-service.yaml -f reader.yaml
    quiet rollout status deployment/web --timeout=60s
    shows "by file, by name, by selector"
    k delete -f configmaps.yaml
    k delete -f configmaps.yaml
    k delete -f configmaps.yaml --ignore-not-found
    quiet apply -f configmaps.yaml
    k delete configmap settings none
    quiet apply -f configmaps.yaml
    k delete configmap -l part=settings
    k delete configmap -l part=settings
    k delete role/reader rolebinding/readers
    quiet apply -f configmaps.yaml
    k delete configmap --all --field-selector metadata.name!=kube-root-ca.crt --dry-run=server
    k delete configmap --all --dry-run=client -o name
    k get configmap -l part=settings -o name
    k delete configmap settings -o name
    k delete configmap
    k delete configmap settings --all
    k delete nothing settings

    shows "orphans stay"
    k delete deployment web --cascade=orphan
    k get replicasets -l app=web -o 'jsonpath={.items[*].metadata.ownerReferences}{.items[*].spec.replicas}'
    k_sorted get pods -l app=web -o 'jsonpath={range .items[*]}{.status.phase}{"\n"}{end}'
    shows "a deployment adopts them"
    quiet apply -f web.yaml
    quiet rollout status deployment/web --timeout=60s
    settle "the owner" prints Deployment get replicasets -l app=web -o 'jsonpath={.items[*].metadata.ownerReferences[*].kind}'
    k get replicasets -l app=web
    shows "the foreground: dependents first"
    k delete deployment web --cascade=foreground
    k get replicasets,pods -l app=web
    shows "the background: the owner first"
    quiet apply -f web.yaml
    quiet rollout status deployment/web --timeout=60s
    k delete deployment web --cascade=background
    settle "the pods to go" prints "" get replicasets,pods -l app=web -o name
    k get replicasets,pods -l app=web

    shows "a finalizer holds"
    k_with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"held","finalizers":["example.com/hold"]}}' create -f -
    k delete configmap held --wait=false
    k get configmap held -o 'jsonpath={.metadata.deletionGracePeriodSeconds} {.metadata.finalizers}'
    k patch configmap held --type=merge -p '{"data":{"a":"1"}}'
    k patch configmap held --type=json -p '[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/more"}]'
    k patch configmap held --type=merge -p '{"metadata":{"finalizers":null}}'
    k get configmap held
    quiet apply -f shell-pod.yaml
    quiet wait --for=condition=PodScheduled pod/shell --timeout=60s
    k delete pod shell --grace-period=0 --force
    k delete pod shell --now
    k delete --raw "/api/v1/namespaces/$NS/services/none"

    shows "a namespace goes with all that is in it"
    quiet create namespace "$NS-more"
    quiet create configmap a --from-literal=a=1 -n "$NS-more"
    k delete namespace "$NS-more"
    k get namespace "$NS-more"
    k get configmap a -n "$NS-more"
    k delete namespace default
    k delete namespace kube-system
}

clean_up() {
    quiet delete namespace "$NS-more" --ignore-not-found
}
