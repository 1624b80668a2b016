"""LMDB with sync=False and writemap=True: no promise but that the database opens and is right."""
import lmdb_default  # noqa: F401  its name chooses the options
