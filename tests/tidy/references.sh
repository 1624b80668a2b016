#!/bin/sh
# References that lead somewhere, checked: what a comment or a page cites is there.
#
#   sh tests/tidy/references.sh ROOT
#
# - a document (*.md) or, in comments and pages, a source file (*.h, *.cpp), named from the root of the tree or from the citing file's folder
# - a heading cited in quotes behind its document: docs/mounting.md, "Quick start" (a number or letter before a heading, as in "4. Journal", may be left out)
# - the target of a Markdown link
# - a requirement of a paper (MC1, CO1, HY1, AP1 ...): a row of docs/papers.md defines it
# - an outcome of a power cut (T0 ..., E0 ...) or a promise (C1 ...): docs/crash-model.md defines it, by a row or a numbered promise. Invariants of a
#   header that are numbered with one of these letters must not go beyond.
# Prints FILE:LINE: what and why, one a line. Exit 1 when something was found, 2 when ROOT has no such tree.
set -eu
root=${1:?usage: references.sh ROOT}
cd "$root"
if [ ! -f docs/papers.md ] || [ ! -f docs/crash-model.md ]; then
    echo "references: $root has no docs/papers.md and docs/crash-model.md" >&2
    exit 2
fi
listing=$(mktemp)
trap 'rm -f "$listing"' EXIT
find . \( -name .git -o -path './build*' \) -prune -o -type f -print | sed 's|^\./||' | LC_ALL=C sort > "$listing"

# The tests of these tests plant faults, so they are not read.
pages=$(grep -E '^([^/]*|(base|crash|docs|fs|ftl|nand|pram|tests|tools)/.*)\.md$' "$listing")
others=$(grep -E '^(base|crash|fs|ftl|nand|pram|tests|tools|docs)/.*(\.(h|cpp|sh|scd)|CMakeLists\.txt)$|^CMakeLists\.txt$|^\.clang-(format|tidy)$' "$listing" |
    grep -v '^tests/tidy/.*_test\.sh$' || true)

