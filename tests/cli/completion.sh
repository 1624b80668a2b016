#!/usr/bin/env bash
# Completion and the manual page know every command and option of --help; the shells take what is written for them.
# completion.sh FOLDER: where the build has put the manual pages; they are looked at where they are.
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
made=${1:?usage: completion.sh FOLDER}
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-completion.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
wrong() { printf 'WRONG: %s\n' "$*"; failures=$((failures + 1)); }
for what in bash zsh fish man; do "$FLASHLAB" completion $what > "$work/$what" || wrong "completion $what"; done

# As bash asks: reply "WORDS..." gives what is offered for the last word.
# shellcheck disable=SC1091
source "$work/bash"
reply() {
    COMP_WORDS=(flashlab "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _flashlab
    printf '%s ' "${COMPREPLY[@]}"
}
offers() { # offers "EXPECTED WORDS" WORDS...
    local expected=$1 got word
    shift
    got=" $(reply "$@")"
    for word in $expected; do [[ $got == *" $word "* ]] || wrong "after 'flashlab $*' no $word in:$got"; done
}
offers "mkfs mount umount fsck sweep crash" ""
offers "mkfs mount" "m"
offers "--size --ftl --preset --help" mkfs --
offers "page_map dftl hftl coftl" mkfs dev --ftl ""
offers "tiny" bench --preset "t"
offers "explore torture selftest replay" crash ""
offers "--states" crash explore --
offers "--speed" replay --s
offers "plan run merge status" sweep ""
offers "--shard --jobs" sweep run --
offers "read randwrite" bench --rw ""
[[ -z $(reply mkfs "/" | tr -d ' ') ]] || wrong "a place is completed with options"
[[ " $(reply "")" != *" completion "* ]] || wrong "the hidden command is offered"

# Every option of every command.
commands() { sed -n '/^Subcommands:/,/^$/p' | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'; }
check() { # check COMMAND...
    local help option section
    help=$("$FLASHLAB" "$@" --help)
    section=$(awk -v begin="## flashlab${*:+ $*}" 'index($0 " ", begin " ") == 1 { on = 1; next } /^## / { on = 0 } on' "$work/man")
    for option in $(grep -oE '^  (-[A-Za-z],)?--[a-z][a-z-]*' <<< "$help" | tr ',' '\n'); do
        [[ " $(reply "$@" "$option")" == *" $option "* ]] || wrong "bash: flashlab $* $option"
        [[ $section == *"*$option*"* ]] || wrong "man: flashlab $* $option"
        grep -qF -e "'$option:" "$work/zsh" || wrong "zsh: flashlab $* $option"
    done
}
check
for command in $("$FLASHLAB" --help | commands); do
    inner=$("$FLASHLAB" "$command" --help | commands)
    if [[ -z $inner ]]; then check "$command"; fi
    for name in $inner; do check "$command" "$name"; done
done

if command -v zsh > /dev/null; then zsh -n "$work/zsh" || wrong "zsh does not take it"; fi
if command -v fish > /dev/null; then
    fish --no-execute "$work/fish" || wrong "fish does not take it"
    [[ $(fish -c "source $work/fish; complete -C 'flashlab sweep run --sh'") == --shard* ]] || wrong "fish: sweep run --sh"
fi
if [[ -e $made/flashlab.1 ]]; then
    grep -q 'fB--shard' "$made/flashlab.1" && grep -q 'SH FILES' "$made/flashlab.1" || wrong "the manual page lacks its options"
    for page in "$made"/*.[18]; do
        [[ $(head -c 3 "$page") != .so ]] || continue
        if command -v man > /dev/null; then [[ -z $(man --warnings -l "$page" 2>&1 > /dev/null) ]] || wrong "$page: $(man --warnings -l "$page" 2>&1 > /dev/null | head -n 1)"; fi
    done
fi
[[ $failures -eq 0 ]] || { echo "$failures wrong"; exit 1; }
