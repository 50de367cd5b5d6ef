"""Runs in a guest, alone: runs the commands that come over the line from outside (guest.py), several at a time.

A request is a line of JSON, and so is the answer with the same `id`. The first answer, 0, says that the guest is ready. When the other
end of the line is gone, the agent ends, and with it the guest.

In a guest that has a network it also serves the other guest's mpirun, which reaches it through `remote`: one line, a shell command, is
answered by its output. The lines "stacks MARK" and "end MARK" are about all processes here of a job (jobs/job.py).
"""

import dataclasses
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading

from sluice_dev.jobs.job import Result, kill_job, run_command, stacks_of, survivors

PORT = 7272
ANSWER_SECONDS = 120  # of another guest
QUESTION = re.compile(r"(stacks|end) ([0-9a-f]+)$")

# Of two ways over a verbs device, the host's own components take one or the other, or complain; here they are to leave it to Sluice.
HOST_SETTINGS = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "^openib,ofi,uct,usnic", "OMPI_MCA_osc": "^ucx", "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8"}


class Line:
    """The virtio port. Answers come from many threads."""

    def __init__(self):
        self._port = os.open(f"/dev/{_port_named('agent')}", os.O_RDWR)
        self._writing = threading.Lock()

    def requests(self):
        with os.fdopen(os.dup(self._port), "rb") as lines:
            for line in lines:
                yield json.loads(line)

    def answer(self, number, **answer):
        rest = json.dumps({"id": number, **answer}).encode() + b"\n"
        with self._writing:
            while rest:
                rest = rest[os.write(self._port, rest):]


def _port_named(name):
    for path in pathlib.Path("/sys/class/virtio-ports").glob("*/name"):
        if path.read_text().strip() == name:
            return path.parent.name
    sys.exit(f"softroce: there is no virtio port {name}")


def carry_out(request):
    """Result of a command, as a dictionary."""
    peers = request["peers"]

    def stacks_everywhere(mark):
        return "\n".join([stacks_of(mark), *(f"--- on {peer}:\n{ask(peer, 'stacks', mark)}" for peer in peers)])

    mark = os.urandom(16).hex()
    try:
        result = run_command(request["command"], {**HOST_SETTINGS, **request["environment"]}, request["seconds"], request["directory"],
                             mark=mark, stacks=stacks_everywhere)
    except OSError as error:
        result = Result(127, "", f"{error.filename or request['command'][0]}: {error.strerror}", 0.0)
    for peer in peers:
        result.left_behind += [f"{process} on {peer}" for process in ask(peer, "end", mark).splitlines()]
    if result.timed_out:
        result.left_behind = []
    return dataclasses.asdict(result)


def ask(peer, what, mark):
    try:
        with socket.create_connection((peer, PORT), ANSWER_SECONDS) as line:
            line.sendall(f"{what} {mark}\n".encode())
            line.shutdown(socket.SHUT_WR)
            return line.makefile("rb").read().decode(errors="replace")
    except OSError as error:
        return f"(no answer: {error})"


def serve_others():
    with socket.create_server(("", PORT)) as door:
        while True:
            line, _ = door.accept()
            threading.Thread(target=serve, args=(line,), daemon=True).start()


def serve(line):
    with line:
        said = line.makefile("r", encoding="utf-8").readline().strip()
        if question := QUESTION.match(said):
            line.sendall(answer_about(*question.groups()).encode())
        elif said:
            subprocess.run(["sh", "-c", said], stdin=subprocess.DEVNULL, stdout=line, stderr=line, start_new_session=True,
                           env={**os.environ, **HOST_SETTINGS}, check=False)


def answer_about(what, mark):
    if what == "stacks":
        return stacks_of(mark)
    left = survivors(mark)
    kill_job(mark)
    return "\n".join(left)


def main():
    line = Line()
    if os.environ["GUEST_INTERFACE"] == "eth0":
        threading.Thread(target=serve_others, daemon=True).start()
    uptime = float(pathlib.Path("/proc/uptime").read_text(encoding="ascii").split()[0])
    line.answer(0, seconds=uptime, adapters=[path.name for path in pathlib.Path("/sys/class/infiniband").glob("*")])
    for request in line.requests():
        threading.Thread(target=lambda request=request: line.answer(request["id"], result=carry_out(request)), daemon=True).start()
