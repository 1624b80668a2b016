#!/usr/bin/env bash
# crash torture --check auto: small programs with a known mistake are found without a check, in every model that may take what they forgot; right ones
# pass; what is kept shows the same again.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 512
export TMPDIR=$work
expect() { # CODE arguments...
    local want=$1 code=0
    shift
    "$FLASHLAB" crash torture --check auto --size 64M --keep "$work" --states 80 --json "$@" > "$work/out" 2> "$work/err" || code=$?
    [[ $code -eq $want ]] || die "auto $*: $code instead of $want: $(cat "$work/err" "$work/out")"
}
says() { grep -q -- "$1" "$work/err" || die "it does not say '$1': $(cat "$work/err")"; }

# Each tells what it has done, and reads at its start what it left.
replace='[ ! -e n ] || n=$(cat n); [ ! -e n ] || [ -n "$n" ] || { echo "n is empty" >&2; exit 3; }
    for i in 1 2 3 4; do echo $i > n.new && $data n.new && mv n.new n && $name . && echo "stored $i" || exit 9; done'
append='[ ! -e log ] || { sed -n "/^row .*;$/p" log > log.new; sync log.new; mv log.new log; sync .; }
    for i in 1 2 3 4; do echo "row $i;" >> log; $data log && $name . && echo "stored $i"; done'
rows='grep -ax "row .*;" log; :' # a torn one at the end is none
pair='for i in 1 2 3 4; do echo $i > a.new; sync a.new; mv a.new a; $name .; echo $i > b.new; sync b.new; mv b.new b; $name .; done'
for model in strict ext4 xfs btrfs posix; do
    say "--- $model: a program that is right"
    expect 0 --persistence $model -- env data=sync name=sync sh -c "$replace"
    expect 0 --persistence $model --probe "$rows" -- env data=sync name=sync sh -c "$append"
    expect 0 --persistence $model --probe 'cat a b' --setup 'echo 0 > a; echo 0 > b' -- env name=sync sh -c "$pair"
    say "--- $model: a rename without fsync, an append without fsync, two files without an order"
    expect 1 --persistence $model -- env data=: name=sync sh -c "$replace"
    says 'its next start ended with 3; last line of standard error: n is empty'
    says 'fix: fsync(n.new) before'
    expect 1 --persistence $model --probe "$rows" -- env data=: name=: sh -c "$append"
    says 'fix: fsync(log)'
    [[ $model == strict ]] && want=0 || want=1
    expect $want --persistence $model -- env data=sync name=: sh -c "$replace"
    [[ $want -eq 0 ]] || says 'had been promised'
    [[ $model == posix ]] && want=1 || want=0 # the others keep names in order
    expect $want --persistence $model --probe 'cat a b' --setup 'echo 0 > a; echo 0 > b' -- env name=: sh -c "$pair"
done
say "--- the replay, of a start and of a question; a mended program passes it"
for probe in '' 'cat n'; do
    rm -rf "$work"/flashlab-state-*
    expect 1 --persistence posix ${probe:+--probe "$probe"} -- env data=: name=sync sh -c "$replace"
    line=$(grep -o 'flashlab crash torture --replay .*' "$work/err" | head -n 1) || die "no replay line: $(cat "$work/err")"
    code=0
    (eval "\"\$FLASHLAB\" ${line#flashlab }") > "$work/again" || code=$?
    [[ $code -eq 1 ]] && grep -q 'holds *false' "$work/again" || die "the replay must fail, too: $code, $(cat "$work/again")"
    (eval "\"\$FLASHLAB\" ${line#flashlab } --check true") > "$work/again" || die "the replay of a check: $(cat "$work/again")"
done
kept=$(dirname "$(find "$work"/flashlab-state-* -name acks -size +0 | head -n 1)")
tail -n 1 "$kept/acks" | sed 's/stored //' > "$kept/tree/n" # as if it had not been lost
"$FLASHLAB" crash torture --replay "$kept" > "$work/again" || die "a state that is mended must hold: $(cat "$work/again")"
say "--- what is told, and what differs each time"
expect 0 --persistence posix --probe 'date +%s%N; cat n; :' --report "$work/cert.junit.xml" -- env data=sync name=sync sh -c "$replace"
says 'not the same each time: standard output'
grep -q '"own_history":{"probe":"date' "$work/out" && grep -q "what the program's answer does not show" "$work/out" || die "the report lacks its keys: $(cat "$work/out")"
expect 0 --persistence posix --probe 'echo same' -- env data=: name=: sh -c "$replace"
grep -q 'it answers the same at each moment' "$work/out" || die "a question without an answer is not told: $(cat "$work/out")"
say "--- what cannot be"
expect 2 --probe 'false' -- touch x
says 'name a question with --probe'
expect 2 --timeout 0.3 --probe 'sleep 100' -- touch x
expect 2 -- sh -c 'touch x; exit 7'
[[ -z $(find "$work" -name 'flashlab-torture*') ]] || die "a temporary folder is left"
say "ok: explore_auto"
