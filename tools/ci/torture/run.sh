#!/bin/sh
# What the action and the GitLab job do: fetch FlashLab where it is an address, explore, leave the certificate in power-cut/.
#
#   TORTURE_FLASHLAB=build/release/flashlab TORTURE_COMMAND='$TORTURE_SOURCE/writer' TORTURE_CHECK='$TORTURE_SOURCE/check' sh tools/ci/torture/run.sh
#
# Exit code: that of the exploration. A summary goes to GITHUB_STEP_SUMMARY where there is one.
set -eu
: "${TORTURE_FLASHLAB:?a path or an address}" "${TORTURE_COMMAND:?for sh -c}" "${TORTURE_CHECK:?for sh -c}"
out=$PWD/power-cut
mkdir -p "$out"
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
need() { # PROGRAM PACKAGES
    # shellcheck disable=SC2086 # several packages
    command -v "$1" > /dev/null || { $as_root apt-get -qq update && $as_root apt-get -qq install -y $2 > /dev/null; }
}
need fusermount3 fuse3
case $TORTURE_FLASHLAB in
http://* | https://*)
    need curl "curl ca-certificates"
    curl -fsSL -o "$out/flashlab" "$TORTURE_FLASHLAB"
    [ -z "${TORTURE_SHA256:-}" ] || echo "$TORTURE_SHA256  $out/flashlab" | sha256sum -c -
    chmod +x "$out/flashlab"
    flashlab=$out/flashlab
    ;;
*) flashlab=$TORTURE_FLASHLAB ;;
esac
code=0
# Command and check run in a directory of their own: TORTURE_SOURCE names the one from which they come.
TORTURE_SOURCE=$PWD "$flashlab" crash torture --explore --persistence "${TORTURE_PERSISTENCE:-ext4}" --states "${TORTURE_STATES:-2000}" \
    --seed "${TORTURE_SEED:-1}" ${TORTURE_SETUP:+--setup "$TORTURE_SETUP"} --keep "$out" --check "$TORTURE_CHECK" \
    --report "$out/certificate.json" --report "$out/certificate.html" --report "$out/certificate.junit.xml" --report "$out/certificate.sarif" \
    -- sh -c "$TORTURE_COMMAND" 2> "$out/findings.txt" > "$out/certificate.txt" || code=$?
cat "$out/findings.txt" "$out/certificate.txt"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    { echo '```'; cat "$out/findings.txt" "$out/certificate.txt"; echo '```'; } >> "$GITHUB_STEP_SUMMARY"
fi
[ "$flashlab" != "$out/flashlab" ] || rm -f "$out/flashlab"
exit $code
