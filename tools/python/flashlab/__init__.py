"""FlashLab from Python.

    import flashlab
    report = flashlab.bench(rw="randwrite", bs="4k", io_size="8M", preset="tiny", settings={"ftl.scheme": "dftl"})
    report["waf"], report["latency_us"]["p99"]
    report, log = flashlab.replay("workload:pc", limit=2000, wrap=True, preset="tiny", log="all")
    log.frame("SELECT * FROM v_waf_by_cause")            # a DataFrame, where pandas is installed

The package calls the program flashlab: the one that the variable FLASHLAB names, else the first in PATH. Options have the names of the command line,
with _ for -; True is a flag. A command that fails raises FlashLabError with the program's message.
"""

import contextlib
import json
import os
import sqlite3
import subprocess
import tempfile
import urllib.parse

__all__ = ["FlashLabError", "EventLog", "bench", "replay", "query", "version"]


class FlashLabError(RuntimeError):
    """What the program said, and its exit code."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code

    def __reduce__(self):  # to another process
        return type(self), (self.args[0], self.code)


class EventLog:
    """An event log, or a database of a sweep: an SQLite file. A log made by bench() or replay() is removed with this object."""

    def __init__(self, path, _folder=None):
        self.path = os.fspath(path)
        self._folder = _folder  # lives as long as the log
        if not os.path.exists(self.path):
            raise FileNotFoundError(self.path)

    def _open(self):
        return contextlib.closing(sqlite3.connect(f"file:{urllib.parse.quote(self.path)}?mode=ro", uri=True))

    def rows(self, sql, *values):
        """The rows of a query as dicts."""
        with self._open() as db:
            cursor = db.execute(sql, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row)) for row in cursor]

    def frame(self, sql, *values):
        """The rows of a query as a pandas DataFrame."""
        import pandas

        with self._open() as db:
            return pandas.read_sql_query(sql, db, params=values)


def _run(words):
    program = os.environ.get("FLASHLAB", "flashlab")
    done = subprocess.run([program, *words], capture_output=True, encoding="utf-8", errors="replace", check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise FlashLabError(lines[-1].removeprefix("flashlab: "), done.returncode)
    return done.stdout


def _words(settings, options):
    words = []
    for key, value in (settings or {}).items():
        words += ["--set", f"{key}={int(value) if isinstance(value, bool) else value}"]
    for key, value in options.items():
        if value is None or value is False:
            continue
        for each in value if isinstance(value, (list, tuple)) else [value]:  # queue=["rw=randread", "rw=randwrite,priority=low"]
            words.append("--" + key.replace("_", "-"))
            if each is not True:
                words.append(str(each))
    return words


def _measure(words, settings, log, options):
    words = words + _words(settings, options) + ["--json"]
    if log is None:
        return json.loads(_run(words))
    folder = tempfile.TemporaryDirectory(prefix="flashlab-")
    path = os.path.join(folder.name, "events.db")
    report = json.loads(_run(words + ["--events", path, "--log", log]))
    return report, EventLog(path, folder)


def bench(settings=None, log=None, **options):
    """flashlab bench: the report as a dict; with log="summary", "requests" or "all" the pair of report and EventLog."""
    return _measure(["bench"], settings, log, options)


def replay(trace, settings=None, log=None, **options):
    """flashlab replay: as bench()."""
    return _measure(["replay", os.fspath(trace)], settings, log, options)


def query(target, sql):
    """flashlab query: rows as dicts, of a drive, a mount or a database; of a mount the newest rows, too."""
    return json.loads(_run(["query", os.fspath(target), sql, "--json"]))


def version():
    return _run(["--version"]).split()[-1]
