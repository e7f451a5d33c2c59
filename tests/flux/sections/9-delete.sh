# What is deleted takes along what it made; and nothing of this would go without the controllers.
says 0 'kustomization deleted' -- flux delete kustomization app --silent
wait_for "the objects of the Kustomization gone" bash -c '! "$KUBECTL" get configmap settings -n default'
says 1 'NotFound' -- kubectl get deployment web -n default
kill "$controllers"
wait "$controllers" || true
says 1 'timed out|deadline' -- flux reconcile source oci app --timeout=5s
run_controllers
says 0 'fetched revision' -- flux reconcile source oci app --timeout=60s
says 0 'source oci deleted' -- flux delete source oci app --silent
says 0 '!app' -- flux get all -A
