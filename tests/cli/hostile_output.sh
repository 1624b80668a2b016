#!/usr/bin/env bash
# Goal: what a command reads is never destroyed by what it writes; what it writes can be read by others, whatever names are in it; judges that are
# switched off are told.
# Method: the binary itself, without a mount; every output file is compared or parsed. Mounts have the same in tests/live/hostile_run.sh.
# shellcheck disable=SC2034 # of hostile_lib.sh: some of these write large files
limit=30

# shellcheck source=tests/cli/hostile_lib.sh
source "$(dirname "$0")/hostile_lib.sh"
# keeps FILE CODE ARGUMENTS...: the file is as it was.
keeps() {
    local file=$1 before
    before=$(cksum < "$file")
    shift
    code "$@"
    [[ $(cksum < "$file") == "$before" ]] || wrong "$file was destroyed by: flashlab ${*:2}"
    says 'is not replaced'
}

echo "--- an output that is the input, by any name"
code 0 bench --size 64M --io-size 256K --events log.db --log all --json
cp out bench.json
ln -s log.db link.db
ln log.db hard.db
printf '0,100,8192,W,0.1\n0,200,4096,R,0.2\n' > two.spc
for name in log.db link.db hard.db ./log.db; do
    keeps log.db 1 report log.db -o $name
    keeps log.db 1 export log.db --perfetto $name
    keeps log.db 1 export log.db --csv host_request -o $name
done
keeps bench.json 1 report bench.json -o bench.json
keeps two.spc 1 explain --trace two.spc --html two.spc
keeps two.spc 1 reproduce co-fig7 --quick --trace financial=two.spc --html two.spc
keeps two.spc 1 reproduce co-fig7 --quick --trace financial=two.spc --markdown two.spc
code 0 mkfs dev --size 64M -q
code 0 bench --device dev --io-size 64K --log all
for name in device.toml nand.img pram.img counters.json events.db; do keeps dev/$name 1 report dev -o dev/$name; done
keeps log.db 1 reproduce mc-fig13 --quick --html log.db # a database that it does not read
code 0 report log.db -o page.html
code 0 report log.db -o page.html # an old page is no loss

echo "--- sweeps: what stands where the plan or the results would go"
cat > sweep.toml << 'SWEEP'
[sweep]
seeds = [1, 2]
[grid]
preset = "tiny"
[[load]]
name = "a"
bench = { io_size = "64k" }
SWEEP
keeps sweep.toml 1 sweep plan sweep.toml -o sweep.toml
code 0 sweep plan sweep.toml -o plan.jsonl
code 0 sweep run plan.jsonl -o runs.db -q
echo precious > text
for name in text log.db plan.jsonl; do keeps $name 1 sweep merge runs.db -o $name; done
code 0 sweep merge runs.db -o runs.db
: > empty
code 0 sweep merge runs.db -o empty
sed 's/.*name = .*/name = ""/' sweep.toml > bad.toml
code 2 sweep plan bad.toml
says 'a word is wanted'
{ cat sweep.toml; printf '[[load]]\nname = "a"\nbench = { io_size = "128k" }\n'; } > bad.toml
code 2 sweep plan bad.toml # averages by load would mix the two
says "is called 'a', too"
{ sed '/^name/d' sweep.toml; printf '[[load]]\nbench = { io_size = "128k" }\n'; } > bad.toml
code 2 sweep plan bad.toml
says "too, and no table"

echo "--- sweeps: runs that are listed twice, and forged rows"
cat plan.jsonl plan.jsonl > twice.jsonl
code 1 sweep run twice.jsonl -o twice.db
says 'is in the plan twice'
if command -v sqlite3 > /dev/null; then
    id=$("$FLASHLAB" query runs.db --csv 'SELECT min(id) FROM run' | tail -n 1)
    forged() { # forged SQL CODE WORDS ARGUMENTS...
        cp runs.db forged.db
        sqlite3 forged.db "UPDATE run SET $1 WHERE id = '$id'"
        code "$2" sweep merge "${@:4}" -o merged.db
        [[ -z $3 ]] || says "$3"
    }
    for order in 'runs.db forged.db' 'forged.db runs.db'; do
        # shellcheck disable=SC2086 # two names
        forged "load = 'b'" 1 'of two plans' $order
        # shellcheck disable=SC2086
        forged "parameters = '{\"preset\":\"dumbo\"}'" 1 'of two plans' $order
        # shellcheck disable=SC2086
        forged "seed = 77" 1 'was changed' $order
    done
    forged "report = ''" 1 'is missing' forged.db
    forged "report = '[]'" 1 'is missing' forged.db
    forged "report = '{'" 1 'is damaged' forged.db

    echo "--- logs of a version that is not known, and databases that are none"
    cp log.db later.db
    sqlite3 later.db 'PRAGMA user_version = 99'
    for words in 'report later.db -o later.html' 'export later.db --perfetto later.json' 'export later.db --csv host_request' 'replay later.db --size 64M'; do
        # shellcheck disable=SC2086
        code 1 $words
        says 'use a newer flashlab'
    done
    code 1 query later.db 'SELECT 1'
    says 'use a newer flashlab'
    sqlite3 other.db 'CREATE TABLE t(x); PRAGMA user_version = 3'
    code 1 report other.db -o other.html
    says 'not an event log'
