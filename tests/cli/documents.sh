#!/usr/bin/env bash
# The command lines of the documents work as they stand. A block that follows "<!-- run" is run line by line; "<!-- run long" only with full=1,
# "<!-- run fuse" only where a drive can be mounted and sqlite3 is installed.
# documents.sh SOURCE
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
source=${1:?usage: documents.sh SOURCE}
fuse=""
if [[ -r /dev/fuse && -w /dev/fuse ]] && command -v fusermount3 sqlite3 > /dev/null; then fuse=1; fi
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-documents.XXXXXX")
clean_up() {
    while read -r _ mount_point _; do
        if [[ $mount_point == "$work"/* ]]; then fusermount3 -u -z "$mount_point" || true; fi
    done < /proc/self/mounts
    rm -rf "$work"
}
trap clean_up EXIT
mkdir "$work/bin"
ln -s "$FLASHLAB" "$work/bin/flashlab"
PATH=$work/bin:$PATH
pages=0
for page in "$source"/README.md "$source"/docs/*.md; do
    folder=$work/${page#"$source"/}
    folder=${folder%.md}.folder # two pages are called README
    mkdir -p "$folder"
    # Blocks that are saved under a name, and blocks that are run.
    awk -v folder="$folder" -v full="${full-}" -v fuse="$fuse" '
        /^<!-- run/ { wanted = ($0 !~ /^<!-- run long/ || full != "") && ($0 !~ /^<!-- run fuse/ || fuse != ""); next }
        /^```/ && !inside { inside = 1; kind = substr($0, 4); if (kind == "toml") text = ""; next }
        /^```/ { if (kind == "toml") { printf "%s", text > (folder "/block.toml"); close(folder "/block.toml") } inside = 0; wanted = 0; next }
        inside && kind == "toml" { text = text $0 "\n" }
        inside && kind == "sh" && wanted { print > (folder "/commands") }
        match($0, /Save this as `[^`]*`/) { print substr($0, RSTART + 14, RLENGTH - 15) > (folder "/name") }' "$page"
    [[ -s $folder/commands ]] || continue
    pages=$((pages + 1))
    [[ ! -s $folder/name ]] || cp "$folder/block.toml" "$folder/$(cat "$folder/name")"
    (cd "$folder" && bash -e -x commands > out 2>&1) || { echo "FAILED: $page: $(tail -n 3 "$folder/out")" >&2; exit 1; }
done
[[ $pages -gt 0 ]] || { echo "FAILED: no document has a block to run" >&2; exit 1; }
echo "$pages pages"
