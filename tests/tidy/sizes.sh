#!/bin/sh
# What has to stay small. README.md is read in three minutes: 900 words at most. CHANGELOG.md has 60 entries of one line at most. All pages, the
# campaign's reports apart, have 6,000 lines at most: a page says what is, and git keeps what was. Prints these sums, and the lines of the product's sources,
# which nobody shortens by joining two.
#
#   sh tests/tidy/sizes.sh ROOT
set -eu
cd "${1:?usage: sizes.sh ROOT}"
code=0
words=$(wc -w < README.md)
entries=$(grep -c '^- ' CHANGELOG.md)
wrapped=$(grep -c '^  [^ ]' CHANGELOG.md || true)
pages=$(find . \( -name 'build*' -o -name .git -o -path ./docs/campaign \) -prune -o -name '*.md' -exec cat {} + | wc -l)
product=$(find base crash fs ftl nand pram tools \( -name '*.h' -o -name '*.cpp' -o -name '*.def' \) -exec cat {} + | wc -l)
echo "README.md: $words words; CHANGELOG.md: $entries entries; pages: $pages lines; sources of the product: $product lines"
[ "$words" -le 900 ] || { echo "README.md has more than 900 words"; code=1; }
[ "$entries" -le 60 ] || { echo "CHANGELOG.md has more than 60 entries"; code=1; }
[ "$wrapped" -eq 0 ] || { echo "CHANGELOG.md has entries of more than one line"; code=1; }
[ "$pages" -le 6000 ] || { echo "the pages have more than 6000 lines"; code=1; }
exit "$code"
