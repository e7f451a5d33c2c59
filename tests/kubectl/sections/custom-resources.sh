# A definition, its objects in two versions, and their end.

body() {
    k create -f backup.yaml
    k apply -f backups-crd.yaml
    k wait --for=condition=established --timeout=30s crd/backups.kubectl.example.com
    settle "the published schema" kubectl_ok explain backup.spec
    k get crd backups.kubectl.example.com
    k api-resources --api-group=kubectl.example.com -o wide
    k get backups
    k get crd backups.kubectl.example.com -o 'jsonpath={.status.acceptedNames} {.status.storedVersions} {range .status.conditions[*]}{.type}={.status} {.reason};{end}'
    k apply -f backups-crd.yaml
    shows "defaults, unknown fields, tables"
    k apply -f backup.yaml
    k get backup nightly -o yaml
    k apply -f backups.yaml
    k apply -f backups.yaml
    k get backups
    k get bk -o wide
    k get backups.v1.kubectl.example.com,storage-things
    k get backups -l slow=yes -o name
    k get backups --field-selector metadata.name=weekly -o name
    k get backups --field-selector spec.mode=delta
    k get backups --sort-by=.spec.copies -o custom-columns=NAME:.metadata.name,COPIES:.spec.copies
    k describe backup weekly
    k_with "$(backup daily '{"target":"s3://copies/daily","colour":"blue","retention":{"hours":1}}')" create --validate=warn -f -
    k get backup daily -o 'jsonpath={.spec}'
    k_with "$(backup strict '{"target":"s3://copies/daily","colour":"blue"}')" create -f -
    k_with "$(backup none '{"target":"s3://copies/daily","colour":"blue"}')" apply --server-side -f -
    shows "the older version"
    k get backups.v1beta1.kubectl.example.com nightly
    k get backups.v1beta1.kubectl.example.com nightly -o 'jsonpath={.apiVersion} {.spec.copies}'
    k_with '{"apiVersion":"kubectl.example.com/v1beta1","kind":"Backup","metadata":{"name":"old"},"spec":{"target":"s3://x/y","unknown":1}}' create -f -
    k get backup old -o 'jsonpath={.apiVersion} {.spec}'
    shows "what the schema refuses"
    k_with "$(backup bad '{}')" create -f -
    k_with "$(backup bad '{"target":7}')" create -f -
    k_with "$(backup bad '{"target":"ab"}')" create -f -
    k_with "$(backup bad '{"target":"s3://a","copies":12}')" create -f -
    k_with "$(backup bad '{"target":"s3://a","mode":"partial"}')" create -f -
    k_with "$(backup bad '{"target":"nowhere"}')" create --validate=false -f -
    k_with "$(backup bad '{"target":"s3://a","mode":"delta","copies":1}')" create -f -
    k_with "$(backup bad '{"target":"s3://a","paths":[{"name":"a"},{"name":"a"}]}')" create -f -
    k_with "$(backup bad '{"target":"s3://a","paths":[{"path":"a"}]}')" create -f -
    k_with "$(backup bad '[]')" create -f -
    k patch backup nightly --type=merge -p '{"spec":{"target":"s3://elsewhere/x"}}'
    k patch backup nightly --type=merge -p '{"spec":{"copies":"many"}}'
    k patch backup nightly --type=merge -p '{"spec":{"target":null}}'
    shows "patches; there is no strategic merge of custom resources"
    k patch backup nightly -p '{"spec":{"copies":4}}'
    k patch backup nightly --type=merge -p '{"spec":{"copies":4}}'
    k patch backup nightly --type=json -p '[{"op":"replace","path":"/spec/copies","value":5}]'
    k get backup nightly -o 'jsonpath={.metadata.generation} {.spec.copies}'
    shows "the status has its own door"
    k patch backup nightly --subresource=status --type=merge -p '{"status":{"copies":2,"selector":"app=backup","conditions":[{"type":"Ready","status":"True"}]},"spec":{"copies":9}}'
    k patch backup nightly --type=merge -p '{"status":{"copies":7}}'
    k get backup nightly -o 'jsonpath={.metadata.generation} {.spec.copies} {.status}'
    k get backup nightly
    k wait --for=condition=Ready backup/nightly --timeout=5s
    shows "and so has the scale"
    k scale backup nightly --replicas=3
    k scale backup nightly --replicas=20
    k get backup nightly --subresource=scale -o yaml
    k get backup nightly --subresource=scale
    shows "server-side apply knows the lists"
    k_with "$(backup nightly '{"paths":[{"name":"mail","path":"/mail"},{"name":"tmp","path":"/tmp"}]}')" apply --server-side --field-manager=other -f -
    k_with "$(backup nightly '{"paths":[{"name":"mail","path":"/mail"},{"name":"tmp","path":"/tmp"}]}')" apply --server-side --field-manager=other --force-conflicts -f -
    k get backup nightly -o 'jsonpath={.spec.paths}'
    k get backup nightly -o yaml --show-managed-fields
    k diff -f backups.yaml
    shows "explained"
    k explain backup
    k explain backup.spec
    k explain backup.spec.copies
    k explain backup.spec.nothing
    k explain backup --recursive
    k explain backup --api-version=kubectl.example.com/v1beta1
    k describe crd backups.kubectl.example.com
    shows "definitions that are refused"
    k_edited 's/name: backups.kubectl.example.com/name: wrong.kubectl.example.com/' backups-crd.yaml create
    k_edited 's/storage: true/storage: false/' backups-crd.yaml apply
    k_edited 's/self.copies > 1/self.nothing > 1/' backups-crd.yaml apply
    k_edited 's/scope: Namespaced/scope: Cluster/' backups-crd.yaml apply
    shows "the end of the definition is the end of its objects"
    k delete crd backups.kubectl.example.com
    k get backups
    quiet apply -f backups-crd.yaml
    quiet wait --for=condition=established --timeout=30s crd/backups.kubectl.example.com
    settle "the resource" kubectl_ok get backups
    k get backups
}

clean_up() {
    quiet delete crd backups.kubectl.example.com --ignore-not-found
}

backup() {
    printf '{"apiVersion":"kubectl.example.com/v1","kind":"Backup","metadata":{"name":"%s"},"spec":%s}' "$1" "$2"
}
