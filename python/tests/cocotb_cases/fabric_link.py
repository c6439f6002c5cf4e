"""Transfers over a link of cocotbext-pcie, which runs below cocotb: see `test_fabric_cocotb.py`.

A case is a file of JSON, named in the environment: the link, the credits of both ends, the times of both
parts behind it, and the packets of each request and its completions. The result is a list of instants in
femtoseconds, one for each request that is done.
"""

# mypy: ignore-errors
from __future__ import annotations

import json
import os
from pathlib import Path

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import Timer
from cocotb.utils import get_sim_time
from cocotbext.pcie.core.port import SimPort
from cocotbext.pcie.core.tlp import Tlp


@cocotb.test()
async def transfers(_design) -> None:
    case = json.loads(Path(os.environ["CASE"]).read_text(encoding="utf-8"))
    card, root = port(case, case["card_credits"]), port(case, case["root_credits"])
    done: list[int] = []
    tickets = Queue()
    for _ in range(case["outstanding"]):
        tickets.put_nowait(None)
    answers = {bytes.fromhex(asked): list(map(bytes.fromhex, data)) for asked, data in case["requests"]}

    async def take_request(tlp: Tlp) -> None:
        cocotb.start_soon(serve(tlp))

    async def serve(tlp: Tlp) -> None:
        await Timer(case["root_fs"], "fs")
        tlp.release_fc()
        completions = answers[bytes(tlp.pack())]
        if not completions:
            finish()
        for number, each in enumerate(completions):
            completion = Tlp.unpack(each)
            completion.is_last = number + 1 == len(completions)
            await root.send(completion)

    async def take_completion(tlp: Tlp) -> None:
        tlp.release_fc()
        if tlp.byte_count <= 4 * tlp.length:
            cocotb.start_soon(end())

    async def end() -> None:
        await Timer(case["card_fs"], "fs")
        finish()

    def finish() -> None:
        done.append(get_sim_time("fs"))
        tickets.put_nowait(None)

    card.rx_handler, root.rx_handler = take_completion, take_request
    card.connect(root)
    for asked, _ in case["requests"]:
        await tickets.get()
        await card.send(Tlp.unpack(bytes.fromhex(asked)))
    while len(done) < len(case["requests"]):
        await Timer(1, "us")
    Path(os.environ["RESULT"]).write_text(json.dumps(done), encoding="utf-8")


def port(case: dict, credits: list[int]) -> SimPort:
    """One end of the link; both ends add half of its delay."""
    one = SimPort([credits] * 8)
    one.max_link_speed, one.max_link_width = case["generation"], case["lanes"]
    one.max_payload_size = case["payload_bytes"]
    one.port_delay = case["delay_ns"] * 0.5e-9
    return one
