"""System calls of programs in user mode: C programs whose right output is written down here."""

from __future__ import annotations

import csv
import resource
import subprocess
import tomllib
from pathlib import Path

import pytest
from command_line import rw

from bootstrap.paths import REPOSITORY, SOFTWARE
from rackwright import Server, compile_program

CODE_CHANGES = """\
in place 190
protected in turn 190
mapped anew 190
mapped twice 190
in threads 210, with fences 210
"""

FILES = """\
read alone ok, mode 640, appended 11, the host's ENOENT, standard output ok
truncate ok
read written, mapped written
seen changed, sync ok, resident ok
writable EACCES
kept written
folder ok, link ok, symlink ok
readlink 6 mapped
links 1 2
entry . 4
entry .. 4
entry mapped 8
entry soft 10
entry sub 4
again .
occupied ENOTEMPTY, no folder ENOTDIR, rename ok
no replacing EEXIST
removed ok ok ok
times ok 3.4, mode ok 600
outside EACCES, gone ENOENT
went on 0, later 1, end EINVAL
same 1, taken for another 0, negative EINVAL EINVAL, unnamed, opened 1 EMFILE
links out ENOENT ENOENT ENOENT ENOENT, oneself ELF
sendfile 3 to 4, copy 4, at 10
bcd...defg
allocate ok 100
machine 243 ELF files.elf
TracerPid:\t0, user ok 0, fixed addresses 1, zeros ok 0, ahead ok EINVAL
"""

EVENTS = """\
pipe 300000 5a209e640a05a990, written 300000
empty EAGAIN, full after 64 EAGAIN, broken EPIPE
broken in a wait: EPIPE -32, signals 1
broken in a wait: after 8192, signals 1
at once ok, list ok, with a signal EINTR 1, without ok, held back 1
twice EEXIST
nothing 0 for 3 ms
told 1 of 42, events 1, no edge 0, value 5
timer 1 43 after 4 ms, read 8, expired 3
poll 2 4 20
select 0 0
nested ok, in a circle ELOOP
no signal EAGAIN, list 1 44, of one ok 128: 12 code -1 value 77, the other 128: 10 by 1, short EINVAL, left 0
awaited 128: 12
splice EINVAL 5 to 9, ESPIPE, on 3, back 3 to 4: 0456456789, empty EAGAIN, left 2, end 0
slept 100000 s
"""

SIGNALS = """\
null: signal 11 code 1 at 8
read-only: signal 11 code 2 at 5
no code: signal 11 code 2 at 0
forbidden: signal 11 code 2 at 1
unmapped: signal 11 code 1 at 2
beyond a file: signal 7 code 2 at 4100
load: signal 7 code 1 at 0
swap: signal 7 code 1 at 0
no unit: signal 4 code 1 at 0
no instruction: signal 4 code 1 at 0
pending 1 0, taken 1 15 35 35 36
waited 10 42 -1
timed -1 EAGAIN
from a thread 10 7
suspended -1 EINTR, taken 1
timer 1 value 9 code -2, overrun 2 2
time left 1
"""

MAPPINGS = """\
sealed while mapped EBUSY, then ok, mapped EPERM, written EPERM ok
beyond 7, read-only 11, beyond 11, grown 11, a part 11 0
fixed 1 moved second 0, left 11, over itself EINVAL, without moving EINVAL
in place 1 moved, no room ENOMEM, hidden moved
unmapped EINVAL kept, nothing EINVAL, odd EINVAL, much ok 11 0, a folder ENODEV, neither EINVAL
attached seen, written 11, 205000 by a child, named 1 EEXIST EINVAL ENOENT, removed ok ENOENT EINVAL, \
later ok EINVAL by a child 105000, gone -1 11
advised EINVAL 111, rounded up ok 00, unknown EINVAL, in children EINVAL, a hole ENOMEM 0, nothing ok
"""

PROCESSES = """\
seen 123, then 1 2 6
through two pipes 300000, sum 13799136, ended 0 0
into nothing 1013
nobody ECHILD
one of many 14, the others 46, nobody ECHILD
not yet 0, killed 1015, faulted 1011, too late 1014
by id ok 1 3 1, once more 3, not twice ECHILD
told 1 of 1, awaited by a signal 2
nobody asks ECHILD
from the parent 0, none ESRCH
a group 1009, own 1
turns 4000, ended 0
after vfork 24, without a program 5
spawned 0, said 17: hello, open EBADF, ended 2
of a thread 23
not executable EACCES, a script 24, no file ENOENT, a folder EACCES
the last one
"""

