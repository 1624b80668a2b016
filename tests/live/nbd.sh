#!/usr/bin/env bash
# A raw drive over NBD: nbdkit's plugin hands each command on as what it means to the drive.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
unset FLASHLAB_LIVE_METADATA
command -v nbdkit > /dev/null || skip "nbdkit is not installed"
[[ -e $(dirname "$FLASHLAB")/nbdkit-flashlab-plugin.so ]] || skip "the plugin is not built: nbdkit-plugin-dev is missing"

nbdsh() { PATH=/usr/bin:$PATH command nbdsh "$@"; } # its Python is the system's
has_nbdsh=""
if nbdsh -c pass 2> /dev/null; then has_nbdsh=1; fi

begin 512
socket=$work/nbd
uri="nbd+unix:///?socket=$socket"
server=""
trap 'result=$?; set +e; [[ -z $server ]] || kill -TERM $server; wait $server 2> /dev/null; finish $result' EXIT

serve() {
    "$FLASHLAB" serve "$device" --nbd "$socket" --log requests "$@" > "$work/daemon.log" 2>&1 &
    server=$!
    local tries=0
    until [[ -S $socket ]] && grep -q "is served" "$work/daemon.log"; do
        kill -0 "$server" 2> /dev/null || { cat "$work/daemon.log"; die "serve ended"; }
        ((tries++ < 300)) || die "serve does not serve"
        sleep 0.1
    done
}
stop() {
    kill -TERM "$server"
    local code=0
    wait "$server" || code=$?
    server=""
    [[ $code -eq 0 ]] && ! grep -q 'before it was done' "$work/daemon.log" || die "SIGTERM is how serve ends, and it ends with $code: $(cat "$work/daemon.log")"
    [[ ! -e $socket ]] || die "the socket is left"
    ! grep -q "$work" /proc/self/mounts || die "a mount is left"
    check_device
}
requests() { "$FLASHLAB" query "$device" "SELECT count(*) FROM host_request r JOIN host_op_name n ON n.op = r.op WHERE $1" --csv | tail -n 1; }

commands_mean_the_same() {
    [[ -n $has_nbdsh ]] || { say "not run: nbdsh is not installed"; return; }
    local fua flushes trims
    fua=$(requests "r.fua = 1") flushes=$(requests "n.name = 'flush'") trims=$(requests "n.name = 'trim'")
    nbdsh -u "$uri" -c 'h.pwrite(b"f" * 4096, 131072, nbd.CMD_FLAG_FUA)' || die "nbdsh"
    (($(requests "r.fua = 1") == fua + 1 && $(requests "n.name = 'flush'") == flushes)) || die "FUA is not FUA"
    nbdsh -u "$uri" -c 'h.pwrite(b"a" * 8192, 0); h.flush()' || die "nbdsh"
    (($(requests "n.name = 'flush'") == flushes + 1)) || die "a flush is not one flush"
    nbdsh --base-allocation -u "$uri" -c '
size = h.get_size()
assert h.can_fua() and h.can_flush() and h.can_trim() and h.can_zero() and h.can_multi_conn()
assert h.get_block_size(nbd.SIZE_MINIMUM) == 512 and h.get_block_size(nbd.SIZE_PREFERRED) == 4096
h.pwrite(b"b" * 4096, 65536, nbd.CMD_FLAG_FUA)
h.trim(4096, 0)
h.zero(512, 65536)
h.zero(512, 65536, nbd.CMD_FLAG_FAST_ZERO)
def state(at):
    found = []
    h.block_status(4096, at, lambda context, offset, extents, error: found.extend(extents) or 0)
    return found[1]
h.pwrite(b"n" * 4096, 1 << 20)
h.zero(4096, 1 << 20, nbd.CMD_FLAG_NO_HOLE)
assert state(1 << 20) == 0 and h.pread(4096, 1 << 20) == bytes(4096), "allocated zeros"
h.zero(4096, 1 << 20)
assert state(1 << 20) == 3, "a hole"
assert h.pread(8192, 0) == bytes(4096) + b"a" * 4096
assert h.pread(4096, 65536) == bytes(512) + b"b" * 3584
h.pwrite(b"end", size - 3) if h.get_block_size(nbd.SIZE_MINIMUM) == 1 else h.pwrite(b"e" * 512, size - 512)
try:
    h.pwrite(b"x" * 512, size)
    raise SystemExit("a write behind the end")
except nbd.Error:
    pass
' || die "nbdsh"
    (($(requests "n.name = 'trim'") >= trims + 1)) || die "a trim is not one"
}

images_go_in_and_out() {
    head -c 20M /dev/urandom > "$work/image"
    if command -v nbdcopy > /dev/null; then
        nbdcopy --flush "$work/image" "$uri" || die "nbdcopy in"
        nbdcopy "$uri" "$work/out" || die "nbdcopy out"
        cmp -n $((20 << 20)) "$work/image" "$work/out" || die "nbdcopy: other bytes"
    else
        say "not run: nbdcopy is not installed"
    fi
    if command -v qemu-img > /dev/null; then
        qemu-img convert -n -f raw -O raw "$work/image" "$uri" || die "qemu-img convert"
        qemu-img dd -f raw -O raw bs=1M count=20 if="$uri" of="$work/back" || die "qemu-img dd"
        cmp "$work/image" "$work/back" || die "qemu-img: other bytes"
    else
        say "not run: qemu-img is not installed"
    fi
}

fio_verifies() {
    fio --enghelp=nbd > /dev/null 2>&1 || { say "not run: this fio has no engine nbd"; return; }
    fio --name=nbd --ioengine=nbd --uri="$uri" --rw=randwrite --bs=4k --size=16M --iodepth=16 --verify=crc32c --verify_state_save=0 --fsync=64 --output="$work/fio.log" \
        || { tail -n 20 "$work/fio.log"; die "fio over NBD"; }
}

make_device --raw --size 64M
serve
commands_mean_the_same
images_go_in_and_out
fio_verifies
stop
serve --latency 10x
if [[ -n $has_nbdsh ]]; then
    nbdsh -u "$uri" -c 'h.pwrite(b"z" * 4096, 0, nbd.CMD_FLAG_FUA)' || die "a write at latency 10x"
    "$FLASHLAB" ctl "$device" powercut --seed 3 > "$work/cut.txt" || die "ctl powercut"
    grep -q 'What had been flushed is safe' "$work/cut.txt" && grep -q 'flashlab mount --as-file .* or flashlab serve' "$work/cut.txt" &&
        ! grep -q 'file system' "$work/cut.txt" || die "of a drive without a file system: $(cat "$work/cut.txt")"
    wait "$server" || die "serve ended with $? after a power cut"
    server=""
    check_device
    serve
    nbdsh -u "$uri" -c 'assert h.pread(4096, 0) == b"z" * 4096' || die "what FUA answered is lost"
fi
stop
serve --read-only
[[ -z $has_nbdsh ]] || nbdsh -u "$uri" -c 'assert h.is_read_only()' || die "read-only"
stop
say "a raw drive over NBD: all well"
