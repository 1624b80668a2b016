#!/bin/sh
# The campaign once more, without its checks: what --check auto finds, misses, and says falsely. sh docs/campaign/auto.sh [ROW...]
#
#   CAMPAIGN_STATES=60     states of a row
#   CAMPAIGN_TIME=300      seconds a row may take, for each way of judging
#
# Each row is judged in two ways: `start`, by the program's own next start, with nothing written for it; `ask`, by a question that prints what is there.
# A row with a finding in README.md should be found, a control should not. Prints a table in Markdown, and the sums. What run.sh needs, this needs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
home=${CAMPAIGN_HOME:-/tmp/flashlab-campaign}
out=$home/auto
mkdir -p "$out"

# row model expected [states, where the first failing one comes late]
rows() {
    cat << END
tinydb posix found
lowdb posix found
pickledb posix found
node_persist posix found
nedb posix found
write_file_atomic posix found
maildir posix found
dbm_dumb posix found
diskcache posix found
joblib_dump posix found
persistqueue posix found
zodb posix found
lmdb posix found
git ext4 found
git_fsync_all ext4 found
leveldb posix found
goleveldb ext4 found
buntdb ext4 found
buntdb_always posix found
sled ext4 found
beanstalkd ext4 found
beanstalkd_sync ext4 found
lokijs xfs found
node_json_db xfs found
nconf ext4 found
postgres_fsync_off ext4 found
lmdb_nosync ext4 found
lmdb_writemap_nosync ext4 found
jammdb ext4 found
tidwall_wal posix found
natefinch_atomic ext4 found
diskv ext4 found
redb posix found 1500
persy ext4 found
pickledb_rust posix found
conf ext4 found
jsonfile ext4 found
sed ext4 found
whoosh ext4 found
sqlitedict ext4 found
bbolt posix found
bbolt_old ext4 found 150
surrealkv_old ext4 found
surrealkv posix found
rocksdb_sync posix found
sqlite_delete_off posix found
sqlite_wal_off posix found
sqlite_delete_full posix found
sqlite_wal_full posix control
sqlite_delete_full_but_newest posix control
sqlite_delete_full_but_newest ext4 control
sqlite_delete_extra posix control
sqlite_delete_full_integrity posix control
git_fsync_all_integrity ext4 control
lmdb_prepared posix control
redb4 posix control
postgres ext4 control
sqlite_wal_full ext4 control
atomicwrites posix control
atomicwrites_rust posix control
rocksdb posix control
cachelib xfs control
surrealkv ext4 control
buntdb_always ext4 control
tidwall_wal ext4 control
joblib_memory posix control
END
}

judge() { # ROW MODEL STATES WAY: one word
    log=$out/$1.$2.$4 code=0
    CAMPAIGN_AUTO=$4 timeout "${CAMPAIGN_TIME:-300}" sh "$here/run.sh" "$1" --persistence "$2" --states "$3" --json > "$log.json" 2> "$log.err" < /dev/null || code=$?
    case $code in
    0) echo nothing ;;
    1) grep -q '"findings":\[{' "$log.json" && echo found || echo unsteady ;;
    77) echo - ;;
    124) grep -q '"findings":\[{' "$log.json" && echo found || echo late ;;
    *) echo refused ;;
    esac
}

echo "| row | model | should be | next start | question |"
echo "|---|---|---|---|---|"
rows | while read -r row model expected states; do
    states=${states:-${CAMPAIGN_STATES:-60}}
    case " $* " in "  " | *" $row "*) echo "| $row | $model | $expected | $(judge "$row" "$model" "$states" start) | $(judge "$row" "$model" "$states" ask) |" ;; esac
done | tee "$out/table"
awk -F ' [|] ' '
    $3 == "found" { for (way = 4; way <= 5; ++way) { sub(/ [|]$/, "", $way); if ($way != "-") { ++all[way]; hit[way] += $way == "found" } }
                    if ($4 != "-") { ++all[6]; hit[6] += $4 == "found" || $5 == "found" } }
    $3 == "control" { for (way = 4; way <= 5; ++way) { sub(/ [|]$/, "", $way); if ($way != "-") { ++clean[way]; wrong[way] += $way == "found" || $way == "unsteady" } } }
    END { for (way = 4; way <= 6; ++way) {
              printf "\n%s: %d of %d found", way == 4 ? "next start" : way == 5 ? "question" : "either", hit[way], all[way]
              if (way < 6) printf "; %d of %d controls falsely", wrong[way], clean[way] }
          print "" }' "$out/table"
