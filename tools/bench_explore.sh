#!/usr/bin/env bash
# How many states does crash torture --explore check? With a check that takes nothing, one process for all states (--check-serves); and with checks that
# take nothing, 1 ms and 10 ms of processor time, each in a process of its own, one round after another. Printed are states a second and a minute of one
# core's processor time (of the exploration and its checks together; what else the machine does is not in it), and a minute as the clock has it, on all
# cores; the median over the rounds.
#
#   bash tools/bench_explore.sh [--rounds N] [--states N]     defaults: 3 rounds, 2000 states (a fifth of them for 10 ms)
#   BUILD=build/release bash tools/bench_explore.sh           another build
#
# Targets: 4000 a second of a core where no process is started; 200 with a check of 1 ms; thousands a minute with one of 10 ms. It wants
# a C compiler for the check, and /dev/fuse.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "${BUILD:-build/release}" && pwd)
rounds=3 states=2000
while (($#)); do
    case $1 in
    --rounds) rounds=$2 ;;
    --states) states=$2 ;;
    *) echo "bench_explore: unknown option $1; see the head of this script" >&2 && exit 2 ;;
    esac
    shift 2
done
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-bench-explore.XXXXXX")
trap 'rm -rf "$work"' EXIT
# Reads what is there, and is busy until its process has had so many microseconds beyond its own start.
cat > "$work/check.c" << 'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static long used(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
static void look(void) {
    FILE* file = fopen("log", "r");
    while (file && getc(file) != EOF) {}
    if (file) fclose(file);
}
int main(int argc, char** argv) {
    char line[64];
    if (argc > 1 && strcmp(argv[1], "serves") == 0) {
        while (fgets(line, sizeof line, stdin)) look(), puts("ok"), fflush(stdout);
        return 0;
    }
    const long until = used() + (argc > 1 ? atol(argv[1]) : 0);
    look();
    while (used() < until) {}
    return 0;
}
END
cc -O2 -static -o "$work/check" "$work/check.c" 2> /dev/null || cc -O2 -o "$work/check" "$work/check.c"
# A store: a log that grows, and a file that is replaced now and then, with its syncs.
writer='i=0; while [ $i -lt 60 ]; do i=$((i + 1)); echo "entry $i of a log that grows by and by" >> log
    [ $((i % 5)) -ne 0 ] || { echo $i > state.new && sync state.new && mv state.new state && sync . && echo $i >&$FLASHLAB_ACK_FD; }; done'
median() { sort -n | awk '{ v[NR] = $1 } END { printf "%.0f", v[int((NR + 1) / 2)] }'; }
value() { sed -n "s/.*\"$1\":\([0-9.e+]*\).*/\1/p" "$work/out"; }
printf '%8s %8s %18s %18s %22s %14s\n' check states "a second of CPU" "a minute of CPU" "a minute, $(nproc) cores" "CPU a state"
for check_us in serves 0 1000 10000; do
    tried=$states name="${check_us%000} ms" stays=()
    [[ $check_us != 10000 ]] || tried=$((states / 5))
    [[ $check_us != serves ]] || name=$check_us stays=(--check-serves)
    : > "$work/cpu"
    : > "$work/wall"
    for ((round = 0; round < rounds; ++round)); do
        "$build/flashlab" crash torture --explore --size 64M --persistence posix --states "$tried" --json --keep "$work" \
            "${stays[@]}" --check "$work/check $check_us" -- sh -c "$writer" > "$work/out"
        [[ $(value states_tried) -eq $tried ]] || { echo "bench_explore: only $(value states_tried) states are there" >&2 && exit 1; }
        value wall_states_per_cpu_second >> "$work/cpu"
        value wall_states_per_second | awk '{ print $1 * 60 }' >> "$work/wall"
    done
    a_second=$(median < "$work/cpu")
    awk -v name="$name" -v n="$tried" -v s="$a_second" -v m="$(median < "$work/wall")" \
        'BEGIN { printf "%8s %8d %18d %18d %22d %11.2f ms\n", name, n, s, 60 * s, m, 1000 / s }'
done
