# Waiting for conditions, fields and ends.

body() {
    quiet apply -f configmaps.yaml -f web.yaml -f migrate.yaml
    k wait --for=condition=Available deployment/web --timeout=60s
    k wait --for=condition=Available=true deployment/web --timeout=60s
    k wait --for=condition=complete job/migrate --timeout=60s
    k_sorted wait --for=condition=Ready pods -l app=web --timeout=60s
    k wait --for=jsonpath='{.status.readyReplicas}'=2 deployment/web --timeout=60s
    k wait --for=jsonpath='{.data.colour}' configmap/settings --timeout=5s
    k wait --for=jsonpath='{.data.colour}'=blue configmap/settings configmap/extras --timeout=1s
    shows "a change is seen while waiting"
    later 1 patch configmap settings -p '{"data":{"colour":"red"}}'
    k wait --for=jsonpath='{.data.colour}'=red configmap/settings --timeout=20s
    later 1 delete configmap settings
    k wait --for=delete configmap/settings --timeout=20s
    later 1 create configmap settings --from-literal=colour=blue
    k wait --for=create configmap/settings --timeout=20s
    wait
    shows "it is gone already"
    k wait --for=delete configmap/none --timeout=5s
    shows "times out"
    k wait --for=condition=Failed job/migrate --timeout=1s
    k wait --for=delete configmap/settings --timeout=1s
    k wait --for=condition=Ready configmap/none --timeout=1s
    k wait --for=nothing configmap/settings --timeout=1s
    k wait --for=condition=Ready pods -l app=none --timeout=1s
}

# Runs kubectl in the background after some seconds.
later() {
    local seconds=$1
    shift
    (sleep "$seconds"; client "$@" >/dev/null 2>&1) &
}