SOCKETS = """\
right answers 160
served 161 lines
last 14 answer to stop
fresh 14, read ENOTCONN, connect EINPROGRESS 4 0 ok EISCONN, peer 16 1 127.0.0.1
empty EAGAIN, options 1 1 2, timed EAGAIN, peeked 3 of 6, taken 6
reset 4 ECONNRESET 0, sent EPIPE
much 300000 300000, half open 2005, shut 2015 EPIPE
taken EADDRINUSE, refused ECONNREFUSED EINPROGRESS c 1, no socket ENOTSOCK EPROTONOSUPPORT
from 4 ok, from 6 ok, ::ffff:127.0.0.1, ::1, peer 1
sent 8, cut 8 1 data from 127.0.0.1 1, empty 0, none EAGAIN, gone ok ECONNREFUSED, long EFAULT
pair 7 through, mode 1, closed 15 0 EPIPE
kept apart 5 6 second
no file ENOENT, bound ok, early ECONNREFUSED, connected ok 1, peer socket 9, again EADDRINUSE, abstract ok ok
broken EPIPE, signal 13
"""

SHARING = """\
by a lock of the file 600
by a lock of bytes 600
by a lock of an open file 600
whole ok ok EAGAIN ok ok EAGAIN ok EINVAL
parts ok ok EBADF ok 1, held 1 10 10 1 ok EAGAIN ok EINVAL
after a close 0
memory EEXIST, counted 600, ended 0, removed ok ENOENT, kept 600, ENOENT ok ENOENT
named 1 ok at 8, contents, size 8 640, to append ok 9, through, closed ENOENT ENOENT
exchanged ok ok ok
"""

EXPECTED = {
    "code_changes": CODE_CHANGES,
    "files": FILES,
    "events": EVENTS,
    "signals": SIGNALS,
    "mappings": MAPPINGS,
    "processes": PROCESSES,
    "sockets": SOCKETS,
    "sharing": SHARING,
}


@pytest.fixture(scope="module", params=sorted(EXPECTED))
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = SOFTWARE / "tests" / f"{request.param}.c"
    output = tmp_path_factory.mktemp("programs") / f"{request.param}.elf"
    return compile_program([source], output, ["-O1", "-pthread", "-Wno-unused-result"])


@pytest.mark.parametrize(("cpu", "harts"), [("functional", 1), ("functional", 3), ("rocket", 2)])
def test_calls_do_what_they_do_in_linux(cpu: str, harts: int, program: Path, tmp_path: Path) -> None:
    runs = []
    for name in ("first", "other"):
        folder = tmp_path / name
        folder.mkdir()
        runs.append(Server(cpu, harts=harts).run(program, [str(folder)], write_folder=folder))
    result = runs[0]
    assert result.stdout.decode() == EXPECTED[program.stem]
    assert (result.exit_code, result.unknown_calls) == (0, ())
    if program.stem != "files":
        # That of the other run has the path of its folder in it.
        assert runs[1].cycles == result.cycles


MISSING = ("inotify_init1",)
"""Of the calls of `calls.c`: they are refused, and named at the end of the run."""


def test_calls_are_answered_as_by_qemu(tmp_path: Path) -> None:
    program = compile_program([SOFTWARE / "tests" / "calls.c"], tmp_path / "calls.elf")
    folders = [tmp_path / name for name in ("qemu", "here")]
    for folder in folders:
        folder.mkdir()
    asked = ["qemu-riscv64", str(program), str(folders[0])]
    qemu = subprocess.run(asked, stdout=subprocess.PIPE, check=True, timeout=60).stdout.decode().splitlines()
    result = Server("functional", harts=2).run(program, [str(folders[1])], write_folder=folders[1])
    here = result.stdout.decode().splitlines()
    assert len(qemu) == len(here) == 130
    others = [line.split() for line, known in zip(here, qemu, strict=True) if line != known]
    assert others == [[name, "ENOSYS"] for name in MISSING]
    assert result.unknown_calls == MISSING


