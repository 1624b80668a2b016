# shellcheck shell=bash
# The applications. load_NAME DIR works in DIR until done and fails when a result is wrong; with `endless` set it starts over until the device goes away.
# verify_NAME DIR, where there is one, looks at what a remount shows; verify_NAME DIR cut looks at what a power cut left.
# Sizes: `full` set means those of the long tests.
# shellcheck disable=SC2154 # work comes from lib.sh

scaled() { if [[ -n ${full-} ]]; then echo "$2"; else echo "$1"; fi; }

again() { # DIR COMMAND...: once, or until the device is gone
    local dir=$1
    shift
    "$@" || return
    while [[ -n ${endless-} ]] && mounted && stat "$dir" > /dev/null 2>&1; do "$@" || return; done
}

# --- git: clone of a repository, fsck of the clone -------------------------------------------------------------------
source_repository() {
    local from=$FLASHLAB_TREE
    if git -c safe.directory='*' -C "$from" rev-parse HEAD > /dev/null 2>&1 && [[ $(git -c safe.directory='*' -C "$from" rev-list --count HEAD) -ge 5 ]] \
        && git -c safe.directory='*' clone -q --bare "file://$from" "$work/source.git" 2>/dev/null; then
        return
    fi
    # An unpacked tarball, or too little history: a repository is made of the sources, ten commits.
    git init -q "$work/source"
    local commit
    for commit in 1 2 3 4 5 6 7 8 9 10; do
        mkdir -p "$work/source/part$commit"
        (cd "$FLASHLAB_TREE" && tar -cf - base nand pram ftl fs tools tests) | tar -xf - -C "$work/source/part$commit"
        git -C "$work/source" add -A
        git -C "$work/source" -c user.name=live -c user.email=live@localhost commit -q -m "part $commit"
    done
    git clone -q --bare "$work/source" "$work/source.git"
}
clone_once() {
    local dir=$1
    rm -rf "$dir/clone" || return
    git clone -q "file://$work/source.git" "$dir/clone" 2> "$work/git.log" || return
    git -c safe.directory='*' -C "$dir/clone" fsck --strict > "$work/git-fsck.log" 2>&1 || return
    git -c safe.directory='*' -C "$dir/clone" status --porcelain > "$work/git-status.log" || return
    [[ ! -s $work/git-status.log ]]
}
load_git() {
    [[ -d $work/source.git ]] || source_repository
    again "$1" clone_once "$1"
}
verify_git() {
    [[ ${2-} == cut ]] || git -c safe.directory='*' -C "$1/clone" fsck --strict > /dev/null
}

# --- tar: unpack a tree and compare -----------------------------------------------------------------------------------
sample_tree() {
    if [[ -n ${full-} ]]; then (cd /usr && tar -cf "$work/sample.tar" include); else (cd /usr/include && tar -cf "$work/sample.tar" c++ linux); fi
    mkdir -p "$work/sample"
    tar -xf "$work/sample.tar" -C "$work/sample"
}
unpack_once() {
    rm -rf "$1/tree" && mkdir "$1/tree" && tar -xf "$work/sample.tar" -C "$1/tree" && diff -r --no-dereference "$work/sample" "$1/tree"
}
load_tar() {
    [[ -f $work/sample.tar ]] || sample_tree
    again "$1" unpack_once "$1"
}
verify_tar() { [[ ${2-} == cut ]] || diff -r --no-dereference "$work/sample" "$1/tree"; }

# --- SQLite: rows acknowledged one by one, two writers, in both journal modes ------------------------------------------
sqlite_value="printf('%08d', id * 7919 % 100000000)"
sqlite_statements() { # FIRST COUNT STEP
    awk -v first="$1" -v count="$2" -v step="$3" 'BEGIN {
        print ".timeout 20000\nPRAGMA synchronous=FULL;"
        for (i = 0; i < count; i++) {
            id = first + i * step
            printf "INSERT INTO t VALUES (%d, printf(\x27%%08d\x27, %d * 7919 %% 100000000), randomblob(%d));\nSELECT \x27row\x27, %d;\n", id, id, 100 + id % 3000, id
            if (i % 20 == 19) printf "UPDATE t SET filler = randomblob(200) WHERE id = %d;\n", id - 5 * step
        }
    }'
}
sqlite_writer() { # DB ACKNOWLEDGED FIRST COUNT STEP
    sqlite_statements "$3" "$4" "$5" | stdbuf -oL sqlite3 -bail "$1" > "$2" 2> "$2.error"
}
load_sqlite_in() {
    local dir=$1 mode=$2 rows db=$1/test.db
    rows=$(scaled 400 5000)
    [[ -z ${endless-} ]] || rows=1000000
    sqlite3 "$db" "PRAGMA journal_mode=$mode; CREATE TABLE t (id INTEGER PRIMARY KEY, value TEXT, filler BLOB);" > "$work/sqlite-mode" || return
    [[ $(cat "$work/sqlite-mode") == "${mode,,}" ]] || { say "journal mode $mode refused"; return 1; }
    sqlite_writer "$db" "$work/sqlite-ack1" 1 "$rows" 2 &
    local first=$!
    sqlite_writer "$db" "$work/sqlite-ack2" 2 "$rows" 2 &
    local second=$! result=0
    wait "$first" || result=1
    wait "$second" || result=1
    [[ $result -eq 0 ]] || cat "$work"/sqlite-ack?.error
    return $result
}
load_sqlite_wal() { load_sqlite_in "$1" WAL; }
load_sqlite_delete() { load_sqlite_in "$1" DELETE; }
verify_sqlite() {
    local db=$1/test.db missing
    [[ $(sqlite3 "$db" "PRAGMA integrity_check;") == ok ]] || { say "integrity_check failed"; return 1; }
    [[ $(sqlite3 "$db" "SELECT count(*) FROM t WHERE value <> $sqlite_value;") == 0 ]] || { say "rows with foreign values"; return 1; }
    sqlite3 "$db" "SELECT id FROM t;" | LC_ALL=C sort > "$work/sqlite-rows"
    missing=$(cat "$work"/sqlite-ack? | sed -n 's/^row|\([0-9][0-9]*\)$/\1/p' | LC_ALL=C sort | LC_ALL=C comm -23 - "$work/sqlite-rows" | wc -l)
    [[ $missing -eq 0 ]] || { say "$missing committed rows are missing"; return 1; }
    say "sqlite: $(wc -l < "$work/sqlite-rows") rows, every committed one of $(cat "$work"/sqlite-ack? | grep -c '^row') acknowledged is there"
}
verify_sqlite_wal() { verify_sqlite "$1"; }
verify_sqlite_delete() { verify_sqlite "$1"; }

