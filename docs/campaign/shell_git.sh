#!/bin/sh
# git: a commit has returned. `shell_git.sh setup|write|check|ask`, check integrity: without the promise; GIT_SYNC is the value of core.fsync, empty: the default;
# STORE_TRANSACTIONS commits are made (5).
set -e
unlock() { # what git asks its user to do after a crash
    for lock in .git/index.lock .git/HEAD.lock .git/refs/heads/*.lock; do
        [ ! -e "$lock" ] || rm "$lock"
    done
}
export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
case $1 in
setup)
    git init -q .
    [ -z "$GIT_SYNC" ] || git config core.fsync "$GIT_SYNC"
    git config gc.auto 0
    git commit -q --allow-empty -m 0
    ;;
write)
    unlock
    i=0
    while [ "$i" -lt "${STORE_TRANSACTIONS:-5}" ]; do
        i=$((i + 1))
        echo "line $i" >> file
        git add file
        git commit -q -m "$i"
        echo "$i $(git rev-parse HEAD)" >&"$FLASHLAB_ACK_FD"
    done
    ;;
check | ask)
    unlock
    git fsck --full --strict --no-dangling # reads HEAD, the branches, their logs, the index and every object
    [ "$1" = check ] || exec git log --format=%s
    [ "$2" != integrity ] || exit 0
    tail -n 1 "$FLASHLAB_ACKS" | while read -r _ commit; do
        git merge-base --is-ancestor "$commit" HEAD
    done
    ;;
esac
