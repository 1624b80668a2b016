#!/bin/sh
# layout.sh finds each kind of fault that is planted, and lets pass what is exempt.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp "$here/../../.clang-format" "$tree/"
failed=0

long() { printf "%$1s" '' | tr ' ' "${2-x}"; }
expect() { # CODE TEXT NAME: the verdict on the file that lies there alone
    code=0
    said=$(sh "$here/layout.sh" "$tree") || code=$?
    case "$code:$said" in
    "$1":*"$2"*) ;;
    *) echo "FAILED: $3: code $code: $said" && failed=1 ;;
    esac
    rm -f "$tree"/*.h "$tree"/*.cpp "$tree"/*.md "$tree"/*.sh
}

echo "// $(long 147)" > "$tree/a.h"
expect 0 "" "a line of 150 characters"
echo "// $(long 148)" > "$tree/a.h"
expect 1 "a.h:1: longer than 150" "a line of 151"
echo "// $(long 147 x | sed 's/x/é/g')" > "$tree/a.h"
expect 0 "" "150 characters of two bytes each"
printf 'const char* text = R"(first\n%s\n)";\n' "$(long 200)" > "$tree/a.cpp"
expect 0 "" "a long line in a raw string"
printf 'const char* texts[] = {"(one)", R"(first\n%s\n)"};\n' "$(long 200)" > "$tree/a.cpp"
expect 0 "" "a long line in a raw string behind another string"
printf 'const char* text = R"(first\nlast)";\n// %s\n' "$(long 200)" > "$tree/a.cpp"
expect 1 "a.cpp:3: longer than 150" "a long line behind a raw string"
echo "one two three $(long 106)" > "$tree/a.md"
expect 0 "" "a line of 120 in Markdown"
echo "one two three $(long 107)" > "$tree/a.md"
expect 1 "a.md:1: longer than 120" "a line of 121 in Markdown"
echo "| one two three | $(long 200) |" > "$tree/a.md"
expect 0 "" "a long table"
printf 'Text.\n\n    one two three four %s\n' "$(long 200)" > "$tree/a.md"
expect 0 "" "a long indented block"
printf -- '- one\n    two three four five %s\n' "$(long 200)" > "$tree/a.md"
expect 1 "a.md:2: longer than 120" "a long continued item"
printf '```\none two three four %s\n```\n' "$(long 200)" > "$tree/a.md"
expect 0 "" "a long fenced block"
printf '```\ncode\n```\none two three four %s\n' "$(long 200)" > "$tree/a.md"
expect 1 "a.md:4: longer than 120" "a long line behind a fenced block"
printf 'true \n' > "$tree/a.sh"
expect 1 "a.sh:1: ends in blanks" "blanks at a line's end"
printf 'true' > "$tree/a.sh"
expect 1 "a.sh: the last line has no end" "no end of the last line"
printf '\tint a;\n' > "$tree/a.h"
expect 1 "a.h:1: indented by a tab" "a tab"
if command -v clang-format-16 > /dev/null; then
    echo "int  a;" > "$tree/a.h"
    expect 1 "a.h:1: not laid out" "two blanks where .clang-format has one"
fi
exit "$failed"
