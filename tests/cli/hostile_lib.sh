# For tests of input and output that nobody gives in earnest: a folder of their own as the working directory, and judges of exit codes and messages. Sourced.
#
# Wants $FLASHLAB; $limit: seconds that a command may take, 10 if not set. `failures` counts what was wrong.
set -uo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-hostile.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
wrong() { printf 'WRONG: %s\n' "$*" >&2; failures=$((failures + 1)); }
code() { # code WANTED ARGUMENTS...
    local wanted=$1 got=0
    shift
    timeout "${limit:-10}" "$FLASHLAB" "$@" > out 2> err < /dev/null || got=$?
    [[ $got == "$wanted" ]] || wrong "exit code $got instead of $wanted: flashlab $*: $(head -n 2 err)"
    grep -Eq '\.(cpp|h):[0-9]+|defect of flashlab' err && wrong "a place in our sources: flashlab $*: $(cat err)"
}
says() { grep -q -- "$1" err || wrong "no '$1' in: $(head -n 1 err)"; }
