#!/bin/sh
# Runs a program of tests, and is red if it ends before all of them ran.
#
#   sh tests/support/to_its_end.sh PROGRAM [ARGUMENTS]
#
# A test whose code calls _exit(0) ends the program with success, whatever failed before and whatever had still to run. Catch prints a closing line when it has
# run them all; without that line exit code 0 means nothing.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM
{
    code=0
    "$@" || code=$?
    echo "$code" > "$work/code"
} | tee "$work/said"
code=$(cat "$work/code")
[ "$code" -eq 0 ] || exit "$code"
tail -n 3 "$work/said" | grep -q '^All tests passed (' && exit 0
echo "to_its_end: $1 ended with 0 and without its closing line: a test ended the whole program" >&2
exit 1
