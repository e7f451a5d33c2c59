# Client-side apply: what is created, left alone, changed and pruned.

body() {
    shows "a file of two objects is created"
    k apply -f configmaps.yaml
    shows "again changes nothing"
    k apply -f configmaps.yaml
    shows "what apply remembers"
    k apply view-last-applied configmap/settings
    shows "one of them changed, with a field removed and one added"
    k apply -f configmaps-changed.yaml
    k get configmap settings -o 'jsonpath={.data}'
    shows "a dry run on either side changes nothing"
    k apply -f configmaps.yaml --dry-run=client
    k apply -f configmaps.yaml --dry-run=server
    k apply -f configmaps.yaml --dry-run=server -o yaml
    k get configmap settings -o 'jsonpath={.data}'
    shows "what is no longer in the file is pruned by label"
    k apply -f configmaps-one.yaml --prune -l part=settings --prune-allowlist=core/v1/ConfigMap
    k get configmap -l part=settings -o name

    shows "an object that apply did not make is adopted with a warning"
    quiet create configmap made --from-literal=a=1
    k_with "$(configmap made 2)" apply -f -
    k get configmap made -o 'jsonpath={.data}'
    shows "what others added stays"
    quiet patch configmap made --type=merge -p '{"data":{"other":"kept"}}'
    k_with "$(configmap made 3)" apply -f -
    k get configmap made -o 'jsonpath={.data}'

    shows "lists with keys are merged by strategic merge"
    k apply -f web.yaml
    quiet set env deployment/web --containers=web ADDED=yes
    k apply -f web.yaml
    k get deployment web -o 'jsonpath={.spec.template.spec.containers[0].env[*].name}'
    shows "several kinds, some there already"
    k apply -f web.yaml -f web-service.yaml -f reader.yaml -f credentials.yaml
    k apply -f web.yaml -f web-service.yaml -f reader.yaml -f credentials.yaml
    k apply -f web-service.yaml -o yaml
    shows "names come from the cluster"
    k apply -f web-service.yaml -o name
    k_with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"x-"}}' apply -f -
    shows "a deleted object comes back"
    quiet delete service web
    k apply -f web-service.yaml
    shows "a field that was applied before is set back"
    quiet patch service web --type=json -p '[{"op":"replace","path":"/spec/ports/0/port","value":81}]'
    k apply -f web-service.yaml
    k get service web -o 'jsonpath={.spec.ports[*].port}'
    shows "set-last-applied and edit of the annotation"
    k apply set-last-applied -f web-service.yaml
    k apply view-last-applied service web -o json
}

configmap() {
    printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s"},"data":{"a":"%s"}}' "$1" "$2"
}
