# The words that sections are written in. A section defines `body`, and `clean_up` where it makes things outside of its
# namespace. Every recorded step is a block of the transcript:
#
#   # what it shows
#   $ kubectl the command
#   standard output
#   2> standard error
#   => exit code

# kubectl, which may not hang.
client() { timeout 90 "$kubectl" "$@"; }

# Says what the next command shows. The title is part of the block.
title=""
shows() { title=$*; }

# Runs kubectl and records it.
k() {
    local code
    client "$@" >"$work/stdout" 2>"$work/stderr" </dev/null
    code=$?
    record "$code" "kubectl $(quoted "$@")"
}

# Runs kubectl with standard input from the first argument and records it.
k_with() {
    local input=$1 code
    shift
    printf '%s\n' "$input" | client "$@" >"$work/stdout" 2>"$work/stderr"
    code=$?
    record "$code" "kubectl $(quoted "$@") <<< $(quoted "$input")"
}

# Runs kubectl on a manifest that is edited by a sed expression first, and records it.
k_edited() {
    local expression=$1 file=$2 code
    shift 2
    sed "$expression" "$file" | client "$@" -f - >"$work/stdout" 2>"$work/stderr"
    code=$?
    record "$code" "sed $(quoted "$expression") $file | kubectl $(quoted "$@") -f -"
}

# Runs kubectl and records only the last line of output: what comes before depends on how quickly things come up.
k_last() {
    local code
    client "$@" >"$work/all" 2>"$work/stderr" </dev/null
    code=$?
    tail -n 1 "$work/all" >"$work/stdout"
    record "$code" "kubectl $(quoted "$@") | tail -n 1"
}

# Runs kubectl and records its lines in order, for output that comes in none.
k_sorted() {
    local code
    client "$@" >"$work/all" 2>"$work/stderr" </dev/null
    code=$?
    sort "$work/all" >"$work/stdout"
    record "$code" "kubectl $(quoted "$@") | sort"
}

# Runs kubectl and records the lines that match a pattern.
k_grep() {
    local pattern=$1 code
    shift
    client "$@" >"$work/all" 2>"$work/stderr" </dev/null
    code=$?
    grep -E -- "$pattern" "$work/all" >"$work/stdout"
    record "$code" "kubectl $(quoted "$@") | grep -E $(quoted "$pattern")"
}

# Writes one block.
record() {
    {
        [ -z "$title" ] || printf '# %s\n' "$title"
        printf '$ %s\n' "$2"
        cat "$work/stdout"
        [ -z "$(tail -c 1 "$work/stdout")" ] || echo
        sed 's/^/2> /' "$work/stderr"
        printf '=> %s\n\n' "$1"
    } >&3
    title=""
}

# The arguments as one would type them.
quoted() {
    local argument line=""
    for argument in "$@"; do
        case $argument in
            *[!A-Za-z0-9_./:=,@%+-]* | "") argument="'$argument'" ;;
        esac
        line+="${line:+ }$argument"
    done
    printf '%s' "$line"
}

# Runs kubectl without recording it; the log tells when it fails.
quiet() {
    client "$@" </dev/null >"$work/quiet" 2>&1 || { echo "failed: kubectl $*"; cat "$work/quiet"; }
}

kubectl_ok() { client "$@" </dev/null >/dev/null 2>&1; }

# Whether kubectl prints exactly this text.
prints() {
    local wanted=$1
    shift
    [ "$(client "$@" </dev/null 2>/dev/null)" = "$wanted" ]
}

# Waits until a command succeeds, at most half a minute: what a controller does takes its time.
settle() {
    local what=$1 end=$((SECONDS + ${SETTLE_LIMIT:-120}))
    shift
    until "$@"; do
        if [ $SECONDS -ge $end ]; then
            echo "still waiting for $what: $*"
            return 1
        fi
        sleep 0.2
    done
}

# Runs kubectl and records the lines that do not match a pattern.
k_without() {
    local pattern=$1 code
    shift
    client "$@" >"$work/all" 2>"$work/stderr" </dev/null
    code=$?
    grep -vE -- "$pattern" "$work/all" >"$work/stdout"
    record "$code" "kubectl $(quoted "$@") | grep -vE $(quoted "$pattern")"
}

# Starts a watch and, unless only changes are asked for, waits for its first line.
watch_start() {
    watch_command="kubectl $(quoted "$@")"
    : >"$work/watch"
    timeout 90 "$kubectl" "$@" >"$work/watch" 2>"$work/watch-stderr" </dev/null &
    watch=$!
    case " $* " in *" --watch-only "*) return ;; esac
    settle "the watch" test -s "$work/watch"
}

# Waits until a watch has shown a line, ends it and records what it has shown. Lines that are the same are shown once:
# controllers may touch an object more than once.
watch_stop() {
    settle "the last line of the watch" grep -qE -- "$1" "$work/watch"
    kill "$watch" 2>/dev/null
    wait "$watch"
    uniq "$work/watch" >"$work/stdout"
    cp "$work/watch-stderr" "$work/stderr"
    record 0 "$watch_command"
}
