#!/bin/sh
# One row of the campaign, or all: sh docs/campaign/run.sh NAME [options of crash torture --explore]
#
#   sh docs/campaign/run.sh list             the names
#   sh docs/campaign/run.sh tinydb --persistence ext4 --states 500
#
# Packages come from PyPI and npm into $CAMPAIGN_HOME (default: /tmp/flashlab-campaign), at the versions below. FLASHLAB names the program to run.
# Without --persistence the model is posix; without --states 1000 states are tried. Exit code: that of the exploration.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
home=${CAMPAIGN_HOME:-/tmp/flashlab-campaign}
flashlab=${FLASHLAB:-flashlab}
[ $# -ge 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
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
sqlite() { # JOURNAL SYNCHRONOUS [integrity]; the check is compiled: it is run thousands of times
    python_with
    cc -O2 -o "$home/sqlite_check" "$here/sqlite_check.c" -lsqlite3
    python sqlite_store "$1 $2"
    check="exec '$home/sqlite_check' ${3:-}"
}
python() { program="PYTHONDONTWRITEBYTECODE=1 '$home/venv/bin/python' '$here/python/$1.py'"; after=${2:-}; }
node() { program="node '$home/npm/$1.mjs'"; after=; }
setup= check=

case $name in
list) exec sed -n 's/^\([a-z_0-9]*\)) # \(.*\)/\1: \2/p' "$0" ;;
tinydb) # default storage
    python_with tinydb==4.9.0; python tinydb_default ;;
persistqueue) # Queue, defaults
    python_with persist-queue==1.1.0; python persistqueue_default ;;
pickledb) # save()
    python_with pickledb==1.6 orjson aiofiles; python pickledb_default ;;
joblib_memory) # a cache
    python_with joblib==1.6.0; python joblib_memory ;;
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
lmdb_nosync) # sync=False: integrity only
    python_with lmdb==3.0.0; python lmdb_nosync ;;
zodb) # FileStorage
    python_with ZODB==6.4; python zodb_filestorage ;;
atomicwrites) # control: file and directory synced
    python_with atomicwrites==1.4.1; python atomicwrites_control ;;
maildir) # mailbox of Python's library
    python_with; python maildir_stdlib ;;
dbm_dumb) # shelve of Python's library
    python_with; python dbm_dumb ;;
sqlite_wal_full) # control
    sqlite WAL FULL ;;
sqlite_delete_extra) # control
    sqlite DELETE EXTRA ;;
sqlite_delete_full) # that the last commit stays
    sqlite DELETE FULL ;;
sqlite_delete_full_integrity) # control: integrity only
    sqlite DELETE FULL integrity ;;
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
write_file_atomic) # of npm itself
    node_with write-file-atomic; node write_file_atomic ;;
git) # defaults
    program="sh '$here/shell_git.sh'"; after=; setup="sh '$here/shell_git.sh' setup" ;;
git_fsync_all) # core.fsync=all
    program="GIT_SYNC=all sh '$here/shell_git.sh'"; after=; setup="GIT_SYNC=all sh '$here/shell_git.sh' setup" ;;
git_fsync_all_integrity) # control on ext4: core.fsync=all, git fsck only
    program="GIT_SYNC=all sh '$here/shell_git.sh'"; after=integrity; setup="GIT_SYNC=all sh '$here/shell_git.sh' setup" ;;
*) echo "run.sh: $name: no such row; see: sh docs/campaign/run.sh list" >&2; exit 2 ;;
esac

case " $* " in *" --persistence "*) ;; *) set -- --persistence posix "$@" ;; esac
case " $* " in *" --states "*) ;; *) set -- --states 1000 "$@" ;; esac
mkdir -p "$home/kept"
exec "$flashlab" crash torture --explore --keep "$home/kept" ${setup:+--setup "$setup"} --check "${check:-$program check $after}" "$@" -- \
    sh -c "$program write $after"
