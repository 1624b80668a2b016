#!/bin/sh
# The architecture, checked: reads every #include and fails on an arrow that the drawing in docs/architecture.md does not have.
#
#   sh tests/tidy/include_directions.sh ROOT
#
# The rooms of tools/ have arrows of their own: text and host at the bottom, cli on top, and nothing includes cli (docs/architecture.md). So have the shelves
# of ftl/: schemes stand on maps, recovery, cache and blocks, maps on the three, recovery on blocks; every shelf sees the contracts that lie in ftl/ itself.
# Also refused: libraries outside their folder (libfuse: fs/fuse; JSON: text, SQLite: log, toml++: drive, CLI11: cli), a clock, an environment or a thread
# below fs/fuse (every run there is a pure function of configuration, input and seed), files longer than 400 lines, and unfinished-work marks.
# And a second place that puts a drive together: array, PRAM, scheme and Ssd come from ftl/drive.cpp, and schemes from their list, ftl/schemes.def.
# Prints FILE:LINE: what and why, one a line. Exit 1 when something was found, 2 when ROOT holds no sources at all.
set -eu
root=${1:?usage: include_directions.sh ROOT}
cd "$root"

files=$(find base nand pram ftl crash fs tools tests -type f \( -name '*.h' -o -name '*.cpp' \) 2>/dev/null | LC_ALL=C sort)
if [ -z "$files" ]; then
    echo "include_directions: no sources under $root" >&2
    exit 2
fi

