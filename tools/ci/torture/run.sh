#!/bin/sh
# What the action and the GitLab job do: fetch FlashLab where it is an address, explore, leave the certificate in power-cut/.
#
#   TORTURE_FLASHLAB=build/release/flashlab TORTURE_COMMAND='$TORTURE_SOURCE/writer' TORTURE_CHECK='$TORTURE_SOURCE/check' sh tools/ci/torture/run.sh
#
# Exit code: that of the exploration (0 nothing found, 1 something found); 2: something is missing here, and it is said what. A summary goes to
# GITHUB_STEP_SUMMARY where there is one. No right of root is needed where fuse3 (and curl, for an address) is installed.
set -eu
: "${TORTURE_FLASHLAB:?a path or an address}" "${TORTURE_COMMAND:?for sh -c}" "${TORTURE_CHECK:?for sh -c}"
out=$PWD/power-cut
mkdir -p "$out"
need() { # PROGRAM WHAT-FOR PACKAGES
    program=$1 why=$2
    shift 2
    command -v "$program" > /dev/null && return 0
    if [ "$(id -u)" -eq 0 ]; then
        as_root=
    elif sudo -n true 2> /dev/null; then
        as_root='sudo -n'
    else
        echo "torture: $program is missing, which $why, and there is no right to install it: as root, run apt-get install $*" >&2
        exit 2
    fi
    { $as_root apt-get -qq update && $as_root apt-get -qq install -y "$@"; } > "$out/apt.log" 2>&1 || {
        echo "torture: $program is missing, which $why, and apt-get install $* failed: $(tail -n 2 "$out/apt.log")" >&2
        exit 2
    }
    rm -f "$out/apt.log"
}
[ "$(id -u)" -eq 0 ] || need fusermount3 "mounts for a user who is not root" fuse3
case $TORTURE_FLASHLAB in
http://* | https://*)
    need curl "fetches $TORTURE_FLASHLAB" curl ca-certificates
    curl -fsSL -o "$out/flashlab" "$TORTURE_FLASHLAB" || {
        echo "torture: $TORTURE_FLASHLAB cannot be fetched" >&2
        exit 2
    }
    if [ -n "${TORTURE_SHA256:-}" ]; then
        echo "$TORTURE_SHA256  $out/flashlab" | sha256sum --status -c - || {
            echo "torture: $TORTURE_FLASHLAB has not the SHA-256 that was given: $(sha256sum < "$out/flashlab")" >&2
            rm -f "$out/flashlab"
            exit 2
        }
    fi
    chmod +x "$out/flashlab"
    flashlab=$out/flashlab
    ;;
*) flashlab=$TORTURE_FLASHLAB ;;
esac
[ -x "$flashlab" ] || command -v "$flashlab" > /dev/null || {
    echo "torture: $flashlab is no program" >&2
    exit 2
}
[ -c /dev/fuse ] || {
    echo "torture: there is no /dev/fuse here, through which states are mounted: run the job with --device /dev/fuse" >&2
    exit 2
}
version=${TORTURE_VERSION:-${GITHUB_SHA:-${CI_COMMIT_SHA:-}}}
code=0
# Command and check run in a directory of their own: TORTURE_SOURCE names the one from which they come.
TORTURE_SOURCE=$PWD "$flashlab" crash torture --explore --persistence "${TORTURE_PERSISTENCE:-ext4}" --states "${TORTURE_STATES:-2000}" \
    --seed "${TORTURE_SEED:-1}" ${TORTURE_SETUP:+--setup "$TORTURE_SETUP"} ${TORTURE_CHECK_SERVES:+--check-serves} ${version:+--app-version "$version"} --keep "$out" --check "$TORTURE_CHECK" \
    --report "$out/certificate.json" --report "$out/certificate.html" --report "$out/certificate.junit.xml" --report "$out/certificate.sarif" \
    -- sh -c "$TORTURE_COMMAND" 2> "$out/findings.txt" > "$out/certificate.txt" || code=$?
cat "$out/findings.txt" "$out/certificate.txt"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then # indented: whatever a check printed is shown, and nothing of it is a mark of the page
    { sed 's/^/    /' "$out/findings.txt" "$out/certificate.txt"; echo; } >> "$GITHUB_STEP_SUMMARY"
fi
[ "$flashlab" != "$out/flashlab" ] || rm -f "$out/flashlab"
exit $code
