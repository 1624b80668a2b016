#!/bin/sh
# Makes the picture of README.md anew, by running the experiment that it shows (a minute).
#
#   sh tools/picture.sh FLASHLAB            # build/release/flashlab; writes docs/picture.svg
set -eu
flashlab=$(realpath "${1:?usage: picture.sh FLASHLAB}")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$flashlab" reproduce beyond-ftls --quick --html "$work/page.html" > "$work/told" 2>&1 || [ $? -eq 1 ] # 1: a claim fails
# One plot of the page, with the page's colours: a picture alone has no style sheet.
awk '/:root\{--back/ && !colours { on = 1 } on && !colours { style = style $0 "\n" } /color-scheme:dark\}\}/ { colours = 1 } { page = page $0 "\n" }
    END {
        sub(/.*<style>/, "", style)
        gsub(/:not\(\[data-theme=light\]\)/, "", style)
        plots = split(page, plot, /<svg /)
        for (i = 2; i <= plots; i++) {
            if (plot[i] !~ /requests\/s \(tpcc\)/) continue
            sub(/<\/svg>.*/, "</svg>", plot[i])
            sub(/>/, "><style>" style "svg{background:var(--back);color:var(--text);fill:currentColor}.grid{stroke:var(--line)}.frame{stroke:var(--soft)}</style>", plot[i])
            print "<svg " plot[i]
            exit
        }
    }' "$work/page.html" > "$work/picture.svg"
grep -q '</svg>' "$work/picture.svg" || { echo "picture: the page has no such plot" >&2; exit 1; }
mv "$work/picture.svg" docs/picture.svg
