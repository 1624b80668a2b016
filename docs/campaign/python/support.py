"""What the writers and checks of the campaign share: promises, and the two roles of a program.

A program is run as `NAME.py write` on the mount and as `NAME.py check` on each state; some have a `setup` before. `NAME.py ask` prints what is there and
what is not, and judges nothing: a question for --check auto.
"""
import os
import sys


def promise(text):
    os.write(int(os.environ["FLASHLAB_ACK_FD"]), b"%s\n" % str(text).encode())


def promised():
    with open(os.environ["FLASHLAB_ACKS"]) as lines:
        return [line.rstrip("\n") for line in lines]


def need(holds, what):
    if not holds and sys.argv[1] == "ask":
        print(what)
    elif not holds:
        sys.exit(what)


def run(write, check, setup=None):
    {"write": write, "check": check, "ask": check, "setup": setup}[sys.argv[1]]()
