#!/usr/bin/env bash
# Goal: input that no one in their right mind gives is refused at once, with the exit code of wrong usage and a message that fits; nothing is silently replaced.
# Method: the binary itself, each case within ten seconds.
# shellcheck source=tests/cli/hostile_lib.sh
source "$(dirname "$0")/hostile_lib.sh"

printf '0,100,8192,W,0.1\n0,200,4096,R,0.2\n' > two.spc
"$FLASHLAB" mkfs dev --size 64M -q 2> err || wrong "mkfs: $(cat err)"

# A trace is opened once: FIFOs and process substitutions are read like files, an empty one ends.
mkfifo trace.fifo report.fifo
(timeout 10 cat two.spc > trace.fifo &)
code 0 trace trace.fifo
grep -q '^requests  *2$' out || wrong "a trace from a FIFO: $(cat out)"
(timeout 10 cat two.spc > trace.fifo &)
code 0 replay trace.fifo --size 64M
(timeout 10 cat /dev/null > trace.fifo &)
code 1 trace trace.fifo
says 'is empty'
code 2 reproduce co-fig7 --quick --trace financial="$work/trace.fifo"

# What is no regular file is refused, never waited for, and never read without end.
code 1 compare /dev/zero /dev/zero
says 'is a device, no regular file'
code 1 compare report.fifo report.fifo
says 'is a FIFO'
code 1 compare "$work" "$work"
says 'is a directory'
for name in nand.img pram.img device.toml; do
    mv "dev/$name" kept
    for kind in fifo directory device; do
        case $kind in
            fifo) mkfifo "dev/$name" ;;
            directory) mkdir "dev/$name" ;;
            device) ln -s /dev/zero "dev/$name" ;;
        esac
        code 8 fsck -n dev
        code 1 info dev
        code 1 smart dev
        code 1 clone dev copy
        code 1 snapshot dev one
        [[ -d "dev/$name" && ! -L "dev/$name" ]] && rmdir "dev/$name" || rm -f "dev/$name"
    done
    mv kept "dev/$name"
done
mkfifo dev/events.db
code 1 query dev "SELECT 1"
says 'is a FIFO'
rm dev/events.db
code 1 bench --size 64M --io-size 64K --events report.fifo
code 2 mkfs x -n --config report.fifo
code 0 fsck dev

# Numbers that are none, do not fit, or are missing; names that are empty.
huge=1000000000000000000000000000000
code 2 mkfs x -n --seed $huge
says 'too large'
code 2 mkfs x -n --seed ''
code 2 mkfs x -n --preset ''
code 2 mkfs ''
code 2 mkfs x -n --size 1000T
code 2 bench --seed $huge
code 2 replay two.spc --limit 10000000000000000000000
code 2 replay two.spc --skip ''
code 2 snapshot dev ''
code 2 clone dev ''
code 2 crash explore --states -1
says 'is negative'
code 2 crash explore --states 0
says 'at least 1'
code 2 crash explore --in-a-row 0
code 2 crash explore --seed -1
code 2 crash selftest --states -1
code 2 crash replay 'hftl:chip-slc:w0x3.f.w1'
says 'names no cut'
code 2 crash torture --within nan -- true
code 2 crash torture --within inf -- true
code 2 crash torture --seed $huge -- true
code 2 crash torture --ftl nope -- true
code 2 crash torture --metadata nope -- true
code 2 crash torture --size 1K -- true
code 2 crash torture --latency nope -- true
code 2 crash torture --device nope -- true
code 2 crash torture --replay nope
code 2 mount dev . -o =
code 2 mount dev . -o =1
code 2 mount dev . -o threads=x
says 'from 0 to 64'
code 2 mount dev . -o fd
grep -q 'did you mean' err && wrong "-o fd: $(cat err)"
mkdir dev/inside
code 2 mount dev dev/inside
says "device's own folder"
rmdir dev/inside
code 2 mount dev dev
code 2 mount dev .
says 'would hide'

# More than the host has.
code 2 mkfs x -n --ftl hftl --set dram.size=1T
code 2 bench --io-size 1M --ftl hftl --set dram.size=1T
says 'of memory'
(ulimit -v 400000 && code 2 bench --size 2T --io-size 64K; exit "$failures") || wrong "bench beyond ulimit -v"

# What was asked for explicitly is kept, or refused with the reason.
code 0 mkfs x -n --size 64M --set nand.channels=2 --csv
grep -q '^channels,2$' out || wrong "nand.channels=2 became $(grep channels out)"
code 2 mkfs x -n --size 64M --set nand.blocks_per_plane=300
says 'contradict'
code 2 mkfs x -n --ftl dftl --set ftl.scheme=fast
says 'say one of them'
code 2 mkfs x -n --seed 3 --set nand.seed=4
code 2 mkfs x -n --ftl dftl --set dram.size=16M --set ftl.mapping_cache_bytes=1M
code 2 bench --level ftl --set host_link.ps_per_byte=5

# What is unknown is named before what is missing; remedies fit.
for command in mkfs mount umount ctl smart replay compare snapshot clone 'crash explore' 'crash replay' 'crash torture'; do
    # shellcheck disable=SC2086 # two words
    code 2 $command --bogus
    says 'unknown option --bogus'
done
code 16 fsck --bogus
code 2 mkfs -Z
says 'unknown option -Z'
code 1 clone dev@nope copy
says 'has no snapshot'
"$FLASHLAB" snapshot dev before > out
code 1 clone dev@nope copy
says 'there are: before'
code 2 clone dev@../x copy

code 0 help mkfs
grep -q -- --precondition out || wrong "help mkfs"
code 0 help crash explore
grep -q -- --states out || wrong "help crash explore"
code 2 help mkfss
says "did you mean 'mkfs'"

# Reports side by side, as many as wanted; CSV wherever there is JSON.
for layer in hftl dftl page_map; do "$FLASHLAB" replay two.spc --size 64M --ftl $layer --json > $layer.json 2> err; done
code 0 compare hftl.json dftl.json page_map.json
grep -q 'C / A' out || wrong "compare of three: $(head -n 5 out)"
code 0 compare hftl.json dftl.json page_map.json --csv
grep -q '^ftl,hftl,dftl,page_map,,$' out || wrong "compare --csv: $(head -n 5 out)"
code 0 compare hftl.json dftl.json page_map.json --json
code 2 compare hftl.json
for command in 'info dev' 'smart dev' 'fsck dev' 'presets' 'presets dumbo' 'info --keys' 'info dev --config' 'reproduce list' 'trace two.spc' 'replay two.spc --size 64M' 'bench --size 64M --io-size 64K' 'snapshot dev'; do
    # shellcheck disable=SC2086 # words
    code 0 $command --csv
    head -n 1 out | grep -Eq '^[a-z_]+(,[a-z_]+)*$' || wrong "$command --csv begins with: $(head -n 1 out)"
done
code 2 info dev --csv --json

# Any trace in a folder is played; one that is too short is told so, without figures that are none.
mkdir traces
cp two.spc traces/mine.spc
printf 'nothing\n' > traces/README
code 2 reproduce mc-fig11 --traces traces
timeout 300 "$FLASHLAB" reproduce beyond-ftls --quick --traces traces > out 2> err < /dev/null
grep -q 'mine' out err || wrong "--traces: $(head -n 3 out err)"
grep -Eq -- '-?\bnan\b' out && wrong "reproduce prints nan: $(grep -E -- '-?nan' out | head -n 2)"
((failures == 0)) || exit 1
echo "ok: hostile input"
