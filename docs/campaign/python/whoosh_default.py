"""Whoosh: commit() has returned; the index opens and holds what was added."""
import os
from support import need, promise, promised, run
from whoosh import index
from whoosh.fields import ID, Schema


def write():
    os.mkdir("index")
    ix = index.create_in("index", Schema(n=ID(stored=True, unique=True)))
    for i in range(1, 7):
        writer = ix.writer()
        writer.add_document(n="%d" % i)
        writer.commit()
        promise(i)


def check():
    if not os.path.isdir("index") or not index.exists_in("index"):
        need(not promised(), "there is no index")
        return
    have = {d["n"] for d in index.open_dir("index").searcher().documents()}
    need(have >= set(promised()), "lost: %s" % sorted(set(promised()) - have))


run(write, check)
