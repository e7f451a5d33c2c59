# The documentation of fields, from the published schemas.

body() {
    k explain configmap
    k explain deployment
    k explain deployment.spec
    k explain deployment.spec.strategy.rollingUpdate
    k explain pod.spec.containers.livenessProbe
    k explain service.spec.ports
    k explain cronjob.spec.schedule
    k explain deployments.v1.apps.spec.replicas
    shows "another version by name"
    k explain horizontalpodautoscaler.spec --api-version=autoscaling/v1
    k explain hpa.spec.metrics
    shows "a whole tree"
    k explain ingress --recursive
    k explain pod.spec.affinity.nodeAffinity --recursive
    k explain networkpolicy.spec.ingress --recursive
    k explain role.rules
    k explain crd.spec.versions
    k explain secret --output=plaintext-openapiv2
    shows "what is not there"
    k explain deployment.spec.nothing
    k explain deployment.spec.replicas.more
    k explain nothing
    k explain deployment --api-version=apps/v9
}
