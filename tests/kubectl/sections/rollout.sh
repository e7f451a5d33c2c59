# New versions of workloads: status, history, undo, restart, pause.

body() {
    quiet apply -f web.yaml -f database.yaml -f agent.yaml
    shows "until it is out"
    k_last rollout status deployment/web --timeout=60s
    k_last rollout status statefulset/database --timeout=60s
    k_last rollout status daemonset/agent --timeout=60s
    k rollout history deployment/web
    k set image deployment/web web=registry.example/web:1.1
    quiet annotate deployment web kubernetes.io/change-cause='second version' --overwrite
    k_last rollout status deployment/web --timeout=60s
    settle "the old pods to go" prints 2 get deployment web -o 'jsonpath={.status.replicas}'
    k get deployment web -o wide
    k get replicasets -l app=web --sort-by=.metadata.annotations.deployment\\.kubernetes\\.io/revision -o wide
    settle "the change's cause" prints 'second version' get replicasets -l app=web -o 'jsonpath={.items[?(@.metadata.annotations.deployment\.kubernetes\.io/revision=="2")].metadata.annotations.kubernetes\.io/change-cause}'
    k rollout history deployment/web
    k rollout history deployment/web --revision=2
    k rollout history deployment/web --revision=9
    shows "back to the version before"
    k rollout undo deployment/web --dry-run=client
    k rollout undo deployment/web
    k_last rollout status deployment/web --timeout=60s
    k get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image}'
    settle "the third revision" prints 3 get deployment web -o 'jsonpath={.metadata.annotations.deployment\.kubernetes\.io/revision}'
    k rollout history deployment/web
    k rollout undo deployment/web --to-revision=2
    k_last rollout status deployment/web --timeout=60s
    k get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image}'
    k rollout undo deployment/web --to-revision=9
    shows "paused, nothing new comes up"
    k rollout pause deployment/web
    k rollout pause deployment/web
    k rollout restart deployment/web
    k rollout undo deployment/web
    k rollout resume deployment/web
    k rollout resume deployment/web
    shows "restart"
    k rollout restart deployment/web
    k_last rollout status deployment/web --timeout=60s
    k rollout restart daemonset/agent statefulset/database
    k_last rollout status statefulset/database --timeout=60s
    k_last rollout status daemonset/agent --timeout=60s
    k rollout history daemonset/agent
    k rollout history statefulset/database
    shows "parts of the template are set"
    k set image deployment/web 'web=registry.example/web:2' sidecar=registry.example/sidecar:3
    k set image deployment/web none=registry.example/none:1
    k set env deployment/web --list
    k set env deployment/web MODE=fast COLOUR-
    k set resources deployment/web -c=web --limits=cpu=200m,memory=256Mi
    k set serviceaccount deployment/web app
    k set selector service none app=web
    k rollout status deployment/web --watch=false --timeout=1s --revision=99
    shows "what has no rollout"
    k rollout status configmap/settings
    k rollout status deployment/none
    k rollout history deployment/none
}
