#!/bin/sh
# sizes.sh is red for each thing that grew too large, and for nothing else.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir base crash fs ftl nand pram tools
echo 'int a;' > base/a.h
printf 'word %.0s' $(seq 900) > README.md
printf -- '- entry\n%.0s' $(seq 60) > CHANGELOG.md
sh "$here/sizes.sh" . | grep -q '900 words; CHANGELOG.md: 60 entries; pages: 60 lines; sources of the product: 1 lines'
red() { if sh "$here/sizes.sh" . > out; then echo "FAILED: green with $1" >&2; exit 1; fi; grep -q "$1" out; }
echo more >> README.md
red "more than 900 words"
: > README.md
echo '  goes on' >> CHANGELOG.md
red "more than one line"
sed -i '$d' CHANGELOG.md
echo '- one more' >> CHANGELOG.md
red "more than 60 entries"
sed -i '$d' CHANGELOG.md
mkdir docs docs/campaign
yes line | head -n 7000 > docs/campaign/report.md
sh "$here/sizes.sh" . > out
yes line | head -n 5940 > docs/page.md
sh "$here/sizes.sh" . > out
echo line >> docs/page.md
red "more than 6000 lines"
echo ok
