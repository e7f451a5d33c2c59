# What the server says it can do. Definitions of other sections come and go, so their group is left out.

body() {
    shows "the server's version is understood"
    k version
    k get --raw /healthz
    k get --raw '/readyz'
    shows "the server is found"
    k cluster-info
    shows "every group and version"
    k_without example.com api-versions
    shows "every resource with its short names and kind"
    k_without example.com api-resources --sort-by=name
    shows "with verbs and categories"
    k_without example.com api-resources -o wide --sort-by=kind
    k api-resources --api-group=apps
    k api-resources --api-group=apps -o wide --no-headers
    k_without example.com api-resources --namespaced=false -o name
    k_without example.com api-resources --verbs=delete,deletecollection --namespaced=true -o name
    k_without example.com api-resources --categories=all -o name
    k api-resources --api-group=none.example.org
    k get --raw /apis/apps
    k get --raw /apis/apps/v1/nothing
    k get --raw /nothing
}
