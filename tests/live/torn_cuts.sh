#!/usr/bin/env bash
# Live cuts at latency off tear: under each load most cuts leave at least one operation neither as before nor complete, and what they struck is told.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/live/loads.sh
source "$here/loads.sh"

field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,}\"]*\).*/\1/p" "$work/cut.json"; }
load_small() { # an fsync each
    local i=0
    while true; do
        i=$((i + 1))
        { echo $i > n.new && sync n.new && mv n.new n; } 2> /dev/null || return 0
    done
}
load_cached() { while cp -r /usr/include/linux copy 2> /dev/null && rm -rf copy 2> /dev/null; do :; done; }
load_sqlite() {
    local i=0
    sqlite3 db 'PRAGMA journal_mode=WAL; CREATE TABLE t(x)' > /dev/null 2>&1 || return 0
    while true; do
        i=$((i + 1))
        sqlite3 db "INSERT INTO t VALUES($i)" 2> /dev/null || return 0
    done
}

begin 1024
loads="small cached"
command -v sqlite3 > /dev/null && loads+=" sqlite"
cuts=$(scaled 4 34)
total=0 tore=0
for load in $loads; do
    make_device --size 128M --ftl hftl # no capacitors that finish what is under way
    for seed in $(seq "$cuts"); do
        "$FLASHLAB" mount "$device" "$mnt" || die "mount"
        mkdir -p "$mnt/load"
        set -m
        (cd "$mnt/load" && rm -rf db* && "load_$load") &
        application=$!
        set +m
        sleep "0.$((30 + seed % 40))"
        "$FLASHLAB" ctl "$mnt" powercut --seed "$seed" --json > "$work/cut.json" || die "powercut"
        for _ in $(seq 50); do kill -0 $application 2> /dev/null || break; sleep 0.05; done
        kill -KILL -- -$application 2> /dev/null || true
        wait $application 2> /dev/null || true
        total=$((total + 1))
        [[ $(field operations_torn) -eq 0 ]] || tore=$((tore + 1))
        "$FLASHLAB" fsck -n "$device" > "$work/fsck.log" 2>&1 || { cat "$work/fsck.log"; die "fsck after a cut under $load, seed $seed"; }
    done
    say "$load: so far $tore of $total cuts tore at least one operation"
    rm -rf "$device"
done
((2 * tore >= total)) || die "only $tore of $total cuts tore an operation"

say "--- what a cut strikes can be chosen, and is told"
make_device --size 64M --ftl hftl
for at in work idle flush erase gc recovery; do
    "$FLASHLAB" mount "$device" "$mnt" || die "mount"
    head -c 2M /dev/urandom > "$mnt/f" && echo more >> "$mnt/f"
    "$FLASHLAB" ctl "$mnt" powercut --at $at --seed 3 --json > "$work/cut.json" 2> "$work/err" || die "powercut --at $at"
    [[ $(field asked) == "$at" ]] || die "the answer does not say what was asked for"
    say "$at: struck $(field struck), $(cat "$work/cut.json")"
    case $at in
        idle) [[ $(field struck) == idle && $(field operations_interrupted) -eq 0 ]] || die "an idle cut met something" ;;
        work | flush) [[ $(field struck) == "$at" && $(field operations_interrupted) -ge 1 ]] || die "--at $at met nothing" ;;
        gc | erase) # nothing was overwritten, so there is no collection: what is struck instead is said
            [[ $at == erase || $(field struck) != gc ]] || die "--at gc: the drive has collected nothing, yet the cut says that it struck a collection"
            [[ $(field struck) == "$at" ]] || grep -Eq "^flashlab: warning: ctl powercut --at $at: .*so the power failed during" "$work/err" || die "--at $at: struck $(field struck), and not a word: $(cat "$work/err")" ;;
        recovery) grep -q '"recovery":{' "$work/cut.json" || die "the recovery was not cut" ;;
    esac
    "$FLASHLAB" fsck -n "$device" > "$work/fsck.log" 2>&1 || { cat "$work/fsck.log"; die "fsck after --at $at"; }
done
say "--- collections and erases are struck where a load brings them; the log says the same"
load_overwrites() { # of a file that fills most of the drive, at random places, each synced
    while dd if=/dev/urandom of=full bs=64k seek=$((RANDOM % pieces)) count=1 conv=notrunc,fsync 2> /dev/null; do :; done
}
cut_under_load() {
    "$FLASHLAB" mount "$device" "$mnt" --log all || die "mount"
    (cd "$mnt" && load_overwrites) &
    application=$!
    sleep 0.2
    "$FLASHLAB" ctl "$mnt" powercut --at $at --seed "$seed" --json > "$work/cut.json" 2> "$work/err" || die "powercut --at $at: $(cat "$work/err")"
    wait $application 2> /dev/null || true
}
rm -rf "$device"
make_device --size 64M --ftl hftl
mount_device
pieces=$(($(stat -f -c '%b * %S / 65536 * 85 / 100' "$mnt")))
head -c $((pieces * 65536)) /dev/urandom > "$mnt/full"
for _ in $(seq 200); do dd if=/dev/urandom of="$mnt/full" bs=64k seek=$((RANDOM % pieces)) count=1 conv=notrunc,fsync 2> /dev/null; done
unmount_device
for at in gc erase; do
    for seed in $(seq "$(scaled 2 20)"); do
        for try in 1 2 3 4 5 6 7 8; do # on a machine that is busy nothing need be in flight at the instant
            cut_under_load
            [[ $(field struck) == "$at" ]] && break
            [[ $try -lt 8 ]] || die "--at $at under overwrites met none in $try tries: $(cat "$work/cut.json")"
        done
        [[ $(field operations_interrupted) -ge 1 ]] || die "--at $at interrupted nothing: $(cat "$work/cut.json")"
        under_way="n.ts_ns < $(field at_ns) AND n.ts_ns + n.dur_ns > $(field at_ns)"
        what="c.name IN ('gc', 'merge')"
        [[ $at == gc ]] || what="o.name = 'erase'"
        met=$("$FLASHLAB" query "$device" "SELECT count(*) FROM nand_op n JOIN nand_op_name o USING(op) JOIN cause_name c USING(cause) WHERE $what AND $under_way" --csv | tail -n 1)
        [[ $met -ge 1 ]] || die "--at $at, seed $seed: the log has none under way at $(field at_ns)"
        if [[ $at == erase ]]; then
            drawn=$("$FLASHLAB" query "$device" "SELECT sum(operations) FROM cut_outcome x JOIN cut_outcome_name o USING(outcome) WHERE o.name LIKE 'E%' AND x.ts_ns = $(field at_ns)" --csv | tail -n 1)
            [[ $drawn -ge 1 ]] || die "seed $seed: the log has no outcome of an erase"
        fi
        "$FLASHLAB" fsck -n "$device" > "$work/fsck.log" 2>&1 || { cat "$work/fsck.log"; die "fsck after --at $at, seed $seed"; }
    done
    say "$at: each cut met one; the last: $(cat "$work/cut.json")"
done
drawn=$("$FLASHLAB" query "$device" "SELECT sum(operations) FROM cut_outcome" --csv | tail -n 1)
[[ $drawn -ge 2 ]] || die "the log does not tell the outcomes"
code=0
"$FLASHLAB" mount "$device" "$mnt" && "$FLASHLAB" ctl "$mnt" powercut --at nowhere 2> "$work/err" || code=$?
[[ $code -eq 2 ]] && grep -q 'allowed: work' "$work/err" || die "--at nowhere: $code"
"$FLASHLAB" umount "$mnt"
say "ok: $tore of $total live cuts at latency off tore at least one operation"