def test_files_that_a_program_wrote_by_a_mapping_are_the_hosts(tmp_path: Path) -> None:
    source = tmp_path / "mapped.c"
    source.write_text(
        """
        #include <fcntl.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int main(int count, char **words) {
            int file = open(words[count - 1], O_RDWR | O_CREAT, 0644);
            if (ftruncate(file, 6)) return 1;
            char *bytes = mmap(0, 6, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            memcpy(bytes, "at end", 6);
            return 0;
        }
        """
    )
    written = tmp_path / "written"
    result = Server("functional").run(compile_program([source]), [str(written)], write_folder=tmp_path)
    assert (result.exit_code, written.read_bytes()) == (0, b"at end")


def test_a_program_reserves_more_address_space_than_there_is_memory(tmp_path: Path) -> None:
    source = tmp_path / "reserving.c"
    source.write_text(
        """
        #include <sys/mman.h>
        #define RESERVE MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        const unsigned long gib = 1ul << 30;
        int main(void) {
            char *space = mmap(0, 64 * gib, PROT_NONE, RESERVE, -1, 0), *middle = space + 33 * gib;
            if (space == MAP_FAILED || mprotect(middle, 1 << 20, PROT_READ | PROT_WRITE)) return 1;
            middle[5000] = 7;
            if (middle[5000] != 7 || middle[0] || munmap(space, 64 * gib)) return 2;
            return mmap(0, 1024 * gib, PROT_NONE, RESERVE, -1, 0) != MAP_FAILED;
        }
        """
    )
    program = compile_program([source])
    first, second = (Server("rocket").run(program) for _ in range(2))
    assert (first.exit_code, first.unknown_calls) == (0, ())
    assert first.digest == second.digest


def test_limits_and_networks_of_the_host_are_none_of_a_programs(tmp_path: Path) -> None:
    source = tmp_path / "reaching.c"
    source.write_text(
        """
        #include <arpa/inet.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <sys/socket.h>
        int main(int count, char **words) {
            struct sockaddr_in other = {.sin_family = AF_INET, .sin_port = htons(80)};
            inet_pton(AF_INET, "192.0.2.1", &other.sin_addr);
            int client = socket(AF_INET, SOCK_STREAM, 0), last = client;
            if (!connect(client, (struct sockaddr *)&other, sizeof other) || errno != ENETUNREACH) return 1;
            for (int file; (file = open("/dev/null", O_RDONLY)) >= 0;) last = file;
            return errno != EMFILE || last != 1023;
        }
        """
    )
    program = compile_program([source])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(200, soft), hard))
    try:
        result = Server("functional").run(program)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (result.exit_code, result.unknown_calls) == (0, ("connect to an address that is not loopback",))


def test_programs_that_others_wrote_print_what_they_do_on_qemu() -> None:
    folder = REPOSITORY / "validation" / "programs"
    tried = tomllib.loads((folder / "programs.toml").read_text())["program"]
    with (folder / "programs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [program["name"] for program in tried]
    assert len(rows) >= 40
    assert [row["name"] for row in rows if row["verdict"] != "same"] == []


@pytest.fixture(scope="module")
def watching(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that does without being told of files that change, and without a shell."""
    source = tmp_path_factory.mktemp("watching") / "watching.c"
    source.write_text(
        """
        #include <stdlib.h>
        #include <sys/inotify.h>
        int main(void) {
            return inotify_init1(0) < 0 && inotify_init1(0) < 0 && system("true") == 127 << 8 ? 7 : 1;
        }
        """
    )
    return compile_program([source])


NOT_EMULATED = ["inotify_init1", "execve of a file that is no static program for riscv64"]


def test_calls_that_are_not_emulated_are_named_at_the_end(watching: Path) -> None:
    result = rw("run", watching, "--cpu", "functional")
    assert result.status == 7
    named = ", ".join(NOT_EMULATED)
    assert f"the program made system calls that are not emulated: {named}\n" in result.stderr


def test_a_process_that_would_stop_ends_and_that_is_said(tmp_path: Path) -> None:
    source = tmp_path / "stopping.c"
    source.write_text(
        """
        #include <signal.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(void) {
            int status, child = fork();
            if (child == 0) return raise(SIGTSTP);
            return waitpid(child, &status, 0) == child && WIFSIGNALED(status) ? WTERMSIG(status) : 1;
        }
        """
    )
    result = Server("functional").run(compile_program([source]))
    assert result.exit_code == 20
    assert result.unknown_calls == ("signals that stop a process, which end it here",)


def test_calls_that_are_not_emulated_are_in_the_record(watching: Path) -> None:
    record = rw("run", watching, "--cpu", "functional", "--json").json()
    assert record["unknown_calls"] == NOT_EMULATED
