#!/usr/bin/env bash
# How fast is the mount? The same loads on FlashLab (images on tmpfs, latency off, log none), on a plain libfuse pass-through over tmpfs, and on tmpfs itself,
# one after the other in one run; prints what each reached and FlashLab's ratio to the others. Only ratios of one run mean something.
#
#   bash tools/bench_mount.sh [--seconds N]        default 4 seconds for each fio load
#   BUILD=build/release bash tools/bench_mount.sh  another build
#
# The pass-through is libfuse's own example, compiled from Debian's documentation of libfuse3-dev into a temporary directory; without it its column is empty.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "${BUILD:-build/release}" && pwd)
seconds=4
if [[ ${1-} == --seconds ]]; then seconds=$2; fi

work=$(mktemp -d /dev/shm/flashlab-bench.XXXXXX)
mkdir "$work"/{flashlab,passthrough,tmpfs,backing}
finish() {
    fusermount3 -u "$work/flashlab" 2> /dev/null || fusermount3 -u -z "$work/flashlab" 2> /dev/null || true
    fusermount3 -u "$work/passthrough" 2> /dev/null || true
    sleep 0.5
    rm -rf --one-file-system "$work"
}
trap finish EXIT

places=(flashlab)
"$build/flashlab" mkfs "$work/device" > /dev/null
"$build/flashlab" mount "$work/device" "$work/flashlab" --log none

start_pass_through() {
    local source=/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c
    [[ -f $source || -f $source.gz ]] || return 1
    cp "$(dirname "$source")"/passthrough_helpers.h* "$work/" 2> /dev/null || true
    cp "$source"* "$work/"
    gunzip -f "$work"/*.gz 2> /dev/null || true
    # shellcheck disable=SC2046 # flags
    cc -O2 -DHAVE_FUTIMENS=1 "$work/passthrough_ll.c" -o "$work/passthrough_ll" $(pkg-config --cflags --libs fuse3) 2> "$work/cc.log" || return 1
    "$work/passthrough_ll" -o "source=$work/backing" -o xattr -o cache=auto "$work/passthrough"
}
if start_pass_through; then places+=(passthrough); else echo "no pass-through here (libfuse3-dev's example passthrough_ll.c is missing or does not compile)"; fi
places+=(tmpfs)

declare -A result
measure_fio() { # NAME UNIT-KEY(iops|bw) fio options...
    local name=$1 key=$2 place field=8
    shift 2
    [[ $name == *write* ]] && field=49
    [[ $key == bw ]] && field=$((field - 1))
    for place in "${places[@]}"; do
        result[$name,$place]=$(fio --name=bench --directory="$work/$place" --size=256m --ioengine=psync --runtime="$seconds" --time_based --minimal "$@" \
            2> /dev/null | awk -F';' -v f="$field" 'NR == 1 { printf "%d", $f }') || result[$name,$place]=0
    done
    names+=("$name")
}
measure_seconds() { # NAME COUNT function PLACE: a rate
    local name=$1 count=$2 work_of=$3 place start end
    for place in "${places[@]}"; do
        start=$(date +%s%N)
        "$work_of" "$work/$place"
        end=$(date +%s%N)
        result[$name,$place]=$((count * 1000000000 / (end - start + 1)))
    done
    names+=("$name")
}
measure_many_files() {
    local place line what
    for place in "${places[@]}"; do
        mkdir "$work/$place/many"
        while read -r line; do
            what=$(awk '{ print $2 }' <<< "$line")
            result["$what of 10000 /s",$place]=$(sed 's/.*, \([0-9]*\)\/s$/\1/' <<< "$line")
        done < <("$build/live/many_files" "$work/$place/many" 10000)
    done
    for what in create list stat remove; do names+=("$what of 10000 /s"); done
}
clone_it() { git -c safe.directory='*' clone -q "file://$work/source.git" "$1/clone" && rm -rf "$1/clone"; }

names=()
direct=1
fio --name=probe --directory="$work/tmpfs" --size=4k --direct=1 --rw=write > /dev/null 2>&1 || direct=0
measure_fio "4 KiB random write IOPS" iops --rw=randwrite --bs=4k
measure_fio "4 KiB random read IOPS" iops --rw=randread --bs=4k --direct=$direct
measure_fio "4 KiB random write IOPS, 4 jobs" iops --rw=randwrite --bs=4k --numjobs=4 --group_reporting --size=64m
measure_fio "4 KiB random read IOPS, 4 jobs" iops --rw=randread --bs=4k --numjobs=4 --group_reporting --size=64m --direct=$direct
measure_fio "1 MiB sequential write KiB/s" bw --rw=write --bs=1m
measure_fio "1 MiB sequential read KiB/s" bw --rw=read --bs=1m --direct=$direct
measure_fio "4 KiB write + fsync IOPS" iops --rw=randwrite --bs=4k --fsync=1
measure_many_files
if git -c safe.directory='*' clone -q --bare . "$work/source.git" 2> /dev/null; then
    files=$(git -c safe.directory='*' ls-files | wc -l)
    measure_seconds "clone and remove, files/s" "$files" clone_it
fi

printf '\n%-34s %12s %12s %12s %14s %10s\n' load flashlab pass-through tmpfs 'to pass-thr.' 'to tmpfs'
for name in "${names[@]}"; do
    awk -v name="$name" -v ours="${result[$name,flashlab]:-0}" -v pass="${result[$name,passthrough]:-0}" -v memory="${result[$name,tmpfs]:-0}" 'BEGIN {
        printf "%-34s %12d %12s %12d %14s %10s\n", name, ours, pass ? pass : "-", memory, pass ? sprintf("%.2f", ours / pass) : "-", memory ? sprintf("%.3f", ours / memory) : "-"
    }'
done