# shellcheck disable=SC2086 # the names are ours: no blanks
LC_ALL=C awk '
function report(where, what) {
    printf "%s:%d: %s\n", FILENAME, where, what
    found = 1
}
function folder_of(path) { return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/)) : "" }
function without_dots(path) { # a/b/../c is a/c
    while (match(path, /(^|\/)[^\/.][^\/]*\/\.\.\//)) {
        if (substr(path, RSTART, 1) == "/") path = substr(path, 1, RSTART) substr(path, RSTART + RLENGTH)
        else path = substr(path, RSTART + RLENGTH)
    }
    gsub(/(^|\/)\.\//, "/", path)
    return path
}
# The file of the tree that a name means, or "".
function resolve(name,    near) {
    sub(/^\//, "", name)
    if (name in is_file) return name
    near = without_dots(folder_of(FILENAME) name)
    return near in is_file ? near : ""
}
function heading_key(text) {
    gsub(/[`*]/, "", text)
    sub(/^[ \t]+/, "", text); sub(/[ \t]+$/, "", text)
    return text
}
# Comment, where the language has them; a page is all comment. A line break in a citation is the same as a blank.
function prose(line) {
    if (is_page) return line
    if (is_source) {
        if (line ~ /^[ \t]*TEST_CASE/) return line
        if (!match(line, /(^|[^:])\/\/+/)) return ""
        return substr(line, RSTART + RLENGTH)
    }
    return match(line, /(^|[ \t])#+([ \t]|$)/) ? substr(line, RSTART + RLENGTH) : ""
}
function check_heading(rest, file, where,    quoted) {
    if (!match(rest, /^[`)]*, *"[^"]+"/)) return
    quoted = substr(rest, 1, RLENGTH)
    sub(/^[^"]*"/, "", quoted); sub(/"$/, "", quoted)
    if (!((file, heading_key(quoted)) in is_heading)) report(where, file " has no heading \"" quoted "\"")
}
# Every name that ends like `pattern` in `text`; a citation that the line breaks off is kept for the next line.
function check_names(text, pattern, where,    rest, name, linked, file) {
    rest = text
    while (match(rest, pattern)) {
        name = substr(rest, RSTART, RLENGTH)
        linked = RSTART > 2 && substr(rest, RSTART - 2, 2) == "]("
        rest = substr(rest, RSTART + RLENGTH)
        if (rest ~ /^[A-Za-z0-9_]/ || name ~ /\/\//) continue # .html, .hpp; an address
        file = resolve(name)
        if (file == "" && linked && is_page) continue # check_links
        if (file == "") { report(where, name " is not there, neither from the root nor from here"); continue }
        if (file !~ /\.md$/) continue
        check_heading(rest, file, where)
        if (rest ~ /^[`)]*, *$/ || rest ~ /^[`)]*, *"[^"]*$/) { kept = rest; kept_file = file; kept_at = where }
    }
}
function check_codes(text, pattern, page, where,    rest, before, code, after) {
    rest = " " text
    while (match(rest, pattern)) {
        before = substr(rest, RSTART, 1)
        code = substr(rest, RSTART + 1, RLENGTH - 1)
        rest = substr(rest, RSTART + RLENGTH)
        after = substr(rest, 1, 1)
        if (before ~ /[A-Za-z0-9_$\\-]/ || after ~ /[A-Za-z0-9_]/) continue
        if (code == "C0") continue # promises count from 1
        if (!(code in defined)) report(where, code " is not defined in " page)
    }
}
function check_links(text, where,    rest, target) {
    rest = text
    while (match(rest, /\]\([^)]*\)/)) {
        target = substr(rest, RSTART + 2, RLENGTH - 3)
        rest = substr(rest, RSTART + RLENGTH)
        sub(/#.*/, "", target)
        if (target == "" || target ~ /^[a-z]+:/) continue
        target = without_dots(folder_of(FILENAME) target)
        sub(/\/$/, "", target)
        if (!(target in is_file) && !(target in is_folder)) report(where, "link to " target ", which is not there")
    }
}

reading == "listing" {
    is_file[$0] = 1
    for (path = $0; sub(/\/[^\/]*$/, "", path);) is_folder[path] = 1
    next
}
reading == "headings" {
    if (/^#+ /) {
        text = $0
        sub(/^#+ /, "", text)
        text = heading_key(text)
        is_heading[FILENAME, text] = 1
        if (sub(/^[0-9A-Z]\. /, "", text)) is_heading[FILENAME, text] = 1
    }
    if (FILENAME == "docs/papers.md" && match($0, /^\| (MC|CO|HY|AP)[0-9]+ \|/)) defined[$2] = 1
    if (FILENAME == "docs/crash-model.md" && match($0, /^\| [TE][0-9]+ \|/)) defined[$2] = 1
    if (FILENAME == "docs/crash-model.md" && /^[0-9]+\. \*\*/ && match($0, /\(C[0-9]+\)/)) defined[substr($0, RSTART + 1, RLENGTH - 2)] = 1
    next
}
FNR == 1 {
    kept = ""
    is_page = FILENAME ~ /\.(md|scd)$/
    is_source = FILENAME ~ /\.(h|cpp)$/
}
/^[ \t]*#[ \t]*include/ && is_source { next }
{
    text = prose($0)
    if (kept != "") {
        next_line = text
        sub(/^[ \t]+/, "", next_line)
        check_heading(kept " " next_line, kept_file, kept_at)
        kept = ""
    }
    whole = $0
    gsub(/\\"/, "\"", whole)
    # A message names its documents, too. Tests make files of any name, scripts and CMake move them.
    names = is_source && FILENAME !~ /^tests\// ? whole : text
    check_names(names, "[A-Za-z0-9_./-]*[A-Za-z0-9_-]\\.md", FNR)
    check_names(text, "[A-Za-z0-9_./-]*[A-Za-z0-9_-]\\.(h|cpp)", FNR)
    check_codes($0, ".(MC|CO|HY|AP)[0-9]+", "docs/papers.md", FNR)
    check_codes(text, ".[TEC][0-9]+", "docs/crash-model.md", FNR)
    if (is_page) check_links($0, FNR)
}
END { exit found ? 1 : 0 }
' reading=listing "$listing" reading=headings $pages reading=all $pages $others
