# The words that sections are written in. Sourced by `run`.

export KUBECONFIG=$OUT/kubeconfig HOME=$OUT/home TZ=UTC LC_ALL=C
mkdir -p "$HOME"
cp "$SLUICE_TEST_KUBECONFIG" "$KUBECONFIG"
transcript=$OUT/transcript.txt
: >"$transcript"
passed=0
failed=0
pids=()
trap 'trap - EXIT; [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null; wait' EXIT
trap 'exit 130' INT TERM

die() {
    printf 'tests/flux/run: %s\n' "$1" >&2
    exit 1
}

# wait_for WHAT COMMAND...: until the command succeeds, half a minute at most.
wait_for() {
    local what=$1
    shift
    for _ in $(seq 1200); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    die "not seen: $what"
}

# says CODE PATTERN... -- COMMAND...: the command ends with this code and prints lines of all these patterns; a pattern that begins
# with ! must not be there.
says() {
    local code=$1 patterns=() name said got=0 wrong=
    shift
    while [ "$1" != -- ]; do
        patterns+=("$1")
        shift
    done
    shift
    name=$*
    said=$("$@" 2>&1) || got=$?
    # Columns are told apart by blanks and a tab.
    said=${said//$'\t'/ }
    printf '\n$ %s\n%s\n(%s)\n' "$name" "$said" "$got" >>"$transcript"
    [ "$got" = "$code" ] || wrong="exit code $got instead of $code"
    for pattern in "${patterns[@]}"; do
        case $pattern in
        !*) ! grep -qE -- "${pattern#!}" <<<"$said" || wrong="$wrong; it says ${pattern#!}" ;;
        *) grep -qE -- "$pattern" <<<"$said" || wrong="$wrong; it does not say $pattern" ;;
        esac
    done
    if [ -z "$wrong" ]; then
        passed=$((passed + 1))
        printf 'ok   %s\n' "$name"
    else
        failed=$((failed + 1))
        printf 'FAIL %s: %s\n%s\n' "$name" "${wrong#; }" "$said"
    fi
}

free_port() {
    # Linux gives ports out above these.
    local port
    while port=$((20000 + RANDOM % 10000)); do
        ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || continue
        echo "$port"
        return
    done
}

kubectl() { "$KUBECTL" "$@"; }

# A registry, the installation, and the controllers of the installation's pod, which no kubelet would run here.
start() {
    registry=127.0.0.1:$(free_port)
    cat >"$OUT/registry.yaml" <<YAML
version: 0.1
storage: {inmemory: {}}
http: {addr: "$registry"}
log: {level: error}
YAML
    docker-registry serve "$OUT/registry.yaml" >"$OUT/registry.log" 2>&1 &
    pids+=($!)
    wait_for "the registry" bash -c "exec 3<>/dev/tcp/${registry/://}"
    kubectl config set-context --current --namespace=flux-system >/dev/null
    "$SLUICE" install --registry=registry.example.com >"$OUT/install.log" 2>&1 ||
        die "sluice install failed: $(cat "$OUT/install.log")"
    run_controllers
}

# Writes down lines as container runtimes do: the kubelet, and what stands for it here, reads this form.
as_container_log() {
    local line
    while IFS= read -r line; do
        printf '%(%Y-%m-%dT%H:%M:%S)T.000000000Z stderr F %s\n' -1 "$line"
    done
}

# Starts what the pod of the Deployment would run, with the rights that its ServiceAccount has.
run_controllers() {
    local store=127.0.0.1:$(free_port) token
    token=$(kubectl create token sluice --duration=1h)
    cp "$KUBECONFIG" "$OUT/controller.kubeconfig"
    "$KUBECTL" --kubeconfig="$OUT/controller.kubeconfig" config set-credentials controller --token="$token" >/dev/null
    "$KUBECTL" --kubeconfig="$OUT/controller.kubeconfig" config set-context --current --user=controller >/dev/null
    RUNTIME_NAMESPACE=flux-system "$SLUICE" controller --kubeconfig="$OUT/controller.kubeconfig" --events-addr= \
        --storage-path="$OUT/data" --storage-addr="$store" --storage-adv-addr="$store" --metrics-addr=0 --health-addr=0 \
        2> >(as_container_log >>"$OUT/controller.log") &
    controllers=$!
    pids+=("$controllers")
}

# Pushes a directory as the artifact, with the flux program, under a new revision.
push() {
    says 0 "artifact successfully pushed to $registry/manifests@sha256:" -- \
        flux push artifact "oci://$registry/manifests:latest" --path="$1" --source=here --revision="main@sha1:$2"
}

digest() {
    flux list artifacts "oci://$registry/manifests" | sed -nE 's/.*(sha256:[0-9a-f]{64}).*/\1/p' | head -1
}

finish() {
    printf '%s passed, %s failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ]
}
