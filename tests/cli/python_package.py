"""What the Python package gives, beside what the program and SQLite give. Run with the package, pandas (or the stand-in of python_package.sh) in the path."""
import contextlib
import json
import os
import pickle
import shutil
import sqlite3
import subprocess

import flashlab
import pandas

LOAD = {"rw": "randwrite", "bs": "4k", "io_size": "256k", "preset": "tiny", "seed": 3}
WORDS = ["bench", "--rw", "randwrite", "--bs", "4k", "--io-size", "256k", "--preset", "tiny", "--seed", "3", "--set", "ftl.scheme=dftl", "--json"]
HOST = ("wall_seconds", "requests_per_wall_second", "peak_rss_bytes")  # what depends on the machine


def simulated(report):
    return {key: value for key, value in report.items() if key not in HOST}


def reports():
    """A report is the program's, key by key."""
    report = flashlab.bench(settings={"ftl.scheme": "dftl"}, **LOAD)
    asked = json.loads(subprocess.run([os.environ["FLASHLAB"], *WORDS], check=True, capture_output=True).stdout)
    assert simulated(report) == simulated(asked), (report, asked)
    assert report.keys() == asked.keys() and report["requests"] == 64 and report["waf"] > 1 and report["ftl"] == "dftl", report


def same_rows(log, sql, *values):
    """As SQLite reads the file itself: each row, each column, in order."""
    with contextlib.closing(sqlite3.connect(log.path)) as db:
        cursor = db.execute(sql, values)
        names, expected = [column[0] for column in cursor.description], cursor.fetchall()
    assert log.rows(sql, *values) == [dict(zip(names, row)) for row in expected], sql
    frame = log.frame(sql, *values)
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == names, sql
    assert len(frame) == len(expected), f"{sql}: {len(frame)} rows of {len(expected)}"
    assert [tuple(row.values()) for row in frame.to_dict("records")] == expected, sql
    return expected


def logs():
    """A log is whole: as many rows as the report counts requests and pages, in rows() and in frames."""
    report, log = flashlab.bench(settings={"ftl.scheme": "dftl"}, log="all", **LOAD)
    assert len(same_rows(log, "SELECT * FROM host_request ORDER BY id")) == report["requests"]
    assert len(same_rows(log, "SELECT * FROM host_request WHERE id > ? AND id <= ? ORDER BY id", 10, 20)) == 10
    by_cause = same_rows(log, "SELECT * FROM v_waf_by_cause ORDER BY cause")
    assert sum(row[1] for row in by_cause) == report["nand_program_pages"] and len(by_cause) > 1, by_cause
    assert same_rows(log, "SELECT id FROM host_request WHERE id < 0") == []
    report, log = flashlab.replay("workload:pc", limit=100, wrap=True, preset="tiny", log="requests")
    assert report["requests"] == 100 and same_rows(log, "SELECT count(*) AS n FROM run WHERE kind = ?", "replay") == [(1,)]
    assert flashlab.query(log.path, "SELECT 1 AS one") == [{"one": 1}]
    shutil.copy(log.path, "a?b#c%41.db")  # characters that an address of SQLite gives a meaning
    assert same_rows(flashlab.EventLog("a?b#c%41.db"), "SELECT count(*) AS n FROM run") == [(1,)]
    path = log.path
    del log
    assert not os.path.exists(path), "the log of a run stays"


def errors():
    for wrong, code in (({"bs": "1000"}, 2), ({"ftl": "nosuch"}, 2), ({"iosize": "1M"}, 2)):
        try:
            flashlab.bench(preset="tiny", **wrong)
        except flashlab.FlashLabError as error:
            assert error.code == code and str(error) and not str(error).startswith("flashlab:"), error
            assert pickle.loads(pickle.dumps(error)).code == code  # as multiprocessing does
        else:
            raise AssertionError(f"{wrong} passes")
    try:
        flashlab.EventLog("nosuch.db")
    except FileNotFoundError:
        pass
    else:
        raise AssertionError("a log that is not there is opened")


reports()
logs()
errors()
assert flashlab.version()
print(f"pandas {pandas.__version__}")
