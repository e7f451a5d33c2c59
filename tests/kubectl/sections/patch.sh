# Patches in all types, good and bad.

body() {
    quiet apply -f configmaps.yaml -f web.yaml -f web-service.yaml
    shows "strategic merge, the default"
    k patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"registry.example/sidecar:3"}]}}}}'
    k get deployment web -o 'jsonpath={.spec.template.spec.containers[*].image}'
    k patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","$patch":"delete"}]}}}}'
    k get deployment web -o 'jsonpath={.spec.template.spec.containers[*].name}'
    k patch deployment web -p '{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}'
    k get deployment web -o 'jsonpath={.spec.strategy}'
    k patch deployment web -p 'spec: {replicas: 1}'
    shows "what is there already"
    k patch configmap settings -p '{"data":{"colour":"blue"}}'
    shows "merge"
    k patch configmap settings --type=merge -p '{"data":{"colour":null,"taste":"sweet"}}'
    k get configmap settings -o 'jsonpath={.data}'
    k patch deployment web --type=merge -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"registry.example/web:2"}]}}}}'
    k get deployment web -o 'jsonpath={.spec.template.spec.containers}'
    shows "JSON"
    k patch configmap settings --type=json -p '[{"op":"test","path":"/data/taste","value":"sweet"},{"op":"add","path":"/data/a.b","value":"1"},{"op":"remove","path":"/data/size"}]'
    k get configmap settings -o 'jsonpath={.data}'
    k patch service web --type=json -p '[{"op":"copy","from":"/metadata/labels/app","path":"/metadata/labels/copied"},{"op":"move","from":"/metadata/labels/copied","path":"/metadata/labels/moved"}]' -o 'jsonpath={.metadata.labels}'
    shows "from a file, to several, without keeping it"
    k_with '{"data":{"file":"yes"}}' patch configmap settings --type=merge --patch-file=/dev/stdin --dry-run=server -o 'jsonpath={.data}'
    k patch configmap settings extras -p '{"metadata":{"labels":{"both":"yes"}}}'
    k patch -f web-service.yaml -p '{"metadata":{"labels":{"file":"yes"}}}'
    k patch configmap extras -p '{"data":{"x":"1"}}' --dry-run=client
    shows "the status by its subresource, and not without it"
    k patch service web --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Seen","status":"True","reason":"Test","message":"","lastTransitionTime":"2020-01-01T00:00:00Z"}]},"spec":{"type":"NodePort"}}'
    k patch service web --subresource=status --type=merge -p '{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.7"}]}}}'
    k get service web -o 'jsonpath={.spec.type} {.status}'
    k patch service web --type=merge -p '{"status":{"conditions":[]}}'
    k get service web -o 'jsonpath={.status}'
    k patch deployment web --subresource=scale --type=merge -p '{"spec":{"replicas":3}}'
    k get deployment web -o 'jsonpath={.spec.replicas}'

    shows "bad ones"
    k patch configmap settings -p '{"data":'
    k patch configmap settings -p '[]'
    k patch configmap settings --type=json -p '{"op":"add"}'
    k patch configmap settings --type=json -p '[{"op":"remove","path":"/data/none"}]'
    k patch configmap settings --type=json -p '[{"op":"test","path":"/data/taste","value":"sour"}]'
    k patch configmap settings --type=json -p '[{"op":"replace","path":"/data/none","value":"x"}]'
    k patch configmap settings --type=json -p '[{"op":"jump","path":"/data/taste"}]'
    k patch configmap settings --type=merge -p '{"data":{"taste":7}}'
    k patch configmap settings --type=merge -p '{"date":{"taste":"7"}}'
    k patch configmap settings --type=other -p '{}'
    k patch configmap none -p '{"data":{"a":"b"}}'
    k patch deployment web -p '{"spec":{"replicas":-1}}'
    k patch deployment web -p '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}'
    k patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"image":"registry.example/noname:1"}]}}}}'
    k patch deployment web --type=json -p '[{"op":"replace","path":"/spec/replicas","value":"many"}]'
    k patch configmap settings -p '{"metadata":{"resourceVersion":"1"}}'
    k patch configmap settings -p '{"metadata":{"name":"renamed"}}'
    k patch configmap settings -p '{"kind":"Secret"}'
    k patch deployment web --subresource=nothing --type=merge -p '{}'
}
