#!/bin/sh
# The check is checked: each forbidden line, planted alone in a small tree, must be found, and the tree without it must pass.
set -eu
check=$(cd "$(dirname "$0")" && pwd)/include_directions.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

plant() { # FILE LINE
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/base" "$tree/nand" "$tree/pram" "$tree/ftl" "$tree/crash/fs" "$tree/fs/fuse" "$tree/tools" "$tree/tests/support"
    printf '#include "base/id.h"\n#include <vector>\n// the wall says steady_clock\n' > "$tree/base/id.h"
    printf '%s\n' "$2" >> "$tree/$1"
}
refuses() {
    plant "$1" "$2"
    if sh "$check" "$tree" > "$tree/out"; then
        echo "not found: $1: $2"
        failures=$((failures + 1))
    elif [ "$(wc -l < "$tree/out")" -ne 1 ]; then
        echo "more than one finding for $1: $2"; cat "$tree/out"
        failures=$((failures + 1))
    fi
}
accepts() {
    plant "$1" "$2"
    if ! sh "$check" "$tree" > "$tree/out"; then
        echo "refused though right: $1: $2"; cat "$tree/out"
        failures=$((failures + 1))
    fi
}

refuses base/a.h '#include "nand/geometry.h"'
refuses nand/a.h '#include "pram/pram.h"'
refuses pram/a.h '#include "nand/geometry.h"'
refuses nand/a.cpp '#include "ftl/ftl.h"'
refuses ftl/a.h '#include "fs/file_system.h"'
refuses ftl/a.h '#include "crash/reference_model.h"'
refuses crash/a.h '#include "fs/file_system.h"'
refuses crash/a.h '#include "crash/fs/fs_stack.h"'
refuses crash/fs/a.h '#include "tools/text/json.h"'
refuses crash/a.h '#include "tools/text/json.h"'
refuses crash/a.cpp 'auto t = std::chrono::steady_clock::now();'
refuses fs/a.h '#include "ftl/ssd.h"'
refuses fs/a.h '#include "nand/geometry.h"'
refuses fs/a.h '#include "fs/fuse/mount.h"'
refuses fs/fuse/a.cpp '#include "ftl/ssd.h"'
refuses fs/fuse/a.cpp '#include "tools/text/json.h"'
refuses ftl/a.h '#include "tests/support/catch.h"'
refuses tools/a.h '#include "sibling.h"'
refuses fs/a.cpp '#include <fuse3/fuse_lowlevel.h>'
refuses tools/a.cpp '#include <fuse_lowlevel.h>'
refuses fs/fuse/a.cpp '#include <nlohmann/json.hpp>'
refuses ftl/a.cpp '#include <sqlite3.h>'
refuses ftl/a.cpp '#include <toml++/toml.h>'
refuses fs/a.cpp '#include <CLI/CLI.hpp>'
refuses nand/a.cpp 'auto t = std::chrono::steady_clock::now();'
refuses fs/a.cpp 'auto t = std::chrono::system_clock::now();'
refuses pram/a.cpp 'if (getenv("HOME")) return;'
refuses ftl/a.cpp 'std::thread t;'
refuses ftl/a.cpp 'std::mutex m;'
refuses nand/a.cpp 'std::random_device d;'
refuses tools/a.cpp "// $(printf 'TO%s' DO) later"
refuses tests/a.cpp "$(i=0; while [ $i -lt 401 ]; do echo 'int x;'; i=$((i + 1)); done)"

accepts fs/a.h '#include "ftl/block_device.h"'
accepts fs/a.h '#include "pram/pram.h"'
accepts ftl/a.h '#include "nand/geometry.h"'
accepts crash/a.h '#include "ftl/make_ftl.h"'
accepts crash/fs/a.h '#include "fs/file_system.h"'
accepts fs/fuse/a.cpp '#include <fuse3/fuse_lowlevel.h>'
accepts fs/fuse/a.cpp 'auto t = std::chrono::steady_clock::now();'
accepts tools/a.cpp '#include "ftl/ssd.h"'
accepts tools/a.cpp '#include <nlohmann/json.hpp>'
accepts tests/a.cpp '#include <nlohmann/json.hpp>'

echo "$failures wrong answers of the include check"
[ "$failures" -eq 0 ]
