# Objects with all that belongs to them.

body() {
    quiet apply -f configmaps.yaml -f credentials.yaml -f web.yaml -f web-service.yaml -f shell-pod.yaml -f migrate.yaml \
        -f report.yaml -f database.yaml -f agent.yaml -f shop.yaml -f reader.yaml
    quiet create serviceaccount app
    quiet create poddisruptionbudget web --selector=app=web --min-available=1
    quiet rollout status deployment/web --timeout=60s
    quiet rollout status statefulset/database --timeout=60s
    quiet rollout status daemonset/agent --timeout=60s
    quiet wait --for=condition=ready pod/shell --timeout=60s
    quiet wait --for=condition=complete job/migrate --timeout=60s

    k describe configmap settings
    k describe secret credentials
    k describe service web
    k describe deployment web
    k describe replicaset -l app=web
    k describe pod shell
    k describe pods -l app=web
    k describe statefulset database
    k describe daemonset agent
    k describe job migrate
    k describe cronjob report
    k describe ingress shop
    k describe role reader
    k describe rolebinding readers
    k describe serviceaccount app
    k describe pdb web
    k describe limitrange
    k describe endpointslices
    k describe clusterrole view
    k describe clusterrolebinding system:discovery
    shows "several"
    k describe configmaps -l part=settings
    k describe configmap/settings secret/credentials
    k describe configmap set
    k describe configmap none
    k describe namespace "$NS"
}
