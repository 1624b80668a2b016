#!/usr/bin/env bash
# The package flashlab_device: its contract and misuse of it, the store of the examples cut everywhere, stores and packages that are wrong in one place.
# python_device.sh BUILD SOURCE [wheel]
#
# Without a third word it takes the shared library that is built already, in BUILD or beside it. With `wheel` it makes the wheel as a user does, by pip, which
# compiles the library (again only what has changed, in BUILD/wheel), installs it, and runs littlefs of PyPI on a chip.
set -euo pipefail
build=$(cd "${1:?usage: python_device.sh BUILD SOURCE [wheel]}" && pwd) source=$(cd "${2:?usage: python_device.sh BUILD SOURCE [wheel]}" && pwd) from=${3-}
here=$source/tests/packaging examples=$source/tests/examples/library package=$source/tools/library/python
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-device.XXXXXX")
trap 'rm -rf "$work"' EXIT
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }
mkdir "$work/packages"
python=python3
if [[ $from == wheel ]]; then
    python3 -c 'import venv, ensurepip' 2> /dev/null || skip "python3-venv is not installed"
    python3 -m venv "$work/env"
    python=$work/env/bin/python
    pip=("$work/env/bin/pip" --disable-pip-version-check -q)
    timeout 120 "${pip[@]}" download --no-deps -d "$work/backend" 'scikit-build-core>=0.10' > "$work/log" 2>&1 || skip "pip has no network: $(tail -n 1 "$work/log")"
    "${pip[@]}" wheel --no-deps -C build-dir="$build/wheel" -w "$work/wheel" "$package" > "$work/log" 2>&1 || die "pip wheel: $(tail -n 5 "$work/log")"
    compgen -G "$work/wheel/flashlab_device-*-py3-none-linux_*.whl" > /dev/null || die "no wheel that fits every Python of this machine: $(ls "$work/wheel")"
    "${pip[@]}" install --no-index --no-deps "$work"/wheel/*.whl > "$work/log" 2>&1 || die "install: $(tail -n 1 "$work/log")"
    cp -r "$work"/env/lib/python3*/site-packages/flashlab_device "$work/packages/"
else
    for folder in "$build" "$(dirname "$build")/library"; do
        if [[ -e $folder/libflashlab.so ]]; then break; fi
    done
    [[ -e $folder/libflashlab.so ]] || skip "no shared library is built: cmake --preset library && cmake --build --preset library"
    newer=$(cd "$source" && find base nand pram ftl crash fs tools/text tools/host tools/log tools/drive tools/library \( -name '*.h' -o -name '*.cpp' -o -name '*.def' \) \
        -newer "$folder/libflashlab.so" -print -quit)
    [[ -z $newer ]] || skip "$folder/libflashlab.so is older than $newer"
    cp -r "$package/flashlab_device" "$work/packages/"
    cp "$folder/libflashlab.so" "$work/packages/flashlab_device/"
fi
exported=$(nm -D --defined-only "$work/packages/flashlab_device/libflashlab.so" | awk '{print $3}' | grep -v '^flashlab_' || true)
[[ -z $exported ]] || die "the shared library shows more than its functions of C: $exported"
cd "$work"
export PYTHONPATH=$work/packages
"$python" "$here/python_device.py" || die "the package"
"$python" "$examples/store.py" || die "the store does not survive every cut"
code=0
"$python" "$examples/store.py" broken > out 2>&1 || code=$?
[[ $code -eq 1 ]] && grep -q 'cut at [0-9]* ns, seed [0-9]*: AssertionError: [0-9]* puts were acknowledged' out || die "a store without flush passes: code $code: $(tail -n 2 out)"
echo "a store without flush: $(tail -n 1 out)"
lines=$(awk '/^# --- the store/ {first = NR} /^# --- its test/ {print NR - first}' "$examples/store.py")
[[ $lines -le 60 ]] || die "the store has $lines lines"
if [[ $from == wheel ]]; then
    timeout 120 "${pip[@]}" install littlefs-python > log 2>&1 || skip "all but littlefs, which PyPI does not give: $(tail -n 1 log)"
    "$python" "$examples/littlefs_on_nand.py" || die "littlefs"
    for driver in once late; do
        code=0
        "$python" "$examples/littlefs_on_nand.py" "$driver" > out 2>&1 || code=$?
        [[ $code -eq 1 ]] && grep -q '^cut at [0-9]* ns' out || die "littlefs on a driver '$driver' passes: code $code: $(tail -n 2 out)"
        echo "littlefs on a driver '$driver': $(tail -n 1 out)"
    done
fi

wrong() { # WHAT FILE SED
    rm -rf wrong && mkdir wrong && cp -r packages/flashlab_device wrong/
    sed -i "$3" "wrong/flashlab_device/$2"
    if cmp -s "wrong/flashlab_device/$2" "packages/flashlab_device/$2"; then die "$1: nothing was changed"; fi
    code=0
    { PYTHONPATH=$work/wrong timeout 300 "$python" "$here/python_device.py"; } > out 2>&1 || code=$? # a crash, too, is told there
    [[ $code -ne 0 ]] || die "a package that $1 passes"
    echo "a package that $1: $(tail -n 1 out | cut -c 1-100)"
}
wrong "does not look whether it is closed" _c.py 's/if not getattr(self, "_object", None):/if False:/'
wrong "lets two threads in" _c.py 's/self._lock = threading.Lock()/import contextlib; self._lock = contextlib.nullcontext()/'
wrong "lets C cut off long numbers" _c.py 's/if not 0 <= number < 1 << bits:/if False:/'
wrong "cuts once for all seeds" cuts.py 's/(number + 1) \* seeds + 1)/number * seeds + 2)/'
wrong "draws the same at every instant" cuts.py 's/range(number \* seeds + 1, (number + 1) \* seeds + 1)/range(1, seeds + 1)/'
wrong "cuts at every other instant" cuts.py 's/instants\[::step\]/instants[::step * 2]/'
wrong "swallows what the judge says" cuts.py 's/raise CutFound(at_ns, seed, again_ns, error) from error/return []/'
wrong "does not cut the repair" cuts.py 's/for again_ns in again:/for again_ns in again[:0]:/'
wrong "takes half a sector" device.py 's/if len(content) % SECTOR_BYTES:/if False:/'
