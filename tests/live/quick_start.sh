#!/usr/bin/env bash
# The quick start of docs/mounting.md, line by line as it stands, from mkdir to fsck.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
begin 1024
command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
mkdir "$work/start" "$work/bin"
ln -s "$FLASHLAB" "$work/bin/flashlab"
cd "$work/start"
awk '/^## Quick start/ { on = 1; next } /^## / { on = 0 } on && /^    / { print substr($0, 5) }' "$FLASHLAB_TREE/docs/mounting.md" |
    sed -n '/^mkdir mnt/,$p' | sed 's|/usr/include|/usr/include/linux|' > commands # less to copy
grep -q '^flashlab mount dev mnt' commands && grep -q 'fsck dev' commands || die "docs/mounting.md has no quick start"
PATH=$work/bin:$PATH timeout 200 bash -e -x commands > out 2>&1 || { fusermount3 -uz mnt 2> /dev/null || true; die "$(tail -n 4 out)"; }
grep -q clean out || die "fsck says nothing: $(tail -n 3 out)"
cd "$work"
