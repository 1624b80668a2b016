#!/bin/sh
# to_its_end.sh is red when a program of tests ends early, or fails, or does not begin.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
fail() {
    echo "to_its_end_test: $1" >&2
    exit 1
}
ran() { # CODE WHAT SCRIPT
    code=0
    sh "$here/to_its_end.sh" sh -c "$3" > /dev/null 2>&1 || code=$?
    [ "$code" -eq "$1" ] || fail "$2: $code instead of $1"
}
ran 0 "all tests ran and passed" 'echo; echo "All tests passed (3 assertions in 1 test case)"; echo'
ran 1 "the program ended early with success" 'echo "a test"; exit 0'
ran 1 "a failure was printed, and then a test ended the program" 'echo "x.cpp:3: FAILED:"; exit 0'
ran 1 "the closing words are what a test said" 'echo "All tests passed (says a test)"; for n in 1 2 3 4; do echo $n; done'
ran 7 "seven tests failed" 'echo "test cases: 9 | 2 passed | 7 failed"; exit 7'
ran 139 "the program crashed" 'kill -SEGV $$'
