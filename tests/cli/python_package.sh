#!/usr/bin/env bash
# The Python package: made into a wheel, installed by pip into an environment of its own, then its reports, logs, frames and errors; and packages that are
# wrong in one place, which must not pass.
# python_package.sh SOURCE
#
# Frames are tried with pandas where python3 has it, else with a stand-in of twenty lines. full=1: with pandas from PyPI.
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
source=${1:?usage: python_package.sh SOURCE}
checks=$(cd "$(dirname "$0")" && pwd)/python_package.py
export FLASHLAB PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-python.XXXXXX")
trap 'rm -rf "$work"' EXIT
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
python3 -c 'import venv, ensurepip' 2> /dev/null || { echo "skipped: python3-venv is not installed"; exit 77; }
python3 -m venv --system-site-packages "$work/env"
pip=("$work/env/bin/pip" --disable-pip-version-check -q)
cp -r "$source/tools/python" "$work/package"
timeout 120 "${pip[@]}" wheel --no-deps -w "$work/wheel" "$work/package" > "$work/log" 2>&1 ||
    "${pip[@]}" wheel --no-deps --no-build-isolation -w "$work/wheel" "$work/package" >> "$work/log" 2>&1 ||
    { echo "skipped: pip has no network, and setuptools or wheel is too old or not here: $(tail -n 1 "$work/log")"; exit 77; }
compgen -G "$work/wheel/flashlab-*-py3-none-any.whl" > /dev/null || die "no wheel that fits every Python: $(ls "$work/wheel")"
"${pip[@]}" install --no-index --no-deps "$work"/wheel/*.whl > "$work/log" 2>&1 || die "install: $(tail -n 1 "$work/log")"
if [[ -n ${full-} ]]; then timeout 300 "${pip[@]}" install pandas > "$work/log" 2>&1 || { echo "skipped: no pandas from PyPI: $(tail -n 1 "$work/log")"; exit 77; }; fi
cd "$work"
mkdir stand_in
"$work/env/bin/python" -c 'import pandas' 2> /dev/null || cat > stand_in/pandas.py << 'END'
__version__ = "is not here: a stand-in reads the frames"


class DataFrame:
    def __init__(self, columns, values):
        self.columns, self.values = columns, values

    def __len__(self):
        return len(self.values)

    def to_dict(self, form):
        assert form == "records"
        return [dict(zip(self.columns, row)) for row in self.values]

    def __getitem__(self, rows):
        return DataFrame(self.columns, self.values[rows])


def read_sql_query(sql, db, params=()):
    cursor = db.execute(sql, params)
    return DataFrame([column[0] for column in cursor.description], cursor.fetchall())
END
PYTHONPATH=stand_in env/bin/python "$checks" || die "the package"
PYTHONPATH=stand_in env/bin/python -c 'import flashlab, os; assert os.path.realpath(flashlab.__file__).startswith(os.path.realpath("env")), flashlab.__file__' ||
    die "not the installed package was tried"

wrong() { # WHAT SED
    rm -rf wrong && mkdir wrong && cp -r package/flashlab wrong/
    sed -i "$2" wrong/flashlab/__init__.py
    if cmp -s wrong/flashlab/__init__.py package/flashlab/__init__.py; then die "$1: nothing was changed"; fi
    code=0
    PYTHONPATH=wrong:stand_in env/bin/python "$checks" > out 2>&1 || code=$?
    [[ $code -eq 1 ]] && grep -q '^AssertionError' out || die "a package that $1 passes: code $code: $(tail -n 3 out)"
    echo "a package that $1: $(tail -n 1 out | cut -c 1-100)"
}
wrong "loses a frame's last row" 's/return pandas.read_sql_query(\(.*\))$/return pandas.read_sql_query(\1)[:-1]/'
wrong "loses a frame's first row" 's/return pandas.read_sql_query(\(.*\))$/return pandas.read_sql_query(\1)[1:]/'
wrong "loses a row" 's/for row in cursor\]/for row in list(cursor)[1:]]/'
wrong "mixes the columns" 's/names = \[\(.*\)\]$/names = [\1][::-1]/'
wrong "forgets the settings" 's/in (settings or {}).items()/in {}.items()/'
wrong "forgets an option" 's/options.items():/list(options.items())[:-1]:/'
wrong "loses a part of the report" 's/return json.loads(_run(words))/return {k: v for k, v in json.loads(_run(words)).items() if k != "iops"}/'
wrong "asks for fewer events" 's/"--log", log\]/"--log", "summary"]/'
wrong "keeps the log of a run" 's/tempfile.TemporaryDirectory(prefix="flashlab-")/type("T", (), {"name": tempfile.mkdtemp(dir=".")})()/'
