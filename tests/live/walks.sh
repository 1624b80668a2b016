#!/usr/bin/env bash
# The walks of README.md, "Five walks", as they stand: each has three commands at most and ends with something to look at.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
begin 1024
mkdir "$work/walk" "$work/bin"
ln -s "$FLASHLAB" "$work/bin/flashlab"
cd "$work/walk"
# walk1, walk2 ...: the indented blocks of the section.
awk '/^## Five walks/ { on = 1; next } /^## / { on = 0 } !on { next } /^    / { if (!inside) n++; inside = 1; print substr($0, 5) > ("walk" n); next } { inside = 0 }' \
    "$FLASHLAB_TREE/README.md"
# Runs the walk line by line; says the exit codes.
take() {
    local line code codes=""
    while IFS= read -r line; do
        code=0
        PATH=$work/bin:$PATH timeout 200 bash -c "$line" >> "$1.out" 2>&1 < /dev/null || code=$?
        codes+="$code "
    done < "$1"
    echo "$codes"
}
walks=0
for walk in walk?; do
    walks=$((walks + 1))
    [[ $(wc -l < "$walk") -le 3 ]] || die "README.md: $walk has more than three commands"
    codes=$(take "$walk")
    wanted=$(sed 's/.*/0/' "$walk" | tr '\n' ' ')
    if grep -q 'crash torture' "$walk"; then wanted="1 0 "; fi # the first loses a file, the second does not
    [[ $codes == "$wanted" ]] || { fusermount3 -uz disk-mnt 2> /dev/null || true; die "$walk: codes $codes: $(tail -n 4 "$walk.out")"; }
done
"$FLASHLAB" umount disk-mnt || die "umount"
[[ $walks -eq 5 ]] || die "README.md has $walks walks"
for page in schemes logger service; do
    grep -q '"name":"' "$page.html" || die "$page.html shows nothing"
done
for scheme in page_map hftl fast; do grep -q "\"name\":\"$scheme\"" schemes.html || die "schemes.html lacks $scheme"; done
grep -q 'fix: fsync(c.tmp) before line' walk2.out && grep -q 'fsync(c.tmp)' lost.html || die "the missing fsync is not named: $(cat walk2.out)"
! grep -q 'can lack its data' safe.html || die "the mended program is blamed"
grep -q 'collection' collection.html && grep -q '"mark":"stale"' collection.html || die "no collection happens in class"
grep -q 'waited_for' walk4.out && grep -Eq '^lifetime: .*(years|days)' walk4.out || die "no lifetime: $(cat walk4.out)"
grep -q '^waf' walk5.out || die "smart: $(cat walk5.out)"
! grep -Eq '^data_units_written +0( |$)' walk5.out || die "smart says that nothing was written"
cd "$work"
say "ok: walks"
