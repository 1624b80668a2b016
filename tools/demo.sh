#!/bin/sh
# A guided tour in a few minutes: builds FlashLab, makes a simulated SSD, runs real programs on it, pulls the plug, recovers, and asks what happened.
#
#   sh tools/demo.sh
#
# Everything stays below ./build; nothing is left mounted. IOZone comes from Debian's non-free component; where it cannot be had, fio takes its place.
set -eu
cd "$(dirname "$0")/.."
tree=$PWD
demo=$tree/build/demo
mnt=$demo/mnt

step() { printf '\n=== %s\n' "$*"; }
note() { printf '    %s\n' "$*"; }
run() { # prints the command as it could be typed
    printf '$'
    for word; do
        case $word in
            *[!A-Za-z0-9_./:=@%+,-]*) printf " '%s'" "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$@"
}
now_ms() { echo $(($(date +%s%N) / 1000000)); }

writer=""
clean_up() {
    [ -z "$writer" ] || kill "$writer" 2> /dev/null || true
    if grep -q " $mnt fuse" /proc/self/mounts; then fusermount3 -u "$mnt" 2> /dev/null || fusermount3 -u -z "$mnt" || true; fi
}
trap clean_up EXIT
trap 'exit 130' INT TERM

step "1. What is needed is installed, and FlashLab is built"
sh tools/install_dependencies.sh
sh tools/install_dependencies.sh --iozone > /dev/null 2>&1 || note "IOZone is not to be had here: fio will do its part"
cmake --preset release > /dev/null
cmake --build --preset release --target flashlab
if ! [ -r /dev/fuse ] || ! [ -w /dev/fuse ]; then
    echo "flashlab demo: /dev/fuse cannot be used here: load the module (modprobe fuse), or give the container --device /dev/fuse --cap-add SYS_ADMIN" >&2
    exit 1
fi

step "2. A new solid-state drive: flash chips, controller, file system, all in one directory"
clean_up
rm -rf "$demo"
mkdir -p "$mnt"
cd "$demo" # short names in what follows
PATH=$tree/build/release:$PATH
export PATH
note "in build/demo:"
run flashlab mkfs device --size 256M --set dram.protected=0
note "A drive like those sold, but without their capacitors, so that a power cut tears what is under way. The warnings are for who measures such a small drive. It is small so that it fills, and has to collect its garbage, within this tour."
run flashlab mount device mnt
note "It is an ordinary directory now. Every byte goes through a flash translation layer to simulated chips."
head -c 175000000 /dev/urandom > mnt/films
note "Two thirds of it are full, as on many a drive:"
df -h mnt

step "3. A benchmark on it"
if command -v iozone > /dev/null; then
    printf '$ iozone -i 0 -i 1 -i 2 -s 64m -r 4k -r 1m\n'
    (cd mnt && iozone -i 0 -i 1 -i 2 -s 64m -r 4k -r 1m > "$demo/iozone.txt")
    # Its table has columns for tests that were not asked for.
    awk 'BEGIN { printf "%10s %9s %9s %9s %9s %9s %9s\n", "record KiB", "write", "rewrite", "read", "reread", "rnd read", "rnd write" }
        NF == 8 && $1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ { printf "%10d %9d %9d %9d %9d %9d %9d\n", $2, $3, $4, $5, $6, $7, $8 }' "$demo/iozone.txt"
    note "KiB/s as IOZone sees them: latency is off, so this is the speed of the simulator, not of the flash; what was just written is read from memory,"
    note "as on any drive. Mounted with --latency real, requests take the time the flash would need."
else
    run fio --name=demo --directory=mnt --size=64m --bs=4k --rw=randwrite --ioengine=psync --fsync=64 --verify=crc32c --output="$demo/fio.txt"
    grep -E 'IOPS|READ:|WRITE:' "$demo/fio.txt" || true
    note "fio wrote with checksums and read everything back."
    rm -f "$mnt"/demo.*
