# Events that somebody wrote down.

body() {
    quiet apply -f configmaps.yaml
    k create -f events.yaml
    k events
    k events --for configmap/settings
    k events --types=Warning
    k events -o name
    k get events
    k get events -o wide
    k get events --sort-by=.lastTimestamp -o custom-columns=REASON:.reason,COUNT:.count
    k get events --field-selector involvedObject.name=settings,type=Warning -o name
    k get events --field-selector reason=Noted -o 'jsonpath={.items[*].message} {.items[*].reportingComponent}'
    k get events.events.k8s.io
    k get events.events.k8s.io extras.first -o yaml
    k describe configmap settings
    k describe event settings.first
    shows "what is not an event"
    k_with '{"apiVersion":"v1","kind":"Event","metadata":{"name":"x"},"involvedObject":{"namespace":"elsewhere"}}' create -f -
    k events --for nothing
}
