"""Runs commands of `./rw` in copies of one process that has imported what they need.

Importing is most of what most commands do: half a second of a processor, and as much again for pandas.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import socket
import sys
from select import EPOLLIN, epoll
from typing import NoReturn

MESSAGE_BYTES = 1 << 16
"""The longest request."""


def serve(requests: socket.socket) -> list[str]:
    """Forks for each request; returns its words in the copy, which is to become the command.

    A request is a JSON list: the folder in which the command runs, and its arguments. It comes with four
    descriptors: standard input, output and error, and a socket for two answers: the number of the process,
    then its exit status. The server ends when no process has the other end of `requests`.
    """
    events = epoll()
    events.register(requests, EPOLLIN)
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        for ready, _ in events.poll():
            if ready in running:
                events.unregister(ready)
                _report(ready, *running.pop(ready))
                continue
            message, descriptors, _, _ = socket.recv_fds(requests, MESSAGE_BYTES, 4)
            if not message:
                os._exit(0)
            *streams, answers = descriptors
            command = os.fork()
            if command == 0:
                events.close()
                requests.close()
                for ended, (_, answer) in running.items():
                    os.close(ended)
                    answer.close()
                os.close(answers)
                _connect(streams)
                words: list[str] = json.loads(message)
                return words
            for stream in streams:
                os.close(stream)
            ended, answer = os.pidfd_open(command), socket.socket(fileno=answers)
            answer.send(json.dumps(command).encode())
            events.register(ended, EPOLLIN)
            running[ended] = command, answer


def _report(ended: int, command: int, answer: socket.socket) -> None:
    _, status = os.waitpid(command, 0)
    os.close(ended)
    with answer:
        answer.send(json.dumps(os.waitstatus_to_exitcode(status)).encode())


def _connect(streams: list[int]) -> None:
    """Makes these the process's standard input, output and error."""
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)


def _end(status: int) -> NoReturn:
    """Ends as Python does, except that modules are not taken apart, which would take as long as importing."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    # The folder of this file is no place for a command to find modules in.
    del sys.path[0]
    import pandas  # noqa: F401

    from rackwright.cli.app import command_line

    command_line()
    # What is never collected is never written to, and stays one memory for all.
    gc.freeze()
    folder, *arguments = serve(socket.socket(fileno=int(sys.argv[1])))
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.argv[1:] = arguments
    try:
        runpy.run_module("rackwright.cli", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        _end(int(ended.code or 0))
