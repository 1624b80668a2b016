#!/bin/sh
# One row of the campaign, or all: sh docs/campaign/run.sh NAME [options of crash torture --explore]
#
#   sh docs/campaign/run.sh list             the names
#   sh docs/campaign/run.sh tinydb --persistence ext4 --states 500
#   CAMPAIGN_AUTO=start ... judges without the row's check, by the program's next start; CAMPAIGN_AUTO=ask by a question (auto.sh has all rows)
#
# Packages come from PyPI, npm, the Rust registry and the Go module proxy into $CAMPAIGN_HOME (default: /tmp/flashlab-campaign), at the versions below. FLASHLAB names the program to run.
# Without --persistence or --under (root) the model is posix; without --states 1000 states are tried. Exit code: that of the exploration.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
home=${CAMPAIGN_HOME:-/tmp/flashlab-campaign}
flashlab=${FLASHLAB:-flashlab}
[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
name=$1
shift

python_with() { # PACKAGE...
    [ -x "$home/venv/bin/python" ] || python3 -m venv "$home/venv"
    for package; do
        [ -e "$home/venv/$package" ] || { "$home/venv/bin/pip" -q install "$package" && touch "$home/venv/$package"; }
    done
}
node_with() { # PACKAGE...
    mkdir -p "$home/npm"
    cp "$here"/node/*.mjs "$home/npm"
    for package; do
        [ -e "$home/npm/.$(echo "$package" | tr / _)" ] || (cd "$home/npm" && npm install --silent "$package" && touch ".$(echo "$package" | tr / _)")
    done
}
go_store() { # NAME
    command -v go > /dev/null || { echo "run.sh: $name needs a Go toolchain (apt-get install golang)" >&2; exit 77; }
    [ -x "$home/go/store" ] && [ -z "$(find "$here/go" -newer "$home/go/store")" ] || { mkdir -p "$home/go" && cp "$here"/go/* "$home/go" && (cd "$home/go" && go build -o store .); }
    program="'$home/go/store' $1"; after=
}
rust_store() { # NAME [prepared: a first run is the preparation]
    command -v cargo > /dev/null || { echo "run.sh: $name needs a Rust toolchain (apt-get install cargo)" >&2; exit 77; }
    [ -x "$home/rust/target/release/campaign" ] || { mkdir -p "$home/rust" && cp -r "$here"/rust/* "$home/rust" && (cd "$home/rust" && cargo build -q --release); }
    program="'$home/rust/target/release/campaign' $1"; after=
    [ $# -eq 1 ] || setup="FLASHLAB_ACK_FD=9 $program write 9> /dev/null"
}
surrealkv() { # new|old
    command -v cargo > /dev/null || { echo "run.sh: $name needs a Rust toolchain (apt-get install cargo)" >&2; exit 77; }
    [ -x "$home/rust_surrealkv/target/release/surreal" ] ||
        { mkdir -p "$home/rust_surrealkv" && cp -r "$here"/rust_surrealkv/* "$home/rust_surrealkv" && (cd "$home/rust_surrealkv" && cargo build -q --release); }
    program="'$home/rust_surrealkv/target/release/surreal' $1"; after=
}
postgres() { # FSYNC
    ls /usr/lib/postgresql/*/bin/postgres > /dev/null 2>&1 || { echo "run.sh: $name needs PostgreSQL (apt-get install postgresql)" >&2; exit 77; }
    [ "$(id -u)" -ne 0 ] || { echo "run.sh: $name: PostgreSQL does not run as root; become another user" >&2; exit 77; }
    program="PG_FSYNC=$1 sh '$here/shell_postgres.sh'"; after=; setup="$program setup"
}
compiled() { # CHECK LIBRARIES...: a check that is run thousands of times; another run may be using the old one: never half of a new one
    [ -z "$(find "$home/$1" -newer "$here/$1.c" 2> /dev/null)" ] || return 0
    out=$home/$1 from=$here/$1.c
    shift
    cc -O2 -static -o "$out.$$" "$from" "$@" -lm -lpthread -ldl 2> /dev/null || cc -O2 -o "$out.$$" "$from" "$@"
    mv "$out.$$" "$out"
}
sqlite() { # JOURNAL SYNCHRONOUS [integrity|but_newest]
    python_with
    compiled sqlite_check -lsqlite3
    python sqlite_store "$1 $2"
    check="exec '$home/sqlite_check' ${3:-}"
    ask="sqlite3 db 'PRAGMA integrity_check; SELECT n / 4, count(*), min(v) = max(v) FROM t GROUP BY 1'"
    [ -z "${3:-}" ] || promises=none
}
python_args() { program="PYTHONDONTWRITEBYTECODE=1 '$home/venv/bin/python' '$here/python/$1.py'"; shift; after="$*"; }
python() { program="PYTHONDONTWRITEBYTECODE=1 '$home/venv/bin/python' '$here/python/$1.py'"; after=${2:-}; }
node() { program="node '$home/npm/$1.mjs'"; after=; }
replace() { program="sh '$here/shell_replace.sh' $1"; after=; setup="$program setup"; }
setup= check= promises=kept asked='$1' ask=

case $name in
list) exec sed -n 's/^\([a-z_0-9]*\)) # \(.*\)/\1: \2/p' "$0" ;;
tinydb) # default storage
    python_with tinydb==4.9.0; python tinydb_default ;;
