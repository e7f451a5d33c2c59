# The scale subresource. That of a custom resource is in the section of custom resources.

body() {
    quiet apply -f web.yaml -f database.yaml
    k scale deployment web --replicas=3
    k get deployment web -o 'jsonpath={.spec.replicas}'
    k scale statefulset/database --replicas=2
    k scale deployment web --current-replicas=3 --replicas=1
    k scale deployment web --current-replicas=3 --replicas=2
    k get deployment web -o 'jsonpath={.spec.replicas}'
    quiet rollout status deployment/web --timeout=60s
    settle "the pods to go" prints 1 get deployment web -o 'jsonpath={.status.replicas}'
    k get deployment web --subresource=scale -o yaml
    shows "of a replica set, by its owner's label"
    k scale --replicas=4 -f web.yaml -f database.yaml
    k scale deployment --all --replicas=2
    k scale deployment web --replicas=5 --dry-run=server
    k scale deployment web --replicas=5 --dry-run=client -o name
    k get deployment web -o 'jsonpath={.spec.replicas}'
    k scale deployment web --replicas=0 --timeout=30s
    settle "the pods to go" prints "" get pods -l app=web -o name
    k get deployment web
    shows "what has no scale, or is not there"
    k scale configmap settings --replicas=1
    k scale daemonset agent --replicas=1
    k scale deployment none --replicas=1
    k scale deployment web --replicas=-1
    k scale deployment web
    k autoscale deployment web --min=1 --max=4 --cpu=80%
    k get hpa web -o 'jsonpath={.spec}'
    k autoscale deployment web --max=4
}
