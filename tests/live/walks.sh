#!/usr/bin/env bash
# The walks of README.md, "From here to a picture", as they stand: each has five commands at most and ends with something to look at.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
begin 1024
command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
mkdir "$work/walk" "$work/bin"
ln -s "$FLASHLAB" "$work/bin/flashlab"
cd "$work/walk"
# walk1, walk2 ...: the indented blocks of the section.
awk '/^## From here to a picture/ { on = 1; next } /^## / { on = 0 } !on { next } /^    / { if (!inside) n++; inside = 1; print substr($0, 5) > ("walk" n); next } { inside = 0 }' \
    "$FLASHLAB_TREE/README.md"
walks=0
for walk in walk?; do
    walks=$((walks + 1))
    [[ $(wc -l < "$walk") -le 5 ]] || die "README.md: $walk has more than five commands"
    code=0
    PATH=$work/bin:$PATH timeout 200 bash -e -x "$walk" > "$walk.out" 2>&1 || code=$?
    [[ $code -eq 0 ]] || { fusermount3 -uz disk-mnt 2> /dev/null || true; die "$walk: code $code: $(tail -n 4 "$walk.out")"; }
done
"$FLASHLAB" umount disk-mnt || die "umount"
[[ $walks -eq 5 ]] || die "README.md has $walks walks"
for page in schemes database service; do
    grep -q '"name":"' "$page.html" || die "$page.html shows nothing"
done
for scheme in hftl dftl fast; do grep -q "\"name\":\"$scheme\"" schemes.html || die "schemes.html lacks $scheme"; done
[[ $(wc -l < latency.csv) -ge 3 ]] || die "latency.csv: $(cat latency.csv)"
grep -q 'waited_for' walk2.out && grep -q '^sqlite3 .*a.db' walk2.out || die "the database's walk blames nobody: $(cat walk2.out)"
grep -q 'collection' collection.html && grep -q '"mark":"stale"' collection.html || die "no collection happens in class"
grep -Eq '^lifetime: .*(years|days)' walk4.out || die "no lifetime: $(cat walk4.out)"
grep -q '^waf' walk5.out || die "smart: $(cat walk5.out)"
cd "$work"
say "ok: walks"
