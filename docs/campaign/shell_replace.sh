#!/bin/sh
# Programs that replace a file and return: `shell_replace.sh sed|hg|fossil setup|write|check|ask`.
#   sed      sed -i has returned: the file has the new content, or before that the old one whole
#   hg       hg commit has returned: the commit is there, and hg verify is content (HG is the program)
#   fossil   fossil commit has returned: the check-in is there, and the repository is whole (FOSSIL is the program)
set -e
export HOME=/nonexistent HGRCPATH= HGUSER=a USER=a FOSSIL_USER=a FOSSIL_HOME=.
rounds=${STORE_TRANSACTIONS:-3}
case $1-$2 in
sed-setup) seq -f 'line %g of version 0' 200 > f ;;
sed-write)
    for i in $(seq "$rounds"); do
        sed -i "s/version .*/version $i/" f
        echo "$i" >&"$FLASHLAB_ACK_FD"
    done
    ;;
sed-ask) cat f ;;
sed-check)
    newest=$(tail -n 1 "$FLASHLAB_ACKS")
    [ "$(wc -l < f)" = 200 ] || { echo "f has $(wc -l < f) lines of 200"; exit 1; }
    version=$(sed -n '1s/.*version //p' f)
    ! grep -qv "version $version\$" f || { echo "f has lines of several versions"; exit 1; }
    [ "$version" -ge "${newest:-0}" ] || { echo "lost: version $newest, the file is version $version"; exit 1; }
    ;;
hg-setup)
    "${HG:-hg}" init .
    echo 0 > file && "${HG:-hg}" commit -q -A -m 0
    ;;
hg-write)
    for i in $(seq "$rounds"); do
        echo "line $i" >> file
        "${HG:-hg}" commit -q -m "$i"
        "${HG:-hg}" log -r . -T '{node}\n' >&"$FLASHLAB_ACK_FD"
    done
    ;;
hg-check | hg-ask)
    rm -f .hg/wlock .hg/store/lock # as after a reboot, when nobody holds them
    [ ! -e .hg/store/journal ] || "${HG:-hg}" recover -q # what Mercurial asks its user to do
    "${HG:-hg}" verify -q
    [ "$2" = check ] || exec "${HG:-hg}" log -T '{desc}\n'
    for node in $(tail -n 1 "$FLASHLAB_ACKS"); do "${HG:-hg}" log -r "$node" -T '' || { echo "lost: commit $node"; exit 1; }; done
    ;;
fossil-setup)
    "${FOSSIL:-fossil}" init -A a r.fossil > out
    "${FOSSIL:-fossil}" open --force r.fossil > out
    echo 0 > file && "${FOSSIL:-fossil}" add file > out && "${FOSSIL:-fossil}" commit --no-warnings -m 0 > out
    ;;
fossil-write)
    for i in $(seq "$rounds"); do
        echo "line $i" >> file
        "${FOSSIL:-fossil}" commit --no-warnings -m "commit $i" > out
        echo "$i" >&"$FLASHLAB_ACK_FD"
    done
    ;;
fossil-check | fossil-ask)
    "${FOSSIL:-fossil}" test-integrity -R r.fossil > out || { cat out; exit 1; }
    [ "$2" = check ] || exec "${FOSSIL:-fossil}" timeline -R r.fossil -n 0 -F %c
    for i in $(cat "$FLASHLAB_ACKS"); do
        "${FOSSIL:-fossil}" timeline -R r.fossil -n 0 | tr '\n' ' ' | grep -q "commit $i" || { echo "lost: commit $i"; exit 1; }
    done
    ;;
*) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
