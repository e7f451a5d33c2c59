# The refusals that people meet, in the words they search for.

body() {
    quiet apply -f configmaps.yaml -f web.yaml -f web-service.yaml
    shows "unknown and repeated fields"
    local unknown='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","lables":{}},"dta":{"a":"1"}}'
    k_with "$unknown" create -f -
    k_with "$unknown" create --validate=warn -f -
    k_with "$unknown" create --validate=ignore -f - --dry-run=server
    k_with "$unknown" apply -f - --validate=strict
    k_edited 's/replicas: 2/replicas: 2\n  replcas: 3/; s/containerPort/contanerPort/' web.yaml apply
    k_with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}' create -f -
    shows "wrong types"
    k_edited 's/replicas: 2/replicas: two/' web.yaml apply
    k_edited 's/port: 80$/port: "80"/' web-service.yaml create --dry-run=server
    k_with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":1}}' create --validate=false -f -
    k_with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":[]}' create -f -
    shows "invalid values"
    k create configmap Bad_Name
    k_with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}' create -f -
    k_edited 's/name: web$/name: -web/' web-service.yaml create
    k_edited 's/port: 80$/port: 99999/' web-service.yaml apply
    k_edited 's/memory: 64Mi/memory: 256Mi/; s/cpu: 100m/cpu: lots/' web.yaml apply
    k_edited 's/memory: 64Mi/memory: 256Mi/' web.yaml apply
    k_edited 's/image: registry.example\/sidecar:2.1/image: ""/; s/name: sidecar/name: web/' web.yaml create
    k_with '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},"data":{"a":"not base64!"}}' create -f -
    k_with '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"empty"},"spec":{"containers":[]}}' create -f -
    k_with '{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x"},"spec":{"template":{"spec":{"containers":[{"name":"a","image":"b"}]}}}}' create -f -
    shows "fields that stay as they are"
    k_edited 's/app: web$/app: other/' web.yaml apply
    k patch service web -p '{"spec":{"clusterIP":"10.0.200.201"}}'
    quiet create secret generic fixed --from-literal=a=1
    quiet patch secret fixed -p '{"immutable":true}'
    k patch secret fixed -p '{"stringData":{"a":"2"}}'
    k patch deployment web -p '{"metadata":{"uid":"11111111-2222-3333-4444-555555555555"}}'
    shows "not there, there already"
    k get deployment none
    k delete deployment none
    k create -f web.yaml
    k create configmap settings
    shows "no such kind, version, namespace"
    k_with '{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"x"}}' apply -f -
    k_with '{"apiVersion":"apps/v1beta9","kind":"Deployment","metadata":{"name":"x"}}' apply -f -
    k_with '{"apiVersion":"apps/v1","kind":"Deploymnt","metadata":{"name":"x"}}' apply -f -
    k get nothings.example.org
    k get deployments.v9.apps
    k create configmap x -n "$NS-none"
    k apply -f configmaps.yaml -n "$NS-none"
    k apply --server-side -f configmaps.yaml -n "$NS-none"
    k_edited 's/name: settings/name: settings\n  namespace: elsewhere/' configmaps-one.yaml apply -n "$NS"
    k_with '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"x","namespace":"y"}}' create --dry-run=server -f -
    shows "selectors"
    k get pods -l 'a=b=c'
    k get pods -l 'a in b'
    k get pods -l 'a=bad value'
    k get pods --field-selector nothing=1
    k get configmaps --field-selector data.a=1
    k get pods --field-selector status.phase
    shows "text that is no object"
    k_with 'a: b: c' apply -f -
    k_with '{"apiVersion":"v1","kind":' apply -f -
    k_with 'just text' apply -f -
    k_with 'kind: ConfigMap' apply -f -
    k_with 'apiVersion: v1' apply -f -
    k_with '' apply -f -
    k apply -f missing.yaml
    k create --raw "/api/v1/namespaces/$NS/configmaps" -f web.yaml
    k create --raw "/api/v1/namespaces/$NS/nothings" -f web.yaml
    shows "rights"
    k get pods --as=nobody
    k get pods --as=nobody -A
    k create namespace x --as=nobody
    k get nodes --as=nobody
    k delete configmap --all --as=nobody
    k get --raw /metrics --as=nobody
}
