#!/usr/bin/env bash
# tools/ci/newest_debian.sh: a command that fails there is red; a machine that cannot make the other Debian is skipped with the reason; nothing is left behind.
# newest_debian_test.sh SOURCE
#
# In place of mmdebstrap a script makes a root directory of a shell and what the judge calls.
set -euo pipefail
source=${1:?usage: newest_debian_test.sh SOURCE}
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-newest-test.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
mkdir -p "$work/bin" "$work/tmp" "$work/tree/tools/ci"
cp "$source/tools/ci/newest_debian.sh" "$work/tree/tools/ci"
echo kept > "$work/tree/file"
judge() { # CODE WORDS COMMAND: where the directory of temporary files must be empty afterwards
    local code=0
    PATH=$work/bin:$PATH TMPDIR=$work/tmp bash "$work/tree/tools/ci/newest_debian.sh" "$3" > "$work/out" 2>&1 || code=$?
    [[ $code -eq $1 ]] && grep -q -- "$2" "$work/out" || die "$3: code $code instead of $1 and '$2': $(cat "$work/out")"
    [[ -z $(ls -A "$work/tmp") ]] || die "$3: left $(ls -A "$work/tmp")"
}
if [[ $(id -u) -ne 0 ]]; then
    judge 77 'skipped: .* needs root' true
    echo "skipped: the rest needs root"
    exit 77
fi
unshare --mount --pid --fork true 2> /dev/null || { judge 77 'skipped: .*namespace' true; echo "skipped: the rest needs namespaces"; exit 77; }

printf '#!/bin/sh\nexit 100\n' > "$work/bin/apt-get"
printf '#!/bin/sh\necho "E: no such mirror" >&2; exit 25\n' > "$work/bin/mmdebstrap"
chmod +x "$work/bin"/*
judge 77 'skipped: .*no such mirror\|skipped: .*no mirror' true
grep -q 'no mirror of Debian' "$work/out" && { echo "skipped: the rest needs apt's sources"; exit 77; }
cat > "$work/bin/mmdebstrap" << 'END'
#!/bin/bash
for root; do last=$before before=$root; done # … SUITE ROOT MIRROR
root=$last
mkdir -p "$root"/{proc,sys,dev,tmp,bin,usr}
for program in sh cat sleep readlink env kill ls; do
    program=$(type -P $program)
    cp "$program" "$root/bin/"
    ldd "$program" | grep -o '/[^ ]*' | while read -r library; do mkdir -p "$root$(dirname "$library")" && cp -L "$library" "$root$library"; done
done
printf '#!/bin/sh\nexit ${NO_NETWORK:-0}\n' > "$root/bin/apt-get"
chmod +x "$root/bin/apt-get"
END
judge 0 '^kept' 'cat file'
judge 3 'ended with 3' 'exit 3'
judge 1 'ended with 1' 'exit 77'
# What the command leaves running ends with it.
judge 0 'ended with 0' "sleep 987654 & echo started"
sleep 0.2
! grep -lsz 987654 /proc/[0-9]*/cmdline > /dev/null || die "a process is left"
sed -i 's/NO_NETWORK:-0/NO_NETWORK:-100/' "$work/bin/mmdebstrap"
judge 77 'skipped: .*network' true
# Ended by a signal it takes all with it.
sed -i 's/NO_NETWORK:-100/NO_NETWORK:-0/' "$work/bin/mmdebstrap"
PATH=$work/bin:$PATH TMPDIR=$work/tmp bash "$work/tree/tools/ci/newest_debian.sh" 'echo runs; sleep 987653' > "$work/out" 2>&1 &
judged=$!
for _ in {1..500}; do
    ! grep -q '^runs' "$work/out" || break
    sleep 0.02
done
kill -TERM $judged
code=0
wait $judged || code=$?
[[ $code -eq 143 ]] || die "ended by TERM: $code: $(cat "$work/out")"
[[ -z $(ls -A "$work/tmp") ]] || die "ended by TERM: left $(ls -A "$work/tmp")"
sleep 0.2
! grep -lsz 987653 /proc/[0-9]*/cmdline > /dev/null || die "ended by TERM: a process is left"
echo "ok: newest_debian.sh"
