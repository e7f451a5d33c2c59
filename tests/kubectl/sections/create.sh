# The short forms that make common kinds.

body() {
    k create namespace "$NS"
    k create configmap settings --from-literal=colour=blue --from-literal=size=3 --from-file=note=backup.yaml
    k get configmap settings -o 'jsonpath={.data.colour} {.data.size}'
    k create configmap settings --from-literal=colour=red
    k create configmap hashed --from-literal=a=1 --append-hash --dry-run=client -o name
    k create secret generic credentials --from-literal=user=admin --type=example.com/login
    k get secret credentials -o 'jsonpath={.type} {.data}'
    k create secret docker-registry registry --docker-server=registry.example --docker-username=u --docker-password=p
    k get secret registry
    k create secret tls missing --cert=none.crt --key=none.key
    k create deployment web --image=registry.example/web:1 --replicas=2 --port=8080
    k create deployment web --image=registry.example/web:1 --dry-run=client -o yaml
    k create deployment other --image=registry.example/web:1 --dry-run=server -o 'jsonpath={.spec}'
    k expose deployment web --port=80 --target-port=8080
    k get service web -o 'jsonpath={.spec.ports} {.spec.selector}'
    k create service clusterip inside --tcp=80:8080
    k create service nodeport outside --tcp=80:8080
    k create service loadbalancer cloud --tcp=443
    k create service externalname elsewhere --external-name=example.org
    k get service outside inside elsewhere
    k create ingress shop --class=plain --rule='shop.example.com/*=web:80,tls=shop-tls'
    k get ingress shop -o 'jsonpath={.spec}'
    k create job migrate --image=registry.example/migrate:1 -- migrate --all
    k create cronjob report --image=registry.example/report:1 --schedule='30 4 1 1 *'
    k create cronjob wrong --image=registry.example/report:1 --schedule='often'
    k create job from-report --from=cronjob/report
    k create role reader --verb=get,list --resource=configmaps,deployments.apps --resource-name=settings
    k get role reader -o 'jsonpath={.rules}'
    k create rolebinding readers --role=reader --user=jane --group=readers "--serviceaccount=$NS:app"
    k get rolebinding readers -o 'jsonpath={.roleRef} {.subjects}'
    k create clusterrole kubectl-create-reader --verb=get --resource=nodes --non-resource-url=/metrics
    k create clusterrolebinding kubectl-create-readers --clusterrole=kubectl-create-reader --user=joe
    k get clusterrole kubectl-create-reader -o 'jsonpath={.rules}'
    k create role none --verb=get --resource=nothings
    k create serviceaccount app
    k create serviceaccount app
    k create token none
    k create quota small --hard=pods=10,services=50
    k get quota small -o 'jsonpath={.spec}'
    k create poddisruptionbudget web --selector=app=web --min-available=1
    k get pdb web -o 'jsonpath={.spec}'
    k create priorityclass kubectl-create --value=1000 --description='for a test'
    k get priorityclass kubectl-create
    k create -f web-service.yaml
    k create -f configmaps.yaml
    k_with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"made-"}}' create -f -
    k_with '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"}},{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"two"}}]}' create -f -
    k run shell --image=registry.example/shell:1 --restart=Never --labels=app=shell
    k run shell --image=registry.example/shell:1
}

clean_up() {
    quiet delete clusterrole/kubectl-create-reader clusterrolebinding/kubectl-create-readers priorityclass/kubectl-create --ignore-not-found
}
