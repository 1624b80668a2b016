#!/usr/bin/env bash
# power_cut.sh LOAD HOW SEEDS [mount options]: an application and acknowledged_writer run; at a random moment of the first seconds the power goes (HOW: kill, powercut). Then:
# mounted again within the limit, fsck clean, every acknowledged record there, and what the application itself was promised.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
# shellcheck source=tests/live/loads.sh
source "$here/loads.sh"
load=$1
how=$2
seeds=$3
shift 3
options=("$@")
slowest_ms=0

# It was cut off: whatever it says is right. Some never say anything: git fsck reads a directory again after every error.
end_application() { # GROUP
    for _ in $(seq 100); do
        kill -0 "$1" 2> /dev/null || break
        sleep 0.1
    done
    kill -KILL -- -"$1" 2> /dev/null || true
    wait "$1" 2> /dev/null || true
}

one_cut() { # SEED
    local seed=$1 delay writer application
    RANDOM=$seed
    delay=$(printf '%d.%03d' $((RANDOM % $(scaled 2 10))) $((RANDOM % 1000)))
    say "--- $load, $how, seed $seed: power goes after $delay s"
    rm -rf "$device"
    make_device --size "$(load_size "$load")"
    mount_device "${options[@]}"
    mkdir "$mnt/writer" "$mnt/load"
    "$FLASHLAB_LIVE_BIN/acknowledged_writer" "$mnt/writer" "$work/acknowledged" "$seed" > "$work/writer.log" 2>&1 &
    writer=$!
    rm -f "$work"/sqlite-ack*
    set -m # a process group of its own
    (endless=1 "load_$load" "$mnt/load") > "$work/load.log" 2>&1 &
    application=$!
    set +m

    sleep "$delay"
    cut_power "$how" "$seed"
    wait "$writer" || { cat "$work/writer.log"; die "acknowledged_writer"; }
    end_application "$application"

    recover_device
    ((mount_ms <= slowest_ms)) || slowest_ms=$mount_ms
    "$FLASHLAB_LIVE_BIN/acknowledged_check" "$mnt/writer" "$work/acknowledged" "$seed" "${FLASHLAB_LIVE_METADATA:-pram}" || die "something acknowledged is lost (seed $seed)"
    if [[ $load == sqlite_* ]] && ! grep -q . "$work"/sqlite-ack1 "$work"/sqlite-ack2 2>/dev/null; then
        say "the cut came before the first row"
    elif declare -F "verify_$load" > /dev/null; then
        "verify_$load" "$mnt/load" cut || die "$load after the cut (seed $seed)"
    fi
    unmount_device
    check_device
}

begin 2048
if [[ $load == git ]]; then source_repository; elif [[ $load == tar ]]; then sample_tree; fi
for seed in $(seq 1 "$seeds"); do one_cut "$seed"; done
say "ok: $seeds cuts under $load${options[*]:+ ${options[*]}} by $how, slowest recovery and mount $slowest_ms ms, write amplification of the last $("$FLASHLAB" smart "$device" --json | sed -n 's/.*"waf":\([^,}]*\).*/\1/p')"
