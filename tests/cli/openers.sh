#!/usr/bin/env bash
# The event log in pandas, Datasette and DuckDB: each reads tables and views, and gets what sqlite says. Each is looked for in python3, and left out where it is
# not; skipped (77) where none is there. With VENV=1 they are installed from PyPI into a temporary folder first.
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-openers.XXXXXX")
trap 'rm -rf "$work"' EXIT
python=$(command -v python3) || { echo "skipped: no python3"; exit 77; }
if [[ -n ${VENV-} ]]; then
    # An extension is of one version of DuckDB.
    python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q --disable-pip-version-check pandas datasette duckdb==1.5.5 duckdb-extensions==1.5.5 \
        duckdb-extension-sqlite-scanner==1.5.5 > "$work/pip" 2>&1 || { echo "skipped: PyPI does not give them: $(tail -n 1 "$work/pip")"; exit 77; }
    python=$work/venv/bin/python
fi
export HOME=$work # DuckDB puts its extension there
failures=0
wrong() { printf 'WRONG: %s\n' "$*"; failures=$((failures + 1)); }
log=$work/events.db
"$FLASHLAB" bench --preset tiny --ftl dftl --rw randrw --bs 4k --io-size 8M --iodepth 4 --log all --events "$log" > "$work/out" 2>&1 || wrong "bench: $(cat "$work/out")"
# What every opener must say: rows of a table, a simple view, and the view that is hardest to run.
cat > "$work/said.py" <<'P'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    expected = [db.execute(sql).fetchone() for sql in ("SELECT count(*), sum(dur_ns) FROM host_request", "SELECT waf FROM v_waf", "SELECT sum(ns) FROM v_blame")]
assert expected[0][0] == 2048 and expected[2][0] > 0, expected
P
cat > "$work/pandas.py" <<'P'
import pandas
exec(open(sys.argv[2] + "/said.py").read())
with sqlite3.connect(sys.argv[1]) as db:
    requests = pandas.read_sql("SELECT * FROM host_request", db)
    assert (len(requests), requests.dur_ns.sum()) == expected[0], "rows"
    assert str(requests.dur_ns.dtype) == "int64", requests.dtypes
    assert pandas.read_sql("SELECT * FROM v_waf", db).waf[0] == expected[1][0], "v_waf"
    assert pandas.read_sql("SELECT * FROM v_blame", db).ns.sum() == expected[2][0], "v_blame"
P
cat > "$work/datasette.py" <<'P'
import datasette, json, subprocess
exec(open(sys.argv[2] + "/said.py").read())
def get(path):
    got = subprocess.run([sys.executable, "-m", "datasette", sys.argv[1], "--get", path], capture_output=True, text=True, timeout=60)
    assert got.returncode == 0, got.stderr
    return json.loads(got.stdout)
counted = get("/events.json?_shape=array&sql=SELECT+count(*)+AS+n,sum(dur_ns)+AS+ns+FROM+host_request")[0]
assert (counted["n"], counted["ns"]) == expected[0], "rows"
assert get("/events/v_waf.json?_shape=array")[0]["waf"] == expected[1][0], "v_waf"
assert sum(row["ns"] for row in get("/events/v_blame.json?_shape=array")) == expected[2][0], "v_blame"
P
cat > "$work/duckdb.py" <<'P'
import duckdb
exec(open(sys.argv[2] + "/said.py").read())
db = duckdb.connect()
try:
    from duckdb_extensions import import_extension
    import_extension("sqlite_scanner")
except ImportError:
    pass
try:
    db.execute("LOAD sqlite_scanner")
except duckdb.Error:
    sys.exit(77)  # it cannot be had here
one = lambda sql: db.execute(sql).fetchone()
db.execute(f"ATTACH '{sys.argv[1]}' AS log (TYPE sqlite, READ_ONLY)")
assert one("SELECT count(*), sum(dur_ns) FROM log.host_request") == expected[0], "rows"
ask = lambda sql: float(one(f"SELECT * FROM sqlite_query('log', '{sql}')")[0])
assert ask("SELECT waf FROM v_waf") == expected[1][0], "v_waf"
assert ask("SELECT sum(ns) FROM v_blame") == expected[2][0], "v_blame"
db.execute(f"COPY (FROM log.host_request) TO '{sys.argv[2]}/requests.parquet'")
assert one(f"SELECT count(*), sum(dur_ns) FROM '{sys.argv[2]}/requests.parquet'") == expected[0], "parquet"
P
opened=()
for opener in pandas datasette duckdb; do
    "$python" -c "import $opener" 2> /dev/null || continue
    code=0
    # Run from the folder of the modules' namesakes, a script would import itself.
    (cd / && timeout 120 "$python" -c "import sys; sys.argv = ['', '$log', '$work']; exec(open('$work/$opener.py').read())") > "$work/out" 2>&1 || code=$?
    [[ $code -eq 77 ]] && continue
    [[ $code -eq 0 ]] || wrong "$opener: $(tail -n 3 "$work/out")"
    opened+=("$opener")
done
[[ $failures -eq 0 ]] || exit 1
[[ ${#opened[@]} -gt 0 ]] || { echo "skipped: neither pandas nor Datasette nor DuckDB is installed"; exit 77; }
[[ -z ${VENV-} || ${#opened[@]} -eq 3 ]] || { echo "WRONG: from PyPI only ${opened[*]} opened it"; exit 1; }
echo "ok: openers (${opened[*]})"
