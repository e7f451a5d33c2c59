# Whole objects put in the place of others.

body() {
    shows "there must be something to replace"
    k replace -f configmaps.yaml
    quiet create -f configmaps.yaml -f web-service.yaml -f web.yaml
    k replace -f configmaps-changed.yaml
    k get configmap settings -o 'jsonpath={.data}'
    shows "a version that is not the current one"
    k_with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","resourceVersion":"1"},"data":{"a":"1"}}' replace -f -
    k_with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","resourceVersion":"x"},"data":{"a":"1"}}' replace -f -
    k_with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","uid":"11111111-2222-3333-4444-555555555555"}}' replace -f -
    shows "what the server gave stays"
    k replace -f web-service.yaml
    k get service web -o 'jsonpath={.spec.type} {.spec.ports}'
    shows "what may not change"
    k_edited 's/app: web$/app: other/' web.yaml replace
    k_edited 's/targetPort: http/targetPort: http\n  clusterIP: 10.0.200.200/' web-service.yaml replace
    shows "force deletes and makes anew"
    k replace --force -f configmaps.yaml
    k_edited 's/app: web$/app: other/' web.yaml replace --force
    k replace -f configmaps.yaml --dry-run=server
    k replace -f configmaps.yaml --dry-run=client -o name
    k replace --raw "/api/v1/namespaces/$NS/configmaps/none" -f backup.yaml
}
