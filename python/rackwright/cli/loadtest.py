"""`rw loadtest`: an open-loop client for services on UDP, and a service to try it on."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli.forms import ARRIVAL_FORMS, WORK_FORMS
from rackwright.cli.output import (
    EXIT_FAILED,
    JsonOption,
    messages,
    print_json,
    print_record,
    print_table,
    working,
)
from rackwright.cli.signals import signals_held
from rackwright.errors import RackwrightError

if TYPE_CHECKING:
    from rackwright.loadtest import LoadPlan, LoadResult, Protocol


class ProtocolName(StrEnum):
    """The format of requests."""

    work = "work"
    memcached = "memcached"


def loadtest(
    addresses: Annotated[
        list[str] | None, typer.Argument(metavar="HOST:PORT…", help="Addresses of services or dispatchers.")
    ] = None,
    rate: Annotated[float, typer.Option(help="Average number of requests per second.")] = 1000.0,
    arrivals: Annotated[str, typer.Option(help=f"{ARRIVAL_FORMS}.")] = "poisson",
    work: Annotated[str, typer.Option(help=f"How long to work: {WORK_FORMS}.")] = "constant:0",
    requests: Annotated[int | None, typer.Option(min=1, help="Number of requests; 10000 by default.")] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.001, help="Duration, which determines the number of requests at this rate."),
    ] = None,
    warmup: Annotated[int, typer.Option(min=0, help="Number of initial requests that are not measured.")] = 0,
    connections: Annotated[int, typer.Option(min=1, help="Sockets for each address.")] = 8,
    timeout_ms: Annotated[float, typer.Option(help="Time after which a request counts as lost.")] = 1000.0,
    request_bytes: Annotated[int, typer.Option(min=12, help="Bytes of a request of `work`.")] = 64,
    protocol: Annotated[ProtocolName, typer.Option(help="Format of requests.")] = ProtocolName.work,
    command: Annotated[str, typer.Option(help="Request to memcached.")] = "get key",
    seed: Annotated[int, typer.Option(min=0, help="Seed of arrivals and work.")] = 1,
    serve: Annotated[bool, typer.Option("--serve", help="Run the services until a signal arrives.")] = False,
    simulated: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="Simulate services; the policy that selects a replica."),
    ] = None,
    racks: Annotated[int, typer.Option(min=1, help="With --simulated: number of racks of the services.")] = 3,
    replicas: Annotated[
        int, typer.Option(min=1, help="With --simulated: number of replicas in each rack.")
    ] = 1,
    cores: Annotated[
        int,
        typer.Option(
            min=1, help="With --serve or --simulated: requests that each service processes in parallel."
        ),
    ] = 1,
    spin: Annotated[
        bool, typer.Option("--spin", help="With --serve: occupy a processor while a request is served.")
    ] = False,
    header_bytes: Annotated[
        int, typer.Option(min=0, help="With --serve: bytes before a request that are returned unchanged.")
    ] = 0,
    json: JsonOption = False,
) -> None:
    """Put load on services over UDP, or on simulated ones, and measure their response times.

    Requests are due independent of earlier ones, and latencies are measured from the due time. The exit
    status is 1 if there was no response.

    Examples:
        ./rw loadtest --serve 127.0.0.1:9000 127.0.0.1:9001 --cores 2

        ./rw loadtest 127.0.0.1:9000 --rate 2000 --work exponential:500 --seconds 5

        ./rw loadtest 127.0.0.1:11211 --protocol memcached --rate 50000 --requests 500000

        ./rw loadtest --simulated daronpon --rate 90000 --work exponential:25 --requests 200000

    """
    if bool(addresses) == (simulated is not None):
        raise RackwrightError("a load needs the addresses of services, HOST:PORT, or --simulated POLICY")
    if serve:
        _serve(addresses or [], cores, spin, header_bytes, json)
        return
    from rackwright.loadtest import LoadPlan, Memcached, SimulatedServices, Work, put_load
    from rackwright.loadtest.words import parse_arrivals, parse_work

    count = requests or (max(1, round(rate * seconds)) if seconds else 10_000)
    chosen: Protocol = Work(request_bytes) if protocol == ProtocolName.work else Memcached(command)
    plan = LoadPlan(
        targets=SimulatedServices(simulated, racks, replicas, cores) if simulated else addresses or [],
        arrivals=parse_arrivals(arrivals, rate),
        work=parse_work(work),
        protocol=chosen,
        requests=count,
        warmup=warmup,
        connections=connections,
        timeout_ms=timeout_ms,
        seed=seed,
    )
    with working(f"{count:,} requests") as activity:
        result = put_load(plan, lambda sent: activity.detail(f"{sent:,} of {count:,} requests sent"))
    if json:
        print_json({"plan": plan.describe(), **result.record()})
    else:
        _print(plan, result)
    if not result.answered:
        raise typer.Exit(EXIT_FAILED)


def _print(plan: LoadPlan, result: LoadResult) -> None:
    print_record(
        [
            ("sent", f"{result.sent:,} requests, {result.offered_per_second:,.0f} per second"),
            ("answered", f"{result.answered:,}, {result.answered_per_second:,.0f} per second"),
            ("lost", f"{result.lost:,} after {plan.timeout_ms:g} ms; {result.late:,} answers late or twice"),
        ]
    )
    columns = [("latency, us", "left"), *((name, "right") for name in ("mean", "50 %", "90 %", "95 %"))]
    columns += [(name, "right") for name in ("99 %", "99.9 %", "longest")]
    rows = [
        ("from when it was due", result.latency),
        ("from when it was sent", result.latency_from_send),
        ("from due to sent", result.send_delay),
    ]
    print_table(columns, [[name, *(f"{value:,.1f}" for value in _times(row))] for name, row in rows])


def _times(row: object) -> list[float]:
    return [value for name, value in vars(row).items() if name != "count"]


def _serve(addresses: list[str], cores: int, spin: bool, header_bytes: int, json: bool) -> None:
    from rackwright.loadtest import WorkServices

    with signals_held() as signals, WorkServices(addresses, cores, spin, header_bytes) as services:
        messages.print(f"at work on {', '.join(services.addresses)}", highlight=False, soft_wrap=True)
        begin = time.monotonic()
        signals.wait_for_end()
        record = {
            "addresses": services.addresses,
            "answered": services.answered,
            "malformed": services.malformed,
            "seconds": time.monotonic() - begin,
        }
        if json:
            print_json(record)
        else:
            print_record([("answered", f"{services.answered:,}"), ("malformed", f"{services.malformed:,}")])
