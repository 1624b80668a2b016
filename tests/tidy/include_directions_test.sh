#!/bin/sh
# The check is checked: each forbidden line, planted alone in a small tree, must be found, and the tree without it must pass.
set -eu
check=$(cd "$(dirname "$0")" && pwd)/include_directions.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

plant() { # FILE LINE
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/ftl/blocks" "$tree/ftl/recovery" "$tree/ftl/cache" "$tree/ftl/schemes" "$tree/base" "$tree/nand" "$tree/pram" "$tree/ftl" "$tree/crash/fs" "$tree/crash/apps" "$tree/fs/fuse" "$tree/tests/support"
    (mkdir "$tree/tools" && cd "$tree/tools" && mkdir -p text host log traces workloads drive live run reproduce/fat cli/commands attic)
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
refuses ftl/blocks/a.h '#include "ftl/recovery/meta_log.h"'
refuses ftl/blocks/a.h '#include "ftl/schemes/page_plan.h"'
refuses ftl/blocks/a.h '#include "fs/file_system.h"'
refuses ftl/recovery/a.cpp '#include "ftl/schemes/merge_ftl.h"'
refuses ftl/recovery/a.h '#include "ftl/cache/write_buffer.h"'
refuses ftl/cache/a.h '#include "ftl/blocks/page_blocks.h"'
accepts ftl/blocks/a.h '#include "ftl/blocks/block_ledger.h"'
accepts ftl/blocks/a.h '#include "ftl/ftl.h"'
accepts ftl/recovery/a.h '#include "ftl/blocks/page_blocks.h"'
accepts ftl/schemes/a.cpp '#include "ftl/recovery/meta_log.h"'
accepts ftl/schemes/a.cpp '#include "nand/nand_array.h"'
refuses ftl/a.cpp '#include "ftl/schemes/fast.h"'
refuses tools/run/a.cpp 'auto ftl = make_ftl(config, array, nullptr, range, events);'
refuses tests/a.cpp 'Ssd ssd{config, *ftl, array, nullptr, events};'
refuses crash/a.cpp 'ssd_ = std::make_unique<Ssd>(config, *ftl_, array, nullptr, events);'
accepts ftl/drive.cpp 'ssd_ = std::make_unique<Ssd>(config_, *ftl_, array_, pram_.get(), events_);'
accepts tools/run/a.h 'void run(Ssd& ssd); // make_ftl() made it'
accepts tools/run/a.h 'const Ssd& ssd() const { return drive_->ssd(); }'
refuses crash/a.h '#include "fs/file_system.h"'
refuses crash/a.h '#include "crash/fs/fs_stack.h"'
refuses crash/fs/a.h '#include "tools/text/json.h"'
refuses crash/apps/a.h '#include "ftl/ftl.h"'
refuses crash/apps/a.cpp 'auto t = std::chrono::steady_clock::now();'
refuses crash/a.h '#include "tools/text/json.h"'
refuses crash/a.cpp 'auto t = std::chrono::steady_clock::now();'
refuses fs/a.h '#include "ftl/ssd.h"'
refuses fs/a.h '#include "nand/geometry.h"'
refuses fs/a.h '#include "fs/fuse/mount.h"'
refuses fs/fuse/a.cpp '#include "ftl/ssd.h"'
refuses fs/fuse/a.cpp '#include "tools/text/json.h"'
refuses ftl/a.h '#include "tests/support/catch.h"'
refuses tools/cli/a.h '#include "sibling.h"'
refuses fs/a.cpp '#include <fuse3/fuse_lowlevel.h>'
refuses tools/cli/a.cpp '#include <fuse_lowlevel.h>'
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
refuses tools/cli/a.cpp "// $(printf 'TO%s' DO) later"
refuses tests/a.cpp "$(i=0; while [ $i -lt 401 ]; do echo 'int x;'; i=$((i + 1)); done)"

# The rooms of tools/: each arrow against the stream, and the libraries of one room.
for room in host log traces workloads drive live run reproduce cli; do refuses tools/text/a.h "#include \"tools/$room/a.h\""; done
for room in log traces workloads drive live run reproduce cli; do refuses tools/host/a.h "#include \"tools/$room/a.h\""; done
for room in traces workloads drive live run reproduce cli; do refuses tools/log/a.h "#include \"tools/$room/a.h\""; done
for room in workloads drive live run reproduce cli; do refuses tools/traces/a.h "#include \"tools/$room/a.h\""; done
for room in drive live run reproduce cli; do refuses tools/workloads/a.h "#include \"tools/$room/a.h\""; done
for room in traces workloads live run reproduce cli; do refuses tools/drive/a.h "#include \"tools/$room/a.h\""; done
for room in traces workloads run reproduce cli; do refuses tools/live/a.h "#include \"tools/$room/a.h\""; done
for room in live reproduce cli; do refuses tools/run/a.h "#include \"tools/$room/a.h\""; done
for room in live cli; do refuses tools/reproduce/a.h "#include \"tools/$room/a.h\""; done
refuses tools/a.h 'int in_no_room;'
refuses tools/attic/a.h 'int in_no_room;'
refuses tools/run/a.h '#include "tools/a.h"'
refuses tools/run/a.h '#include "tools/attic/a.h"'
refuses tools/text/a.h '#include "nand/geometry.h"'
refuses tools/drive/a.h '#include "fs/fuse/mount.h"'
refuses tools/run/a.h '#include "fs/fuse/mount.h"'
refuses tools/live/a.h '#include "ftl/ssd.h"'
refuses tools/run/a.h '#include "crash/fs/fs_stack.h"'
refuses tools/run/a.cpp '#include <CLI/CLI.hpp>'
refuses tools/run/a.cpp '#include <sqlite3.h>'
refuses tools/log/a.cpp '#include <nlohmann/json.hpp>'
refuses tools/cli/a.cpp '#include <toml++/toml.h>'

accepts fs/a.h '#include "ftl/block_device.h"'
accepts fs/a.h '#include "pram/pram.h"'
accepts ftl/a.h '#include "nand/geometry.h"'
accepts crash/a.h '#include "ftl/make_ftl.h"'
accepts crash/fs/a.h '#include "fs/file_system.h"'
accepts crash/apps/a.h '#include "fs/file_system.h"'
accepts fs/fuse/a.cpp '#include <fuse3/fuse_lowlevel.h>'
accepts fs/fuse/a.cpp 'auto t = std::chrono::steady_clock::now();'
accepts tools/cli/a.cpp '#include "ftl/ssd.h"'
accepts tools/text/a.cpp '#include <nlohmann/json.hpp>'
accepts tools/cli/commands/a.h '#include "tools/run/run_device.h"'
accepts tools/reproduce/fat/a.h '#include "tools/reproduce/experiment.h"'
accepts tools/run/a.h '#include "tools/traces/trace_reader.h"'
accepts tools/workloads/a.h '#include "tools/traces/trace_request.h"'
accepts tools/live/a.h '#include "fs/fuse/mount.h"'
accepts tools/traces/a.cpp '#include <sqlite3.h>'
accepts tests/a.cpp '#include "tools/cli/commands/bench.h"'
accepts tests/a.cpp '#include <nlohmann/json.hpp>'

echo "$failures wrong answers of the include check"
[ "$failures" -eq 0 ]
