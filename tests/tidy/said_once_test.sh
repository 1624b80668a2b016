#!/bin/sh
# said_once.sh finds a sentence that stands in two pages however its lines are broken, and leaves commands and short ones alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir docs
printf 'First. A sentence of eight words\nwhich `stands` in two pages. Last.\n\n    one two three four five six seven eight nine\n\nA short one.\n' > a.md
printf '# B\n\n    one two three four five six seven eight nine\n\n```\none two three four five six seven eight nine\n```\nA short one.\n' > docs/b.md
sh "$here/said_once.sh" . || { echo "FAILED: red over commands or a short sentence" >&2; exit 1; }
printf -- '- Other. A sentence of eight words which\n  stands in two [pages](b.md).\n' >> docs/b.md
if sh "$here/said_once.sh" . > out; then echo "FAILED: green over a sentence that stands in two pages" >&2; exit 1; fi
grep -q '^a.md and docs/b.md: A sentence of eight words which stands in two pages' out || { cat out >&2; exit 1; }
echo ok
