#!/usr/bin/env bash
# Ctrl-C (INT), TERM or HUP to the whole group while `mount` starts, at every moment of it: either the mount stands and works, or nothing of it is left; and the
# drive is sound. Never a mount without its daemon, a daemon without its mount, or a command that says success and leaves no mount.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
begin 512
make_device --size 64M
mount_device
echo kept > "$mnt/file"
unmount_device

daemons() { pgrep -f -- "$FLASHLAB mount $device" | tr '\n' ' '; }
# What a command still works on when it was interrupted may take it a moment.
wait_for_end_of_daemons() {
    local tries=0
    while [[ -n $(daemons) ]] && ((tries++ < 100)); do sleep 0.05; done
    [[ -z $(daemons) ]] || die "$1: no mount, but a daemon is left: $(daemons)"
}

gone_soon() {
    local tries=0
    while mounted && ((tries++ < 100)); do sleep 0.05; done
    ! mounted
}

stood=0 ended=0
for signal in INT TERM HUP; do
    for ((delay_us = 0; delay_us < 60000; delay_us = delay_us * 5 / 4 + 900)); do
        what="$signal after $delay_us us"
        # A new session is a new process group, which the daemon has not left yet while it starts. sh sets the signals' default, which a background job loses.
        setsid bash -c 'trap - INT TERM HUP; exec "$@"' _ "$FLASHLAB" mount "$device" "$mnt" > "$work/out" 2>&1 &
        command=$!
        sleep "$(printf '0.%06d' "$delay_us")"
        kill -"$signal" -- -"$command" 2> /dev/null || true
        code=0
        wait "$command" || code=$?
        if mounted; then
            # It may end a moment later: the signal reached the daemon, which then unmounts.
            if [[ $(cat "$mnt/file" 2> /dev/null) == kept ]]; then
                stood=$((stood + 1))
                # A daemon that the signal has reached holds the mount for a moment while it ends: then umount says that it is busy, and it goes by itself.
                "$FLASHLAB" umount "$mnt" > "$work/umount" 2>&1 || gone_soon || die "$what: umount: $(cat "$work/umount")"
            else
                gone_soon || die "$what: a mount that does not answer is left"
                ended=$((ended + 1))
            fi
        else
            ended=$((ended + 1))
        fi
        wait_for_end_of_daemons "$what"
        "$FLASHLAB" fsck "$device" > "$work/fsck" 2>&1 || die "$what: fsck: $(cat "$work/fsck")"
    done
done
say "interrupted starts: $stood mounts stood, $ended ended"
((ended > 0)) || die "no signal came early enough to end a start"

# A signal just behind the fork: the daemon is in a session of its own, and its parent has not yet begun to wait for it. Here the parent takes a second for that.
cat > "$work/slow_fork.cpp" << 'END'
#include <dlfcn.h>
#include <unistd.h>
extern "C" pid_t fork() {
    const auto real = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "fork"));
    const pid_t child = real();
    if (child > 0) usleep(1'000'000);
    return child;
}
END
if grep -q '__asan_init\|__tsan_init' "$FLASHLAB"; then
    say "a sanitizer bears no library before its own: the fork is not slowed"
elif c++ -shared -fPIC -o "$work/slow_fork.so" "$work/slow_fork.cpp" -ldl; then
    for signal in TERM HUP; do # a background job ignores INT
        what="$signal behind the fork"
        setsid bash -c 'trap - INT TERM HUP; exec env LD_PRELOAD="$1" "${@:2}"' _ "$work/slow_fork.so" "$FLASHLAB" mount "$device" "$mnt" > "$work/out" 2>&1 &
        command=$!
        for ((tries = 0; tries < 500; tries++)); do
            [[ $(daemons | wc -w) -lt 2 ]] || break
            sleep 0.01
        done
        [[ $(daemons | wc -w) -ge 2 ]] || die "$what: no second process"
        sleep 0.1
        kill -"$signal" -- -"$command" 2> /dev/null || die "$what: the command has ended"
        code=0
        wait "$command" || code=$?
        ((code > 128)) || die "$what: the command ended with $code: $(cat "$work/out")"
        wait_for_end_of_daemons "$what"
        ! mounted || die "$what: a mount is left"
    done
fi
mount_device
[[ $(cat "$mnt/file") == kept ]] || die "the file is gone"
unmount_device
check_device
say "ok: interrupted starts of a mount"