fi
code 1 report runs.db -o runs.html
says 'results of a sweep'
code 0 export runs.db --csv v_runs
code 0 query runs.db 'SELECT load FROM v_runs'

echo "--- judges that are switched off"
for command in 'run' 'crash torture' 'crash torture --explore'; do
    # shellcheck disable=SC2086 # words
    code 2 $command --check '' -- true
    says 'is empty'
done
code 2 crash torture --explore --states 0 --check true -- true
code 2 crash torture --explore --check true --probe 'cat f' -- true
says 'belongs to --check auto'
code 2 crash torture --check auto --oracle cat -- true
says 'does not go with --check auto'
code 2 crash torture --check true --states 5 -- true
says 'belongs to --explore'
code 2 crash torture --check auto --under ext4 -- true
says 'does not go with --under'
# What one way to torture has and the other has not is refused by name, and not left out in silence.
for words in '--cuts 5' '--within 1' '--at idle' '--latency real'; do
    for way in '' '--under ext4'; do
        # shellcheck disable=SC2086 # words
        code 2 crash torture --explore $way --check true $words -- true
        says "${words%% *}: --explore makes states"
    done
done
for words in '--jobs 2' '--oracle cat' '--probe cat' '--report a.json' '--app-version 1' '--max-syncs 1' '--max-host-bytes 1M' '--max-flash-bytes 1M'; do
    # shellcheck disable=SC2086 # words
    code 2 crash torture --explore --under ext4 --check true $words -- true
    says "${words%% *}: --explore has it without --under"
done
code 2 crash torture --explore --under ext4 --check true --after flush 2 -- true
says '--after does not go with'
code 2 crash torture --under ext4 --check true --jobs 2 --states 5 -- true
says '--states, --jobs belongs to --explore'
code 2 grade page_map --states 0
code 2 grade page_map --weights waf=0

echo "--- '--' after an option of several values"
for words in '--compare-ftl hftl,nosuch' '--compare tiny,nosuch'; do
    # shellcheck disable=SC2086
    code 2 run $words -- sh -c true
    says nosuch
done
code 2 crash torture --check true --after flush 0 -- sh -c true
says 'N from 1 on'

echo "--- places that are looked at before the run"
code 2 run --keep no/such/drive -- sh -c 'echo ran > ran'
code 2 crash torture --explore --check true --report no/such.json -- sh -c 'echo ran > ran'
mkdir folder.json
code 2 crash torture --explore --check true --report folder.json -- sh -c 'echo ran > ran'
mkdir kept-2
code 2 run --keep kept --compare-ftl hftl,dftl -- true
says 'kept-2: is there'

echo "--- a limit on the size of files: an error, not death by a signal"
(
    ulimit -f 100 # blocks of 1,024 bytes
    code 1 mkfs limited --size 64M -q
    says 'File too large'
    [[ ! -e limited ]] || wrong "mkfs left half a drive behind"
    code 1 bench --size 64M --io-size 8M --events limited.db --log all
    [[ ! -e limited.db ]] || wrong "bench left half a log behind"
    exit "$failures"
) || wrong "beyond ulimit -f"

echo "--- words that are wrong"
code 2 crash torure
says "no command is called 'crash torure'; did you mean 'torture'?"
code 2 query
says 'DIR and SQL are required'
code 2 mkfs new one two three
says 'not expected: one two three;'
code 1 info $'no\033[31msuch\302\233'
! grep -q -e $'\033' -e $'\302\233' err || wrong "a name commands the terminal: $(cat -v err)"
code 0 mkfs quiet --preset tiny -q
[[ ! -s out && ! -s err ]] || wrong "mkfs -q: $(cat out err)"
code 2 bench --ftl dftl --size 64M --set dram.size=1 --set dram.partition=none --io-size 64K
says 'dram.size = 1 does not hold the write buffer'
COLUMNS=50 "$FLASHLAB" mount --help | awk 'length > 50 && !/^  flashlab/ { print; bad = 1 } END { exit bad }' || wrong "help is wider than 50 columns"

((failures == 0)) || exit 1
echo "ok: hostile output"
