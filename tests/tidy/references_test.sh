#!/bin/sh
# The check is checked: each reference that leads nowhere, planted alone in a small tree, must be found, and each that is right must pass.
set -eu
check=$(cd "$(dirname "$0")" && pwd)/references.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

plant() { # FILE LINE [LINE]
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/docs" "$tree/ftl/cache" "$tree/nand" "$tree/fs" "$tree/tests/live" "$tree/tools"
    printf '# Papers\n\n| code | what |\n|---|---|\n| MC1 | channels |\n| CO12 | in order |\n' > "$tree/docs/papers.md"
    printf '# Cuts\n\n| T0 | did not begin |\n| E4 | a mixture |\n\n1. **Flushed is durable (C1).** It is.\n8. **Failing blocks (C8)** *(planned)*.\n' \
        > "$tree/docs/crash-model.md"
    printf '# Why\n\n## What differs, and `why`\n\n## 4. Journal\n' > "$tree/ftl/DESIGN.md"
    printf '#include "gone.h"\n#include <gone/away.h>\n#pragma once\n' > "$tree/ftl/ssd.h"
    printf '# FlashLab\n' > "$tree/README.md"
    shift_to=$1
    shift
    printf '%s\n' "$@" >> "$tree/$shift_to"
}
refuses() {
    plant "$@"
    if sh "$check" "$tree" > "$tree/out"; then
        echo "not found: $*"
        failures=$((failures + 1))
    elif [ "$(wc -l < "$tree/out")" -ne 1 ]; then
        echo "more than one finding for $*"; cat "$tree/out"
        failures=$((failures + 1))
    fi
}
accepts() {
    plant "$@"
    if ! sh "$check" "$tree" > "$tree/out"; then
        echo "refused though right: $*"; cat "$tree/out"
        failures=$((failures + 1))
    fi
}

# Documents that are not there: in a header, a source, a message, a test, a script, CMake, a page; a folder's page cited from another folder.
refuses nand/a.h '/// Source     CRASH.md for the outcomes.'
refuses nand/a.h '/// Source     DESIGN.md.'
refuses nand/a.h 'int x; // DESIGN.md tells'
refuses tools/a.cpp 'fail("why: docs/gone.md");'
refuses tests/a.cpp 'TEST_CASE("the bytes are those of FORMAT.md", "[nand]") {'
refuses tests/live/a.sh '# docs/gone.md tells'
refuses CMakeLists.txt '# figures for ftl/GONE.md'
refuses docs/traces.md 'see cache/DESIGN.md'
refuses docs/traces.md 'see ../../ftl/DESIGN.md'
refuses ftl/cache/NOTES.md 'see `DESIGN.md`'
# Source files.
refuses nand/a.h '/// Invariant  as in page_blocks.h.'
refuses nand/a.h '/// Invariant  as in ssd.h.'
refuses docs/traces.md 'code: `ftl/gone.cpp`'
# Headings that are not there: after the name, after a link, in a message, broken over two lines before and within the quotes.
refuses nand/a.h '/// Why: ftl/DESIGN.md, "Order".'
refuses ftl/a.h '/// Why: DESIGN.md, "What differs".'
refuses docs/traces.md 'see [why](../ftl/DESIGN.md), "Order"'
refuses docs/traces.md 'see `ftl/DESIGN.md`, "Order"'
refuses tools/a.cpp 'fail("why: ftl/DESIGN.md, \"Order\"");'
refuses nand/a.h '/// Why: ftl/DESIGN.md,' '///      "Order".'
refuses nand/a.h '/// Why: ftl/DESIGN.md, "What differs,' '///      and how".'
# Codes that nobody defines.
refuses nand/a.h '/// MC2.'
refuses ftl/a.h 'int n; ///< CO13: N'
refuses tools/a.cpp 'Source{"x", "HY2: the filter"},'
refuses docs/traces.md 'one DRAM (AP1)'
refuses docs/traces.md 'from MC1 to MC8'
refuses nand/a.h 'x, ///< T7'
refuses nand/a.h '// T0..T5'
refuses ftl/a.cpp 'int x; // E0 leaves it'
refuses docs/traces.md '| nothing | C2 |'
refuses tests/a.cpp '// The contract C1..C9'
refuses tests/live/a.sh 'x=1 # C15'
# Links.
refuses docs/traces.md '[gone](gone.md), "Part"'
refuses docs/traces.md '[gone](../nand)' '[there](../ftl)'
refuses README.md '[picture](docs/rooms.svg)'
refuses README.md '[part](docs/gone#part)'

accepts nand/a.h '/// Why: ftl/DESIGN.md, "What differs, and why"; docs/crash-model.md, T0 to E4, C1.'
accepts ftl/a.h '/// Why: DESIGN.md, "Journal" and ssd.h.'
accepts ftl/a.h '/// Why: DESIGN.md, "What differs,' '///      and why".'
accepts docs/traces.md 'see [why](../ftl/DESIGN.md), "4. Journal"; MC1, CO12 (C8), https://example.org/GONE.md and [it](https://example.org/gone)'
accepts docs/traces.md '[here](#part), [there](papers.md#part), [folder](../ftl/), `gone.html`, AMC2, T0'
accepts nand/a.cpp 'template <class T7> void f(T7 c, E9 d) { g("\xC3", 0xE7); }'
accepts tests/a.cpp 'write("notes.md"); // one of many'
accepts tests/live/a.sh 'cp "$x/notes.md" "$y" # C0 + rate, fsck -C0'
accepts tests/tidy_test.cpp 'int x;'

plant README.md ''
rm "$tree/docs/papers.md"
if sh "$check" "$tree" > "$tree/out" 2>&1; then echo "passes without docs/papers.md"; failures=$((failures + 1)); fi

echo "$failures wrong answers of the reference check"
[ "$failures" -eq 0 ]
