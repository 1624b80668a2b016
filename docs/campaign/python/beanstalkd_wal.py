"""beanstalkd with a log (-b): INSERTED was answered. The argument is -f's, the milliseconds between syncs; 0: each job."""
import os
import socket
import subprocess
import sys
import time
from support import need, promise, promised, run

milliseconds = sys.argv[2]


class Server:
    def __init__(self):
        os.makedirs("wal", exist_ok=True)
        self.path = "/tmp/beanstalkd.%d" % os.getpid()
        self.process = subprocess.Popen(["beanstalkd", "-l", "unix:" + self.path, "-b", "wal", "-f", milliseconds, "-s", "4096"],
                                        stderr=subprocess.PIPE)
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(200):
            try:
                self.socket.connect(self.path)
                return
            except OSError:
                time.sleep(0.02)
        need(False, "beanstalkd does not start: %s" % self.process.stderr.read())

    def ask(self, text):
        self.socket.sendall(text)
        return self.socket.recv(4096)

    def stop(self):
        self.process.kill()
        self.process.wait()
        os.unlink(self.path)


def write():
    server = Server()
    for i in range(1, 13):
        body = b"%03d" % i * 100
        need(server.ask(b"put 1 0 60 %d\r\n%s\r\n" % (len(body), body)).startswith(b"INSERTED"), "not inserted")
        promise(i)
    server.stop()


def check():
    server = Server()
    found = set()
    try:
        while True:
            answer = server.ask(b"reserve-with-timeout 0\r\n")
            if not answer.startswith(b"RESERVED"):
                break
            number, body = answer.split(b"\r\n")[0].split()[1], answer.split(b"\r\n")[1]
            found.add(int(body[:3]))
            need(body == b"%03d" % int(body[:3]) * 100, "a job with a wrong body")
            server.ask(b"delete %s\r\n" % number)
    finally:
        server.stop()
    lost = set(map(int, promised())) - found
    need(not lost, "lost: %s" % sorted(lost))


run(write, check)
