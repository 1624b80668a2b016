"""LevelDB (plyvel), put(sync=True) has returned."""
from support import run
from leveldb_default import check, write

run(lambda: write(True), check)
