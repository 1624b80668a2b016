#!/usr/bin/env bash
# One DRAM for write buffer and maps under a mount: each decision is a row with what either side would gain, and `ctl stats` tells the shares while it runs.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

ask() { "$FLASHLAB" query "$device" "$1" --csv | tail -n 1; }
stat_of() { sed -n "s/.*\"$1\":[[:space:]]*\"\{0,1\}\([^,}\"]*\).*/\1/p" "$work/stats"; }

# Sets decisions, map, buffer. The budget holds whatever was decided.
look() {
    "$FLASHLAB" ctl "$mnt" stats --json | tr ',' '\n' > "$work/stats" || die "ctl stats"
    decisions=$(stat_of dram_decisions) map=$(stat_of dram_map_bytes) buffer=$(stat_of dram_buffer_bytes)
    local ghosts
    ghosts=$(stat_of dram_ghost_metadata_bytes)
    say "$1: $decisions decisions; of $(stat_of dram_bytes) bytes $map for maps, $buffer for the buffer, $ghosts for the ghosts' records"
    [[ $(stat_of dram_bytes) -eq $((16 << 20)) && $(stat_of dram_partition) == "$2" ]] || die "stats tell another DRAM"
    ((map > 0 && buffer > 0 && map + buffer + ghosts <= 16 << 20)) || die "more is shared out than there is"
}

# Few pages get most requests, so that either ghost has something to hit; they go to the drive one by one.
load() {
    (cd "$work" && fio --name=mixed --directory="$mnt" --size=192m --io_size=96m --bs=4k --rw=randrw --rwmixread=30 --random_distribution=zipf:1.1 --ioengine=psync --direct=1 \
        --fsync=256 --randseed="$1" --output="$work/fio.log") || { cat "$work/fio.log"; die "fio"; }
}

command -v fio > /dev/null || skip "fio is not installed"
begin 1024
make_device --size 4G --ftl dftl --set dram.size=16MiB --set dram.tune_interval=200
say "--- by ghosts: a key of the mount"
mount_device --set dram.partition=ghost
look "at the start" ghost
((decisions == 0 && map > 7 << 20 && map <= 8 << 20)) || die "it does not begin at one half"
at_start=$map
load 1
"$FLASHLAB" ctl "$mnt" flush || die "ctl flush"
look "after the load" ghost
((decisions >= 10)) || die "hardly a decision"
((map != at_start)) || die "nothing moved"
say "--- the log, while mounted"
"$FLASHLAB" query "$device" "SELECT t_s, buffer_benefit, map_benefit, to_map_bytes, map_bytes, buffer_bytes FROM v_partition LIMIT 5" --table || die "v_partition"
[[ $(ask "SELECT count(*) FROM v_partition") -eq $decisions ]] || die "rows and decisions differ in number"
[[ $(ask "SELECT map_bytes || ' ' || buffer_bytes FROM v_partition LIMIT 1") == "$map $buffer" ]] || die "the last row is not what stats tell"
[[ $(ask "SELECT count(*) FROM v_partition WHERE buffer_benefit > 0 AND map_benefit > 0") -gt 0 ]] || die "no decision weighs both sides"
[[ $(ask "SELECT count(*) FROM v_partition WHERE (to_map_bytes > 0 AND map_benefit <= buffer_benefit) OR (to_map_bytes < 0 AND map_benefit >= buffer_benefit)") -eq 0 ]] ||
    die "the poorer side grew"
[[ $(ask "SELECT $at_start + sum(to_map_bytes) FROM v_partition") -eq $map ]] || die "what moved does not lead to the share"
unmount_device
say "--- by curves, which leave the share where any serves the load alike"
mount_device
look "at the start" curve
((decisions == 0 && map > 7 << 20 && map < 9 << 20)) || die "it does not begin at one half"
load 2
look "after the load" curve
((decisions >= 10)) || die "hardly a decision"
unmount_device
say "--- once and for all: a key of the mount"
mount_device --set dram.partition=static --set dram.map_share_permille=250
look "static" static
((decisions == 0 && map <= 4 << 20)) || die "not a quarter"
unmount_device
check_device
say "ok: dram_partition"