persistqueue) # Queue, defaults
    python_with persist-queue==1.1.0; python persistqueue_default ;;
pickledb) # save()
    python_with pickledb==1.6 orjson aiofiles; python pickledb_default ;;
joblib_memory) # a cache
    python_with joblib==1.6.0; python joblib_memory; promises=none ;;
joblib_dump) # dump() over an older file
    python_with joblib==1.6.0; python joblib_dump ;;
diskcache) # Cache, defaults
    python_with diskcache==5.6.3; python diskcache_default ;;
leveldb) # put() without sync: order only
    python_with plyvel==1.5.1; python leveldb_default ;;
leveldb_sync) # put(sync=True)
    python_with plyvel==1.5.1; python leveldb_sync ;;
lmdb) # control on ext4: defaults
    python_with lmdb==3.0.0; python lmdb_default ;;
lmdb_prepared) # control: defaults, on an environment that is there, judged by LMDB's C library (apt-get install liblmdb-dev)
    python_with lmdb==3.0.0; compiled lmdb_check -llmdb; python lmdb_default; check="exec '$home/lmdb_check'" setup="$program setup" ;;
lmdb_nosync) # sync=False: integrity only
    python_with lmdb==3.0.0; python lmdb_nosync ;;
lmdb_writemap_nosync) # sync=False, writemap=True: integrity only
    python_with lmdb==3.0.0; python lmdb_writemap_nosync ;;
rocksdb) # put() without sync: order only
    python_with rocksdict==0.3.29; python rocksdb_default ;;
rocksdb_sync) # put() with sync
    python_with rocksdict==0.3.29; python_args rocksdb_default sync ;;
whoosh) # commit()
    python_with whoosh==2.7.4; python whoosh_default ;;
sqlitedict) # commit()
    python_with sqlitedict==2.1.0; python sqlitedict_default ;;
cachelib) # control: a cache shows no wrong value
    python_with cachelib==0.17.0; python cachelib_filesystem ;;
beanstalkd) # Debian's, the default of -f
    python_with; python_args beanstalkd_wal 50 ;;
beanstalkd_sync) # Debian's, -f 0
    python_with; python_args beanstalkd_wal 0 ;;
postgres) # control on ext4
    postgres on ;;
postgres_fsync_off) # fsync=off
    postgres off ;;
bbolt) # Update()
    go_store bbolt ;;
bbolt_old) # Update(), version 1.3.2
    go_store bbolt_old ;;
goleveldb) # Put() with Sync
    go_store goleveldb ;;
buntdb) # Update(), defaults
    go_store buntdb ;;
buntdb_always) # Update() with SyncPolicy Always
    go_store buntdb_always ;;
badger) # Update() with SyncWrites
    go_store badger ;;
pebble) # Set() with Sync
    go_store pebble ;;
tidwall_wal) # Write()
    go_store tidwall_wal ;;
diskv) # WriteStream() with sync
    go_store diskv ;;
natefinch_atomic) # WriteFile()
    go_store natefinch_atomic ;;
sled) # flush()
    rust_store sled ;;
redb) # commit(), on a database that is there, version 2.6
    rust_store redb prepared ;;
redb4) # control: version 4.6, the same
    rust_store redb4 prepared ;;
persy) # commit()
    rust_store persy ;;
jammdb) # commit()
    rust_store jammdb ;;
fjall) # insert() and persist(SyncAll), on a database that is there
    rust_store fjall prepared ;;
pickledb_rust) # set() with AutoDump
    rust_store pickledb_rust ;;
atomicwrites_rust) # control: file and directory synced
    rust_store atomicwrites_rust ;;
surrealkv) # commit() with Durability::Immediate, version 1.2; a control on ext4
    surrealkv new ;;
surrealkv_old) # the same, version 0.20.2
    surrealkv old ;;
zodb) # FileStorage
    python_with ZODB==6.4; python zodb_filestorage ;;