fi
if command -v fio > /dev/null; then
    run fio --name=database --directory=mnt --size=64m --io_size=256m --bs=4k --rw=randwrite --norandommap --ioengine=psync --fsync=64 --output="$demo/database.txt"
    note "Some pages of a file were overwritten again and again, as a database does: the drive had to collect what became stale, and copy what had not."
    rm -f "$mnt"/database.*
fi

step "4. Real work: this project's own repository, cloned and checked"
if git -C "$tree" -c safe.directory='*' rev-parse HEAD > /dev/null 2>&1; then
    git -c safe.directory='*' clone -q --bare "$tree" source.git
else # an unpacked tarball
    git init -q source
    (cd "$tree" && cp -r CMakeLists.txt README.md base nand pram ftl fs tools tests "$demo/source/")
    git -C source add -A
    git -C source -c user.name=demo -c user.email=demo@localhost commit -q -m "The sources"
    git clone -q --bare source source.git
fi
run git clone -q "file://$demo/source.git" mnt/clone
run git -C mnt/clone -c safe.directory='*' fsck
note "git read back every object and found it unchanged."
run flashlab ctl mnt flush
note "What a program writes without asking for fsync waits in memory for some seconds, as on any computer; git asks for little. Now all of it is on the flash."

step "5. Somebody writes a diary, line by line, each line made durable before the next is begun ..."
(
    line=1
    while echo "line $line" >> mnt/diary && sync mnt/diary; do
        echo "$line" > "$demo/promised"
        line=$((line + 1))
    done
) 2> /dev/null &
writer=$!
sleep 2
step "   ... and the power fails"
run flashlab ctl mnt powercut --seed 1
wait "$writer" 2> /dev/null || true
writer=""
clean_up
promised=$(cat "$demo/promised")
note "Operations still in flight were torn (T1, T2 ...: how, docs/crash-model.md) or never happened, and DRAM is gone. $promised lines had been promised to be durable."

step "6. The power is back: the next mount recovers"
started=$(now_ms)
run flashlab mount device mnt
note "recovered and mounted in $(($(now_ms) - started)) ms"
there=$(grep -c '^line ' mnt/diary)
note "promised lines: $promised; lines in the diary: $there (one more may have become durable before it could be promised)"
[ "$there" -ge "$promised" ] || { echo "flashlab demo: a promise was broken" >&2; exit 1; }
run git -C mnt/clone -c safe.directory='*' fsck
note "The clone survived, too."

step "7. How the drive feels, in figures"
printf '$ flashlab smart mnt      # some of its lines\n'
flashlab smart mnt > "$demo/smart.txt"
grep -E '^(percent_used|power_cycles|unsafe_shutdowns|host_write_bytes|waf|gc_jobs|gc_page_copies|wear_max|free_blocks|spare_blocks|bad_user_nand_blocks|remaining_host_bytes) ' "$demo/smart.txt"
note "Two starts, one of them after a power failure (unsafe); no block has worn out."
note "WAF, the write amplification factor: pages programmed on flash for each page written by programs. 1 is ideal; more wears the flash out."
note "gc_jobs are collections, gc_page_copies the pages that they had to copy: those are what makes it more than 1."

step "8. What happened is a table: where did the flash writes come from?"
run flashlab query device "SELECT * FROM v_waf_by_cause" --table
note "user: data of programs; gc: copies made to free blocks; merge, recovery and others: the drive's own work."

step "9. The same as a page with plots"
run flashlab report device -o report.html
note "Open build/demo/report.html in a browser; it needs no network."

step "10. Unmount, and verify every structure on the drive"
run flashlab umount mnt
run flashlab fsck device

step "Done"
note "The device stays in build/demo/device. Mount it again, or ask it more (the event log lies in events.db):"
note "  cd build/demo; PATH=../release:\$PATH"
note "  flashlab mount device mnt"
note "  flashlab query --views"
