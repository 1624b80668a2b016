#!/usr/bin/env bash
# Whose data go to which placement handle of a live mount: by a file's attribute, an ioctl, a user, a process. Judged by what each handle still takes.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 512
command -v python3 > /dev/null || skip "python3 is not installed"
make_device --size 128M --ftl page_map --set nand.channels=2 --set ftl.separation=host --set ftl.host_streams=4 --set dram.write_buffer_bytes=0
mount_device --log none

# Pages that the handle took since the last question, in KiB; the first unit of a handle is opened by its first page.
taken() {
    "$FLASHLAB" smart "$mnt" --as fdp-status --json > "$work/now"
    python3 - "$work/before" "$work/now" << 'EOF'
import json, os, sys
def room(path): return [r["ruamw"] // 2 for r in json.load(open(path))["ruhss"]]
before, now = (room(p) for p in sys.argv[1:])
print(*[(b - n) for b, n in zip(before, now)])
EOF
    mv "$work/now" "$work/before"
}
"$FLASHLAB" smart "$mnt" --as fdp-status --json > "$work/before"
write_in_process() { # PID is told, a thread of its own writes
    python3 - "$mnt/$1" << 'EOF' &
import os, sys, threading
while not os.path.exists(sys.argv[1] + ".go"): pass
def write():
    with open(sys.argv[1], "wb") as f:
        f.write(b"x" * 262144)
        os.fsync(f.fileno())
t = threading.Thread(target=write)
t.start()
t.join()
EOF
    writer=$!
}

say "--- an attribute and an ioctl"
mkdir "$mnt/d"
python3 - "$mnt/d" << 'EOF' || die "the ioctl"
import errno, fcntl, os, struct, sys
read, write = 0x800446f2, 0x400446f2
fd = os.open(sys.argv[1], os.O_RDONLY)
get = lambda: struct.unpack("I", fcntl.ioctl(fd, read, b"\0" * 4))[0]
assert get() == 0
fcntl.ioctl(fd, write, struct.pack("I", 1))
assert get() == 1 and os.getxattr(sys.argv[1], "user.flashlab.stream") == b"1"
try: fcntl.ioctl(fd, write, struct.pack("I", 250))
except OSError as e: assert e.errno == errno.EINVAL
else: sys.exit("a stream that no drive can have")
assert get() == 1
EOF
dd if=/dev/zero of="$mnt/d/f" bs=256k count=1 conv=fsync status=none
[[ $(taken) == "0 256 0 0" ]] || die "what was written below a directory with stream 1: $(cat "$work/before")"

say "--- a process, and its threads"
write_in_process p
"$FLASHLAB" ctl "$mnt" stream pid:$writer=2 uid:12345=3 > "$work/rules" || die "ctl stream"
[[ $(cat "$work/rules") == "pid:$writer=2"$'\n'"uid:12345=3" ]] || die "the rules: $(cat "$work/rules")"
touch "$mnt/p.go"
wait "$writer" || die "the writer"
[[ $(taken) == "0 0 256 0" ]] || die "what a thread of the process wrote: $(cat "$work/before")"
[[ $("$FLASHLAB" ctl "$mnt" stream --json) == '{"streams":["uid:12345=3"]}' ]] || die "a rule outlives its process"

say "--- a user; the attribute comes first"
"$FLASHLAB" ctl "$mnt" stream clear > /dev/null
"$FLASHLAB" ctl "$mnt" stream "uid:$(id -u)=3" > /dev/null || die "ctl stream uid"
dd if=/dev/zero of="$mnt/u" bs=256k count=1 conv=fsync status=none
[[ $(taken) == "0 0 0 256" ]] || die "what the user wrote: $(cat "$work/before")"
dd if=/dev/zero of="$mnt/d/g" bs=256k count=1 conv=fsync status=none
[[ $(taken) == "0 256 0 0" ]] || die "the attribute gave way: $(cat "$work/before")"
"$FLASHLAB" ctl "$mnt" stream "uid:$(id -u)=0" > "$work/rules"
grep -q 'no user and no process' "$work/rules" || die "a rule that was ended: $(cat "$work/rules")"
dd if=/dev/zero of="$mnt/v" bs=256k count=1 conv=fsync status=none
[[ $(taken) == "256 0 0 0" ]] || die "after the rule: $(cat "$work/before")"

say "--- refused, and nothing is changed"
refused() {
    local code=0
    "$FLASHLAB" ctl "$mnt" stream "${@:3}" > "$work/out" 2> "$work/err" || code=$?
    [[ $code -eq $1 ]] && grep -q -- "$2" "$work/err" || die "stream ${*:3}: $code, $(cat "$work/err")"
}
refused 1 'the drive has the streams 0 to 3' uid:1=4
refused 1 'there is no process' uid:1=1 pid:4194304=1
refused 2 'write uid:1000=3 or pid:4711=3' gid:1=1
refused 2 "'x' is no uid" uid:x=1
refused 2 'is no stream of 0 to 249' uid:1=250
refused 2 'no rule' uid:1
refused 1 'the drive has the streams' uid:1=1 uid:2=9
[[ $("$FLASHLAB" ctl "$mnt" stream --json) == '{"streams":[]}' ]] || die "half of what was refused is in force"

say "--- an attribute that names no stream of the drive"
python3 - "$mnt/d" << 'EOF' || die "an attribute that names no stream"
import errno, os, sys
for stream in (b"4", b"9", b"03"):
    try: os.setxattr(sys.argv[1], "user.flashlab.stream", stream)
    except OSError as e: assert e.errno == errno.EINVAL, e
    else: sys.exit(f"stream {stream} was accepted")
assert os.getxattr(sys.argv[1], "user.flashlab.stream") == b"1"
os.setxattr(sys.argv[1], "user.flashlab.stream", b"3")
EOF

say "--- events: what collections move is told by handle"
python3 - "$mnt/big" << 'EOF'
import os, random, sys
random.seed(1)
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.setxattr(sys.argv[1], "user.flashlab.stream", b"1")
size = os.statvfs(sys.argv[1]).f_bavail * os.statvfs(sys.argv[1]).f_bsize * 9 // 10 // 16384 * 16384
for at in range(0, size, 1 << 20): os.pwrite(fd, b"y" * min(1 << 20, size - at), at)
os.fsync(fd)
for i in range(6000):
    os.pwrite(fd, b"z" * 16384, random.randrange(size // 16384) * 16384)
    if i % 100 == 0: os.fsync(fd)
os.fsync(fd)
EOF
"$FLASHLAB" smart "$mnt" --as fdp-events --json > "$work/events" || die "fdp-events"
python3 - "$work/events" << 'EOF' || die "the events: $(head -c 300 "$work/events")"
import json, sys
log = json.load(open(sys.argv[1]))
events = log["events"]
assert log["n"] == len(events) and 0 < len(events) <= 63
assert {e["Type"] for e in events} == {0x80} and {e["pid"] for e in events} == {1}, events[-1]
assert all(0 < e["nlbam"] <= 65535 for e in events) and [e["timestamp"] for e in events] == sorted(e["timestamp"] for e in events)
EOF

unmount_device
say "--- a drive without streams"
"$FLASHLAB" mkfs "$work/plain" --size 64M > /dev/null 2>&1
device=$work/plain
mount_device --log none
refused 1 'the drive has no placement handles' uid:1=1
unmount_device
