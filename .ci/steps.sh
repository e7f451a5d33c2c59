# Shared by .ci/run and .ci/nightly: the environment, steps with their times, the build. Sourced from the root of the repository.

cache="${XDG_CACHE_HOME:-$HOME/.cache}/sluice"

# Runs the calling script once more, in a tree with the same files that is kept between runs. Git writes only the files that differ, so that cargo
# builds only what they change. Only that tree is built into the target directory: cargo would take the files of another one for its own.
enter_kept_tree() {
    [ -z "${SLUICE_CI_COMMIT:-}" ] || return 0
    local tree="$cache/ci-tree" index files commit
    mkdir -p "$cache"
    index=$(mktemp)
    cp "$(git rev-parse --git-path index)" "$index"
    files=$(export GIT_INDEX_FILE="$index" && git add --all && git write-tree)
    rm -f "$index"
    commit=$(git rev-parse HEAD)
    if [ "$files" != "$(git rev-parse 'HEAD^{tree}')" ]; then
        printf 'the tree has uncommitted changes: they are tested, and the commit is not remembered as green\n'
        commit=$(git -c user.name=ci -c user.email=ci@localhost commit-tree -p HEAD -m 'Uncommitted changes' "$files")
    fi
    export SLUICE_CI_COMMIT="$commit" SLUICE_CI_ORIGIN="$PWD"
    exec flock --close "$cache/ci-tree.lock" bash -c '
        set -euo pipefail
        [ -d "$0/.git" ] || git init --quiet "$0"
        git -C "$0" config receive.shallowUpdate true
        rm -f "$0/.git/index.lock"
        git push --quiet --force "$0" "$SLUICE_CI_COMMIT:refs/ci/commit"
        git -C "$0" checkout --quiet --force --detach refs/ci/commit
        git -C "$0" clean --quiet -ffdx
        [ ! -d ../shared ] || ln -sfn "$(realpath ../shared)" "$0/../shared"
        cd "$0"
        exec bash "$@"' "$tree" ".ci/$(basename "$0")" "$@"
}
enter_kept_tree "$@"

export CI=true
export CARGO_TARGET_DIR="${SLUICE_CI_TARGET:-$cache/ci-target}"
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
export SLUICE_BUILT="$CARGO_TARGET_DIR/debug"
# Properties, faults and kills follow from the same seeds each time, so that a run fails by a change and not by chance. `.ci/nightly` varies them.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-20261115}" SLUICE_KILL_SEED="${SLUICE_KILL_SEED:-20261115}" SLUICE_FAULT_SEED="${SLUICE_FAULT_SEED:-20261115}"
# Lints and code come from one pass: cargo runs clippy's driver instead of the compiler for the crates of the workspace, as `cargo clippy`
# does, and here it generates code too.
RUSTC_WORKSPACE_WRAPPER=$(rustup which clippy-driver 2>/dev/null || command -v clippy-driver) ||
    { printf 'clippy is missing: rustup component add clippy\n' >&2; exit 1; }
export RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS="-Dwarnings__CLIPPY_HACKERY__"

xtask="$SLUICE_BUILT/xtask"
steps=()
current=
began=0

# Ends the step before and begins another.
step() {
    end_step
    current=$1
    began=$SECONDS
    printf '\n== %s (%ss)\n' "$current" "$SECONDS"
}

end_step() {
    [ -z "$current" ] || steps+=("$(printf '%5ss  %s' "$((SECONDS - began))" "$current")")
    current=
}

# Prints how long each step took, also after a failure.
print_steps() {
    local code=$?
    [ "$code" = 0 ] || [ -z "$current" ] || current="$current (FAILED)"
    end_step
    printf '\n== steps\n'
    printf '%s\n' "${steps[@]}"
    printf '%5ss  in total\n' "$SECONDS"
    return "$code"
}
trap print_steps EXIT

# Installs the Debian packages whose programs are missing. Rust and Go are expected to be there.
install_packages() {
    local program package missing=()
    while read -r program package; do
        PATH="$PATH:/usr/sbin" command -v "$program" >/dev/null || missing+=("$package")
    done <<'PACKAGES'
cc build-essential
curl curl
git git
gpg gnupg
jq jq
openssl openssl
ssh-keygen openssh-client
PACKAGES
    for program in cargo go; do
        command -v "$program" >/dev/null || { printf '%s is missing: install it first\n' "$program" >&2; return 1; }
    done
    # Buckets are also named by hosts below localhost.
    getent hosts bucket.localhost >/dev/null || missing+=(libnss-myhostname)
    [ ${#missing[@]} -gt 0 ] || return 0
    printf 'installing %s\n' "${missing[*]}"
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
}

build_and_lint() {
    cargo build --workspace --all-targets --locked --quiet
}

# Runs a command that finds the real programs on its PATH.
programs() {
    "$xtask" real-programs exec -- "$@"
}

# Runs a command on a real cluster made for it, with the real programs.
on_real_cluster() {
    programs "$xtask" real-cluster exec -- "$@"
}

# Runs commands at once, then prints what each has printed. Fails if one of them failed.
side_by_side() {
    local logs number failed=0 running=()
    logs=$(mktemp -d)
    for number in $(seq $#); do
        bash -euo pipefail -c "${!number}" >"$logs/$number" 2>&1 &
        running+=($!)
    done
    for number in $(seq $#); do
        wait "${running[number - 1]}" || failed=1
        printf '\n-- %s\n' "${!number}"
        cat "$logs/$number"
    done
    rm -r "$logs"
    return "$failed"
}

# Remembers the commit as one that passed.
remember_green() {
    if [ "$(git -C "$SLUICE_CI_ORIGIN" rev-parse HEAD)" = "$SLUICE_CI_COMMIT" ]; then
        printf '%s\n' "$SLUICE_CI_COMMIT" >"$cache/ci-green"
    fi
}
