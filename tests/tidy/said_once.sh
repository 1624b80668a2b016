#!/bin/sh
# Nothing is said twice: finds sentences of eight words and more that stand in two pages. Blocks of commands, drawings and tables are left out, and so are the
# campaign's reports.
#
#   said_once.sh ROOT
#
# Prints each such sentence with the pages. Exit 1 when there is one.
set -eu
cd "${1:?usage: said_once.sh ROOT}"
find . \( -name 'build*' -o -name .git -o -path ./docs/campaign -o -name RESULTS.md \) -prune -o -name '*.md' -print | sed 's|^\./||' | LC_ALL=C sort |
    xargs awk '
        function end_paragraph(    n, parts, i) {
            gsub(/[`*]/, "", text)
            gsub(/\]\([^)]*\)/, "]", text)
            gsub(/[][]/, "", text)
            gsub(/[ \t]+/, " ", text)
            gsub(/[.!?:] /, "&\n", text)
            n = split(text, parts, "\n")
            for (i = 1; i <= n; i++) {
                gsub(/^[ |-]+|[ |]+$/, "", parts[i])
                if (split(parts[i], words, " ") >= 8) print parts[i] "\t" page
            }
            text = ""
        }
        FNR == 1 { end_paragraph(); page = FILENAME; fence = 0 }
        /^ *(```|~~~)/ { end_paragraph(); fence = !fence; next }
        fence || /^ *\|/ || /^    / && text == "" || /^ *<!--/ { next }
        /^[ \t]*$/ { end_paragraph(); next }
        /^ *[-*|#] ?/ || /^[0-9]+\. / { end_paragraph() }
        { text = text " " $0 }
        END { end_paragraph() }' | LC_ALL=C sort -u |
    awk -F '\t' '$1 == last { printf "%s and %s: %s\n", page, $2, $1; found = 1 } { last = $1; page = $2 } END { exit found }'
