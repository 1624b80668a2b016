#!/bin/sh
# One layout: lines of code have at most 150 characters and lines of Markdown 120, nothing ends in blanks, nothing is indented by tabs, every file ends with a
# line's end; C++ is laid out as .clang-format says. Exempt are raw strings (SQL and pages as they are stored), and in Markdown tables, indented or fenced blocks,
# and lines of one word (an address). Usage: layout.sh ROOT
#
# The formatter's part needs clang-format 16: other versions lay some lines out in another way. Without it that part is left out, and said.
set -eu
cd "$1"
LC_ALL=C.UTF-8
export LC_ALL
found=$(mktemp)
trap 'rm -f "$found"' EXIT

files() { find . \( -name build -o -name .git \) -prune -o -type f \( "$@" \) -print | sed 's|^\./||' | sort; }

# Characters are counted by grep: awk of Debian counts bytes.
code=$(files -name '*.h' -o -name '*.cpp')
too_long=$(printf '%s\n' "$code" | xargs grep -nE '^.{151,}' /dev/null || true)
[ -z "$too_long" ] || printf '%s\n' "$too_long" | while IFS=: read -r file line _; do
    in_raw_string=$(awk -v last="$line" '
        NR > last { exit }
        { rest = $0
          if (!raw && (at = index($0, "R\"("))) { raw = 1; rest = substr($0, at + 3) }
          at_line = raw
          if (raw && index(rest, ")\"")) raw = 0 }
        END { print at_line + 0 }' "$file")
    [ "$in_raw_string" = 1 ] || echo "$file:$line: longer than 150 characters"
done > "$found"

for file in $(files -name '*.md'); do
    grep -nE '^.{121,}' "$file" | while IFS=: read -r line _; do
        awk -v last="$line" -v file="$file" '
            NR > last { exit }
            /^ *(```|~~~)/ { fence = !fence }
            { blank_before = blank; blank = ($0 ~ /^ *$/)
              if (blank) block = 0
              else if ($0 ~ /^    / && (blank_before || block)) block = 1
              else block = 0 }
            NR == last && !fence && !block && $0 !~ /^ *\|/ && NF > 3 { printf "%s:%d: longer than 120 characters\n", file, NR }' "$file"
    done
done >> "$found"

all=$(files -name '*.h' -o -name '*.cpp' -o -name '*.md' -o -name '*.sh' -o -name 'CMakeLists.txt')
printf '%s\n' "$all" | xargs grep -nE '[[:blank:]]+$' /dev/null | sed -E 's/^([^:]*:[0-9]+):.*/\1: ends in blanks/' >> "$found" || true
printf '%s\n' "$code" | xargs grep -nE "$(printf '^ *\t')" /dev/null | sed -E 's/^([^:]*:[0-9]+):.*/\1: indented by a tab/' >> "$found" || true
printf '%s\n' "$all" | while read -r file; do
    [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || echo "$file: the last line has no end"
done >> "$found"

if command -v clang-format-16 > /dev/null; then
    printf '%s\n' "$code" | xargs clang-format-16 --dry-run 2>&1 | grep -E 'warning: code should be clang-formatted' |
        sed -E 's/^([^:]*:[0-9]+):.*/\1: not laid out as .clang-format says: clang-format-16 -i FILE/' | sort -u -t: -k1,1 >> "$found" || true
else
    echo "layout: no clang-format-16 here, so .clang-format was not checked"
fi

if [ -s "$found" ]; then
    cat "$found"
    exit 1
fi
