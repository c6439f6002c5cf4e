"""A headless Chromium that opens one page, driven through its DevTools protocol over pipes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def found() -> str | None:
    """A Chromium of this machine."""
    return next((path for name in _PROGRAMS if (path := shutil.which(name))), None)


@dataclass
class Page:
    """An open page. Exceptions of its scripts, and errors on its console, are in `errors`."""

    commands: int
    replies: int
    number: int = 0
    session: str | None = None
    pending: bytes = b""
    errors: list[str] = field(default_factory=list)

    def call(self, method: str, **parameters: Any) -> Any:
        """The answer to a command of the protocol."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def wait(self, event: str) -> None:
        """Until something happens."""
        while self._next().get("method") != event:
            pass

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, x: float, y: float) -> None:
        """Presses and releases the pointer at a place of the window."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def _next(self) -> Any:
        while b"\0" not in self.pending:
            more = os.read(self.replies, 1 << 16)
            assert more, "Chromium has ended"
            self.pending += more
        message, _, self.pending = self.pending.partition(b"\0")
        told = json.loads(message)
        if _is_error(told):
            self.errors.append(json.dumps(told["params"]))
        return told


def _is_error(told: Any) -> bool:
    """Whether an event is an exception, a call of `console.error`, or something that was not loaded."""
    about = told.get("params", {})
    errors: dict[str, bool] = {
        "Runtime.exceptionThrown": True,
        "Runtime.consoleAPICalled": about.get("type") in ("error", "assert"),
        "Log.entryAdded": about.get("entry", {}).get("level") == "error",
    }
    return errors.get(str(told.get("method")), False)


@contextmanager
def opened(page: Path, profile: Path) -> Iterator[Page]:
    """A page in a browser that keeps what it keeps in the folder `profile`."""
    program = found()
    assert program
    # The browser has its ends as descriptors 3 and 4.
    (theirs_in, commands), (replies, theirs_out) = os.pipe(), os.pipe()
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"]
    command = [program, *options, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
    # Other shells know no descriptors of two digits.
    shell = ["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", *command]
    browser = subprocess.Popen(shell, pass_fds=(theirs_in, theirs_out), stderr=subprocess.DEVNULL)
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        made = Page(commands, replies)
        target = made.call("Target.createTarget", url="about:blank")["targetId"]
        made.session = made.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        made.call("Runtime.enable")
        made.call("Log.enable")
        made.call("Page.enable")
        made.call("Page.navigate", url=page.as_uri())
        made.wait("Page.loadEventFired")
        yield made
    finally:
        browser.kill()
        browser.wait()
        os.close(commands)
        os.close(replies)