# shellcheck disable=SC2086 # the names are ours: no blanks
awk '
function folder_of(path) {
    if (path ~ /^fs\/fuse\//) return "fs/fuse"
    if (path ~ /^crash\/fs\//) return "crash/fs"
    if (path ~ /^crash\/apps\//) return "crash/apps"
    if (match(path, /^tools\/[^\/]*\//)) return substr(path, 1, RLENGTH - 1)
    sub(/\/.*/, "", path)
    return path
}
function shelf_of(path) {
    if (match(path, /^ftl\/[^\/]*\//)) return substr(path, 1, RLENGTH - 1)
    return "ftl"
}
function report(what) {
    printf "%s:%d: %s\n", FILENAME, FNR, what
    found = 1
}
function count_lines() {
    if (lines > 400) {
        printf "%s:%d: %d lines; a file fits in 400: split it\n", previous, lines, lines
        found = 1
    }
}
function check_own(target,    to) {
    to = folder_of(target)
    if (!(folder in is_folder)) return # said already
    if (!(to in is_folder)) {
        report("\"" target "\" is not written from the root of the tree")
    } else if (folder == "fs" && to == "ftl") {
        if (target != "ftl/block_device.h") report("fs sees of ftl only ftl/block_device.h, not " target)
    } else if (!((folder, to) in allowed)) {
        report("no arrow " folder " -> " to " (" target ")")
    } else if (folder == "ftl" && to == "ftl" && !((shelf_of(FILENAME), shelf_of(target)) in allowed)) {
        report("no arrow " shelf_of(FILENAME) " -> " shelf_of(target) " (" target ")")
    }
}
function check_library(target,    i) {
    for (i = 1; i <= libraries; i++)
        if (target ~ library[i] && index(" " home[i] " ", " " folder " ") == 0 && folder != "tests")
            report("<" target "> belongs to " home[i] " alone, not to " folder)
}
function check_purity(    word, i) {
    for (i = 1; i <= impurities; i++)
        if (match($0, impure[i])) report(reason[i] ": " substr($0, RSTART, RLENGTH))
}
# A room of tools/ sees itself, these other rooms and these folders below.
function allow_room(room, others, below,    names, n, i) {
    n = split(others, names, " ")
    for (i = 1; i <= n; i++) below = below " tools/" names[i]
    allow("tools/" room, "tools/" room " " below " base")
    allow("tests", "tools/" room)
}
# A shelf of ftl/ sees itself, ftl/ and these others; ftl/ sees it.
function allow_shelf(shelf, others,    names, n, i) {
    n = split(shelf " ftl " others, names, " ")
    for (i = 1; i <= n; i++) allowed[shelf, names[i]] = 1
    allowed["ftl", shelf] = 1
}
function allow(from, to,    names, n, i) {
    is_folder[from] = 1
    n = split(to, names, " ")
    for (i = 1; i <= n; i++) allowed[from, names[i]] = 1
}
function library_of(pattern, folder) { library[++libraries] = pattern; home[libraries] = folder }
function refuse(pattern, why) { impure[++impurities] = pattern; reason[impurities] = why }

BEGIN {
    allow("base", "base")
    allow("nand", "nand base")
    allow("pram", "pram base")
    allow("ftl", "ftl nand pram base")
    allow_shelf("ftl/blocks", "")
    allow_shelf("ftl/cache", "")
    allow_shelf("ftl/host", "")
    allow_shelf("ftl/recovery", "ftl/blocks")
    allow_shelf("ftl/maps", "ftl/blocks ftl/cache ftl/recovery")
    allow_shelf("ftl/schemes", "ftl/blocks ftl/cache ftl/maps ftl/recovery")
    delete allowed["ftl", "ftl/schemes"] # they are known by their list
    allow("crash", "crash ftl nand pram base")
    allow("crash/fs", "crash/fs crash fs ftl nand pram base")
    allow("crash/apps", "crash/apps fs base")
    allow("fs", "fs pram base")
    allow("fs/fuse", "fs/fuse fs base")
    allow("tests", "tests fs/fuse crash/fs crash/apps fs crash ftl nand pram base")
    allow_room("text", "", "")
    allow_room("host", "text", "")
    allow_room("log", "text host", "")
    allow_room("traces", "text host log", "")
    allow_room("workloads", "text traces", "")
    allow_room("imports", "text host", "")
    allow_room("drive", "text host log", "fs crash ftl nand pram")
    allow_room("faults", "text", "fs/fuse fs ftl nand")
    allow_room("live", "text host log drive faults", "fs/fuse crash/apps fs")
    allow_room("explore", "text host", "crash/apps fs")
    allow_room("run", "text host log traces workloads drive", "fs ftl nand pram")
    allow_room("reproduce", "text host traces workloads drive run report", "fs ftl nand pram")
    allow_room("fit", "text host drive run", "")
    allow_room("sweep", "text host log workloads drive run", "")
    allow_room("report", "text host log", "")
    allow_room("library", "text host log drive", "fs crash ftl nand pram")
    allow_room("explain", "text", "crash ftl nand")
    allow_room("grade", "text host drive", "crash ftl nand pram")
    allow_room("nbd", "", "")
    allow_room("cli", "text host log traces workloads imports drive faults live explore run reproduce sweep fit report explain grade", "fs/fuse crash/fs crash/apps fs crash ftl nand pram")
    library_of("^(fuse|fuse3\\/|fuse_)", "fs/fuse")
    library_of("^sqlite3", "tools/log tools/traces tools/sweep tools/report tools/cli") # rows are read where they are used
    library_of("^CLI\\/", "tools/cli")
    library_of("^toml", "tools/drive")
    library_of("^expat", "tools/imports")
    library_of("^nlohmann\\/", "tools/text")
    refuse("system_clock|steady_clock|high_resolution_clock|gettimeofday|clock_gettime", "time comes from the caller, not from the wall")
    refuse("(^|[^a-z_])(secure_)?getenv *\\(", "configuration comes from the caller, not from the environment")
    refuse("std::j?thread|pthread_create|std::async", "no threads of its own below fs/fuse")
    refuse("std::random_device|(^|[^a-z_])s?rand *\\(", "randomness comes from a seed")
    refuse("std::(recursive_|shared_)?mutex", "no lock below the monitor")
}
FNR == 1 {
    count_lines()
    previous = FILENAME
    folder = folder_of(FILENAME)
    if (!(folder in is_folder)) report("in no room of tools/ that this test knows")
    pure = (folder != "fs/fuse" && folder !~ /^tools/ && folder != "tests")
}
{ lines = FNR }
/(^|[^A-Za-z_])make_ftl *\(|make_unique<Ssd>|(^|[^A-Za-z_:<])Ssd [a-z_]+ *[{(]/ {
    code = $0
    sub(/\/\/.*/, "", code)
    if (FILENAME !~ /^ftl\/(make_ftl\.(h|cpp)|drive\.cpp)$/ && code ~ /make_ftl *\(|make_unique<Ssd>|Ssd [a-z_]+ *[{(]/)
        report("a drive is put together in ftl/drive.cpp alone: Drive::assemble(), or ftl/memory_drive.h")
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    target = $0
    sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
    check_own(target)
}
/^[ \t]*#[ \t]*include[ \t]*</ {
    target = $0
    sub(/^[^<]*</, "", target); sub(/>.*/, "", target)
    check_library(target)
}
/(^|[^A-Za-z])(TODO|FIXME|XXX)([^A-Za-z]|$)/ { report("finish it or write an issue") }
pure {
    code = $0
    sub(/\/\/.*/, "", code) # comments may speak of clocks
    $0 = code
    check_purity()
}
END {
    count_lines()
    exit found ? 1 : 0
}
' $files