# --- fio: random writes, each block with a checksum ----------------------------------------------------------------------
fio_job() { # DIR MORE...
    local dir=$1
    shift
    # verify_only leaves its state file in the current directory.
    (cd "$work" && fio --name=verify --directory="$dir" --size="$(scaled 32m 512m)" --bs=4k --rw=randwrite --ioengine=psync --numjobs=2 --fsync=64 \
        --verify=crc32c --verify_fatal=1 --randseed=7 --output="$work/fio.log" "$@")
}
load_fio() { again "$1" fio_job "$1" || { cat "$work/fio.log"; return 1; }; }
verify_fio() { [[ ${2-} == cut ]] || fio_job "$1" --verify_only; }

# --- IOZone, where it is installed ------------------------------------------------------------------------------------------
iozone_once() { # DIR OPTIONS...
    local dir=$1
    shift
    (cd "$dir" && iozone "$@" > "$work/iozone.log") || { cat "$work/iozone.log"; return 1; }
    grep -q 'iozone test complete' "$work/iozone.log"
}
load_iozone() {
    command -v iozone > /dev/null || skip "iozone is not installed (tools/install_dependencies.sh --iozone)"
    local tests=(-a -s 8m -i 0 -i 1 -i 2 -r 4k -r 64k -r 1m)
    if [[ -n ${real_latency-} ]]; then tests=(-i 0 -i 1 -i 2 -s 8m -r 4k); elif [[ -n ${full-} ]]; then tests=(-a -s 64m); fi
    again "$1" iozone_once "$1" "${tests[@]}"
}

# --- four parallel loops of cp -r and rm -r ---------------------------------------------------------------------------------
copy_and_remove() { # DIR TURN ROUNDS
    local round
    for ((round = 0; round < $3; round++)); do
        cp -r "$work/copied" "$1/copy$2" || return
        diff -r "$work/copied" "$1/copy$2" || return
        rm -r "$1/copy$2" || return
    done
}
load_copies() {
    local turn rounds loops=() result=0
    rounds=$(scaled 2 10)
    [[ -z ${endless-} ]] || rounds=100000
    [[ -d $work/copied ]] || { mkdir "$work/copied"; cp -r /usr/include/linux "$work/copied/"; }
    for turn in 1 2 3 4; do
        copy_and_remove "$1" "$turn" "$rounds" &
        loops+=($!)
    done
    for turn in "${loops[@]}"; do wait "$turn" || result=1; done
    return $result
}

# --- one large directory; a rename storm ---------------------------------------------------------------------------------------
many_files_once() {
    rm -rf "$1/many" && mkdir "$1/many" && "$FLASHLAB_LIVE_BIN/many_files" "$1/many" "$(scaled 20000 1000000)"
}
load_many_files() { again "$1" many_files_once "$1"; }
rename_storm_once() {
    rm -rf "$1/storm" && mkdir "$1/storm" && "$FLASHLAB_LIVE_BIN/rename_storm" "$1/storm" "$(scaled 5000 100000)" 4
}
load_renames() { again "$1" rename_storm_once "$1"; }

# --- random calls against a copy in memory and against a tmpfs or other host directory ----------------------------------------
load_posix() {
    local seed
    for seed in $(seq 1 "$(scaled 3 30)"); do
        "$FLASHLAB_LIVE_BIN/random_file_operations" "$1/random$seed" "$seed" "$(scaled 3000 20000)" || return
        mkdir "$1/names$seed" "$work/names$seed" || return
        "$FLASHLAB_LIVE_BIN/random_tree_operations" "$1/names$seed" "$work/names$seed" "$seed" "$(scaled 3000 20000)" || return
    done
}

load_size() { # the device that a load wants
    case $1 in
        many_files) scaled 4G 16G ;;
        *) echo 4G ;;
    esac
}
