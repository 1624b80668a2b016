#!/usr/bin/env bash
# crash torture --explore under programs and checks that nobody writes in earnest: the certificate stays valid and says what is so, in all four forms.
# With `full`: a program that writes 100,000 files. SARIF_SCHEMA and JUNIT_SCHEMA name schemas to judge by, where they are at hand.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
begin 512
command -v perl > /dev/null && python3 -c 'import json' 2> /dev/null || { say "skipped: no perl or python3"; exit 77; }
export TMPDIR=$work
place=$work/certificate
for end in json html junit.xml sarif; do reports+=(--report "$place/certificate.$end"); done
explore() { # CODE arguments...
    local want=$1 code=0
    shift
    rm -rf "$place" && mkdir "$place"
    "$FLASHLAB" crash torture --explore --size "${size:-64M}" --persistence posix --states 40 --jobs 1 --keep "$place" "${reports[@]}" "$@" > "$work/out" 2> "$work/err" || code=$?
    [[ $code -eq $want ]] || die "explore $*: $code instead of $want: $(head -c 2000 "$work/err")"
}
judged() { python3 "$here/../support/certificate_forms.py" "$place" "$1" || die "the certificate"; }
loses='[ ! -e x ] || [ -s x ]'
writes='echo 1 > x'

say "--- names with quotes, marks of HTML, line feeds, bytes that are no UTF-8"
explore 1 --check 'for f in a*b; do [ ! -e "$f" ] || [ -s "$f" ] || exit 1; done' -- perl -e '$n = "a<&>\"\x27 \n\xff`]]>b";
    open F, ">", "$n.t"; print F "x"; close F; rename "$n.t", $n; open F, ">", "<script>alert(1)<script>\xc3("; print F 1'
judged 1
grep -qF '"a<&>\"'"'"' \n\xff`]]>b.t"' "$work/err" || die "the name is not told in one line: $(cat "$work/err")"
say "--- a check that prints megabytes: in one line, in many, without end, what a terminal obeys"
explore 1 --check "$loses"' || { head -c 30000000 /dev/zero | tr "\0" y; exit 1; }' -- sh -c "$writes"
judged 1
[[ $(stat -c %s "$place/certificate.html") -lt 20000 ]] || die "the certificate has all that the check printed: $(stat -c %s "$place"/certificate.*)"
explore 1 --check "$loses"' || { yes "<b>&" | head -c 30000000; exit 1; }' -- sh -c "$writes"
judged 1
(ulimit -f 4000000 && explore 1 --timeout 1 --check "$loses || yes" -- sh -c "$writes") || die "a check that prints without end"
judged 1
grep -q 'it took longer than 1 s' "$work/err" || die "the limit is not told: $(cat "$work/err")"
explore 1 --check "$loses"' || { printf "\033[31mred\001\000\377]]>\n"; exit 1; }' -- sh -c "$writes"
judged 1
say "--- a check that says this and then that"
once=$work/once
explore 1 --check "$loses || [ -e $once ] || { touch $once; exit 1; }" -- sh -c "$writes"
judged 0
grep -q 'not repeatable: the check failed, and passed' "$work/err" || die "it is not told: $(cat "$work/err")"
say "--- a program whose name is no URI, behind a shell"
printf '#!/bin/sh\n%s\n' "$writes" > "$work/my <prog>&%.sh" && chmod +x "$work/my <prog>&%.sh"
(cd "$work" && explore 1 --app-version 'v1 <&>' --check "$loses" -- sh -c "'$work/my <prog>&%.sh'") || die "a program behind a shell"
judged 1
grep -q 'my%20%3Cprog%3E%26%25.sh' "$place/certificate.sarif" || die "its place is not told: $(cat "$place/certificate.sarif")"
grep -q "$(sha256sum < "$work/my <prog>&%.sh" | cut -d ' ' -f 1)" "$place/certificate.html" || die "its hash is not told"
say "--- a command that changes nothing, one that is killed, one that leaves a process behind"
explore 2 --check true -- true
grep -q 'changed nothing' "$work/err" || die "nothing to cut: $(cat "$work/err")"
explore 2 --check true -- sh -c "$writes; kill -9 \$\$"
grep -q '137 (Killed)' "$work/err" || die "the signal is not told: $(cat "$work/err")"
[[ -z $(ls "$place") ]] || die "a certificate of a run that was none: $(ls "$place")"
explore 0 --check true -- sh -c "$writes; setsid sleep 4 > y & sleep 0.3"
grep -q 'still has files of it open' "$work/err" || die "who is waited for is not told: $(cat "$work/err")"
judged 0
if [[ -n ${full-} ]]; then
    say "--- 100,000 files"
    size=256M explore 0 --check '[ "$(ls | wc -l)" -ge 0 ]' -- perl -e 'for (1 .. 100000) { open F, ">", "f$_" or die; print F $_; close F }'
    judged 0
    say "$(grep wall_cpu_seconds "$work/out")"
fi
say "ok: hostile programs and checks"
