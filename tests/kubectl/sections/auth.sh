# Who one is, what one may do, and that it is enforced.

body() {
    quiet apply -f configmaps.yaml -f reader.yaml
    quiet create serviceaccount app
    quiet create secret generic public --from-literal=a=1
    quiet create secret generic private --from-literal=a=1
    shows "who"
    k auth whoami --as=jane --as-group=readers --as-uid=7
    k auth whoami --as=jane -o yaml
    k auth whoami "--as=system:serviceaccount:$NS:app"

    shows "what the administrator may do"
    k auth can-i '*' '*'
    k auth can-i delete pods --all-namespaces
    shows "what others may do"
    k auth can-i get configmaps --as=jane
    k auth can-i delete configmaps --as=jane
    k auth can-i get secrets --as=jane
    k auth can-i get secrets/public --as=jane
    k auth can-i get secrets/private --as=jane
    k auth can-i create deployments.apps --as=jane
    k auth can-i update deployments --subresource=scale --as=jane
    k auth can-i list configmaps --as=nobody
    k auth can-i list configmaps --as=nobody --as-group=readers
    k auth can-i list configmaps --as=jane -n default
    k auth can-i list configmaps "--as=system:serviceaccount:$NS:app"
    k auth can-i get /version --as=jane
    k auth can-i get /metrics --as=jane
    k auth can-i list nodes --as=jane
    k auth can-i get configmaps --as=jane --quiet
    k auth can-i create nothings --as=jane
    k_sorted auth can-i --list --as=jane
    k_sorted auth can-i --list --as=jane --as-group=system:authenticated
    k_sorted auth can-i --list --as=nobody --as-group=other

    shows "it is enforced"
    k get configmaps --as=jane
    k get secrets --as=jane
    k get secret public --as=jane
    k get secret private --as=jane
    k get configmaps --as=nobody
    k get configmaps -A --as=jane
    k delete configmap settings --as=jane
    k create configmap mine --from-literal=a=1 --as=jane
    k apply -f configmaps-changed.yaml --as=jane
    k create -f web.yaml --as=jane
    k scale deployment web --replicas=1 --as=jane
    k get nodes --as=jane
    k get --raw /metrics --as=jane
    k get --raw /healthz --as=jane --as-group=system:authenticated
    k get configmaps --as=nobody --as-group=readers -o name
    shows "nobody gives what they do not have"
    k create role all --verb='*' --resource='*' --as=jane
    k create rolebinding steal --clusterrole=cluster-admin --user=jane --as=jane
    quiet create role granter --verb=create,get,update,patch --resource=roles,rolebindings
    quiet create rolebinding granters --role=granter --user=jane
    k create role all --verb='*' --resource=pods --as=jane
    k create role some --verb=get --resource=configmaps --as=jane
    k create rolebinding steal --clusterrole=cluster-admin --user=jane --as=jane
    shows "impersonation needs a right, too"
    KUBECONFIG=$(of_token "$(client create token app)") k get configmaps --as=jane
    shows "tokens"
    k create token app
    claims create token app --duration=20m
    claims create token app --audience=https://example.org
    claims create token app --bound-object-kind=Secret --bound-object-name=public
    k create token app --duration=1s
    k create token app --bound-object-kind=Secret --bound-object-name=none
    export KUBECONFIG
    KUBECONFIG=$(of_token "$(client create token app)")
    k auth whoami
    k get configmaps -o name
    k get secrets
    k auth can-i list configmaps
    KUBECONFIG=$(of_token none)
    k get configmaps
    KUBECONFIG=$work/kubeconfig
    shows "rights end with the binding"
    k delete rolebinding readers
    k get configmaps --as=jane
}

# A copy of the kubeconfig with another user.
of_token() {
    local server ca
    server=$(client config view --raw --minify -o 'jsonpath={.clusters[0].cluster.server}')
    ca=$(client config view --raw --minify --flatten -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}')
    cat >"$work/token.kubeconfig" <<END
{"apiVersion":"v1","kind":"Config","current-context":"a",
 "clusters":[{"name":"a","cluster":{"server":"$server","certificate-authority-data":"$ca"}}],
 "users":[{"name":"a","user":{"token":"$1"}}],
 "contexts":[{"name":"a","context":{"cluster":"a","user":"a","namespace":"$NS"}}]}
END
    echo "$work/token.kubeconfig"
}

# Records what a token says, with its times as one duration.
claims() {
    local code payload from until
    client "$@" >"$work/all" 2>"$work/stderr" </dev/null
    code=$?
    payload=$(cut -d. -f2 "$work/all" | tr '_-' '/+')
    while [ $((${#payload} % 4)) -ne 0 ]; do payload+='='; done
    payload=$(base64 -d <<<"$payload")
    until=$(sed -E 's/.*"exp":([0-9]+).*/\1/' <<<"$payload")
    from=$(sed -E 's/.*"iat":([0-9]+).*/\1/' <<<"$payload")
    sed -E 's/"(exp|iat|nbf)":[0-9]+/"\1":TIME/g' <<<"$payload" >"$work/stdout"
    echo "valid for $((until - from)) s" >>"$work/stdout"
    record "$code" "kubectl $(quoted "$@") | cut -d. -f2 | base64 -d"
}
