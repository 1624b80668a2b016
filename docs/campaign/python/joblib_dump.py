"""joblib.dump to a file that is there already: the old object or the new one loads."""
import os
from support import need, promise, promised, run
import joblib


def write():
    for i in range(1, 9):
        joblib.dump({"n": i, "data": list(range(2000))}, "model.joblib")
        promise(i)


def check():
    if promised():
        need(joblib.load("model.joblib")["n"] >= int(promised()[-1]), "an older model")


run(write, check)