zodb_pack) # pack()
    python_with ZODB==6.4; python zodb_pack; setup="$program setup" asked='"after"' ;;
sed) # sed -i
    replace sed ;;
hg) # hg commit, Mercurial 7.2
    python_with mercurial==7.2; replace hg; export HG="$home/venv/bin/hg" ;;
fossil) # control on ext4: fossil commit (apt-get install fossil)
    replace fossil ;;
tdb) # transaction committed (apt-get install libtdb-dev)
    compiled tdb_store -ltdb; program="exec '$home/tdb_store'"; after=; setup="$program setup" ;;
gdbm) # gdbm_store() and gdbm_sync(), without gdbm_failure_atomic() (apt-get install libgdbm-dev)
    compiled gdbm_store -lgdbm; program="exec '$home/gdbm_store'"; after=; setup="$program setup" ;;
atomicwrites) # control: file and directory synced
    python_with atomicwrites==1.4.1; python atomicwrites_control ;;
maildir) # mailbox of Python's library
    python_with; python maildir_stdlib; asked='"mail", $1' ;;
dbm_dumb) # shelve of Python's library
    python_with; python dbm_dumb ;;
sqlite_wal_full) # control; STORE_TRANSACTIONS=60 makes a longer run of it, as of the others of SQLite
    sqlite WAL FULL ;;
sqlite_delete_extra) # control
    sqlite DELETE EXTRA ;;
sqlite_delete_full) # that the last commit stays
    sqlite DELETE FULL ;;
sqlite_delete_full_but_newest) # control: all but the newest commit stays
    sqlite DELETE FULL but_newest ;;
sqlite_delete_full_integrity) # control: integrity only
    sqlite DELETE FULL integrity ;;
sqlite_truncate_full) # control on ext4
    sqlite TRUNCATE FULL ;;
sqlite_persist_full) # control on ext4
    sqlite PERSIST FULL ;;
sqlite_wal_off) # synchronous=OFF: integrity only
    sqlite WAL OFF integrity ;;
sqlite_delete_off) # synchronous=OFF: integrity only
    sqlite DELETE OFF integrity ;;
lowdb) # JSONFile
    node_with lowdb@7; node lowdb_default ;;
node_persist) # setItem()
    node_with node-persist@4; node node_persist ;;
nedb) # insertAsync()
    node_with @seald-io/nedb@4; node nedb_default ;;
node_json_db) # push()
    node_with node-json-db@3.0.0; node node_json_db ;;
lokijs) # saveDatabase()
    node_with lokijs@1.5.12; node lokijs ;;
conf) # set(), of electron-store
    node_with conf@15.1.0; node conf ;;
jsonfile) # writeFile()
    node_with jsonfile@6.2.1; node jsonfile ;;
nconf) # save()
    node_with nconf@0.13.0; node nconf ;;
write_file_atomic) # of npm itself
    node_with write-file-atomic; node write_file_atomic ;;
git) # defaults
    program="sh '$here/shell_git.sh'"; after=; setup="sh '$here/shell_git.sh' setup" ;;
git_fsync_all) # core.fsync=all
    program="GIT_SYNC=all sh '$here/shell_git.sh'"; after=; setup="GIT_SYNC=all sh '$here/shell_git.sh' setup" ;;
git_fsync_all_integrity) # control on ext4: core.fsync=all, git fsck only
    program="GIT_SYNC=all sh '$here/shell_git.sh'"; after=integrity promises=none; setup="GIT_SYNC=all sh '$here/shell_git.sh' setup" ;;
*) echo "run.sh: $name: no such row; see: sh docs/campaign/run.sh list" >&2; exit 2 ;;
esac

case " $* " in *" --persistence "* | *" --under "*) ;; *) set -- --persistence posix "$@" ;; esac
case " $* " in *" --states "*) ;; *) set -- --states 1000 "$@" ;; esac
mkdir -p "$home/kept"
command="$program write $after"
probe=
if [ -n "${CAMPAIGN_AUTO:-}" ]; then
    check=auto
    seq 60 | awk "{ print $asked }" > "$home/asked.$name" # more than there are
    [ "$CAMPAIGN_AUTO" = start ] || probe="${ask:-export FLASHLAB_ACKS='$home/asked.$name'; $program ask $after}"
    [ "$promises" = kept ] || command="export FLASHLAB_ACK_FD=9; exec 9> /dev/null; $command" # the row's check does not look at them
fi
exec "$flashlab" crash torture --explore --keep "$home/kept" ${setup:+--setup "$setup"} --check "${check:-$program check $after}" \
    ${probe:+--probe "$probe"} "$@" -- sh -c "$command"
