#!/usr/bin/env bash
# The Python package, installed by pip into an environment of its own: reports, logs, errors.
# python_package.sh SOURCE
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
source=${1:?usage: python_package.sh SOURCE}
export FLASHLAB
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-python.XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 -c 'import venv, ensurepip' 2> /dev/null || { echo "skipped: python3-venv is not installed"; exit 77; }
python3 -m venv --system-site-packages "$work/env"
cp -r "$source/tools/python" "$work/package"
timeout 120 "$work/env/bin/pip" install -q --disable-pip-version-check "$work/package" > "$work/log" 2>&1 ||
    "$work/env/bin/pip" install -q --disable-pip-version-check --no-build-isolation --no-deps "$work/package" >> "$work/log" 2>&1 ||
    { echo "skipped: pip has no network, and setuptools is too old or not here: $(tail -n 1 "$work/log")"; exit 77; }
cd "$work"
env/bin/python - << 'END'
import flashlab

report = flashlab.bench(rw="randwrite", bs="4k", io_size="256k", preset="tiny", seed=3, settings={"ftl.scheme": "dftl"})
assert report["requests"] == 64 and report["waf"] >= 1 and report["ftl"] == "dftl", report
again, log = flashlab.bench(rw="randwrite", bs="4k", io_size="256k", preset="tiny", seed=3, settings={"ftl.scheme": "dftl"}, log="all")
assert again["latency_us"] == report["latency_us"]
assert log.rows("SELECT count(*) AS n FROM host_request")[0]["n"] == 64
report, log = flashlab.replay("workload:pc", limit=100, wrap=True, preset="tiny", log="requests")
assert report["requests"] == 100 and log.rows("SELECT count(*) AS n FROM run WHERE kind = ?", "replay") == [{"n": 1}]
assert flashlab.query(log.path, "SELECT 1 AS one") == [{"one": 1}]
import shutil
shutil.copy(log.path, "a?b#c%41.db")  # characters that an address of SQLite gives a meaning
assert flashlab.EventLog("a?b#c%41.db").rows("SELECT count(*) AS n FROM run")[0]["n"] == 1
for wrong, code in (({"bs": "1000"}, 2), ({"ftl": "nosuch"}, 2), ({"iosize": "1M"}, 2)):
    try:
        flashlab.bench(preset="tiny", **wrong)
    except flashlab.FlashLabError as error:
        assert error.code == code and str(error) and not str(error).startswith("flashlab:"), error
    else:
        raise AssertionError(f"{wrong} passes")
try:
    import pandas
except ImportError:
    print("without pandas: frames are not tried")
else:
    frame = log.frame("SELECT * FROM v_waf_by_cause")
    assert len(frame) > 0 and list(frame.columns), frame
assert flashlab.version()
END
