#!/usr/bin/env python3
"""CPU seconds of the compiler after a change of these files, objects of the program only (not of its tests), without ccache.

    python3 tests/tidy/rebuild_cost.py build/release ftl/ftl.h ftl/schemes/page_map.h [--every N]

The build directory has to be configured (compile_commands.json); nothing in it is changed. --every N compiles each N-th of the objects that include
the file and multiplies; the line says how many were compiled. Compiler and flags are those of the directory."""
import argparse
import json
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("build", type=pathlib.Path)
arguments.add_argument("changed", nargs="+")
arguments.add_argument("--every", type=int, default=1)
asked = arguments.parse_args()

commands = json.loads((asked.build / "compile_commands.json").read_text())
root = pathlib.Path(re.search(r"CMAKE_HOME_DIRECTORY:INTERNAL=(.*)", (asked.build / "CMakeCache.txt").read_text()).group(1))
includes = {}


def included_by(name):
    """The files of this tree that a file includes, directly or through others."""
    if name not in includes:
        includes[name] = set()
        text = (root / name).read_text(errors="replace") if (root / name).is_file() else ""
        for other in re.findall(r'^#include "([^"]+)"', text, re.M):
            includes[name] |= {other} | included_by(other)
    return includes[name]


def seconds_to_compile(entry):
    words = [word for word in shlex.split(entry["command"]) if not word.endswith("ccache")]
    with tempfile.NamedTemporaryFile(suffix=".o") as made:
        words[words.index("-o") + 1] = made.name
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, cwd=entry["directory"], check=True, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


sources = {}
for entry in commands:
    name = pathlib.Path(entry["file"]).resolve()
    if name.is_relative_to(root) and not name.is_relative_to(root / "tests") and not name.is_relative_to(asked.build.resolve()):
        sources.setdefault(str(name.relative_to(root)), entry)
for changed in asked.changed:
    if not (root / changed).is_file():
        sys.exit(f"rebuild_cost: no {changed} in this tree")
    needed = sorted(name for name in sources if changed == name or changed in included_by(name))
    chosen = needed[:: asked.every]
    seconds = sum(seconds_to_compile(sources[name]) for name in chosen)
    print(f"{changed}: {len(needed)} objects, {seconds * len(needed) / max(1, len(chosen)):.0f} CPU s ({len(chosen)} compiled)", flush=True)
