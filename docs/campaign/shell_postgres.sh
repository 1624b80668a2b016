#!/bin/sh
# PostgreSQL: COMMIT has returned. Usage: shell_postgres.sh setup|write|check; PG_FSYNC=off leaves out the syncs. Not as root.
set -eu
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
sockets=$(mktemp -d /tmp/pg.XXXXXX)
trap '[ "$1" = check ] || "$bin/pg_ctl" -D data -m immediate stop > /dev/null 2>&1 || :; rm -rf "$sockets"' EXIT
start() {
    "$bin/pg_ctl" -D data -w -t 60 -l "$sockets/log" -o "-k $sockets -c listen_addresses= -c fsync=${PG_FSYNC:-on} -c shared_buffers=1MB -c autovacuum=off" start > /dev/null ||
        { tail -n 3 "$sockets/log"; exit 1; }
}
sql() { "$bin/psql" -h "$sockets" -d postgres -qAt -v ON_ERROR_STOP=1 -c "$1"; }
case $1 in
setup)
    "$bin/initdb" -D data -A trust --no-sync --wal-segsize=1 > /dev/null
    start
    sql 'CREATE TABLE t(n int PRIMARY KEY, v text)'
    "$bin/pg_ctl" -D data -m fast stop > /dev/null
    ;;
write)
    start
    for i in 1 2 3 4 5 6 7 8; do
        sql "INSERT INTO t VALUES($i, repeat('x', 3000))"
        echo "$i" >&"$FLASHLAB_ACK_FD"
        [ "$i" -ne 4 ] || sql CHECKPOINT
    done
    ;;
check) # one process that recovers, answers and ends; what it does itself need not be durable
    chmod -R u=rwX,go= data
    rm -f data/postmaster.pid # of a server that is no more; an empty one is refused
    echo "SELECT count(*) AS there FROM t WHERE v = repeat('x', 3000)" |
        "$bin/postgres" --single -D data -c fsync=off -c full_page_writes=off -c shared_buffers=1MB postgres > "$sockets/log" 2>&1 || { tail -n 3 "$sockets/log"; exit 1; }
    have=$(sed -n 's/.*there = "\([0-9]*\)".*/\1/p' "$sockets/log")
    [ "${have:--1}" -ge "$(wc -l < "$FLASHLAB_ACKS")" ] || { echo "lost: $(wc -l < "$FLASHLAB_ACKS") promised, ${have:-none} there"; tail -n 3 "$sockets/log"; exit 1; }
    ;;
esac
