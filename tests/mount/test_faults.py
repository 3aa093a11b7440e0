"""A store that misbehaves: right bytes, or the errno that says why."""

import os
import subprocess
import threading
import time

import pytest

from tests.faults.server import Object
from tests.support import pattern

MIB = 1 << 20
SIZE = 12 * MIB + 77


@pytest.fixture
def one(faults, mount):
    server = faults()
    server.put("b", "f", Object(size=SIZE, generation=1))
    server.put("b", "g", Object(size=SIZE, generation=2))
    return server, lambda **more: mount(server, "s3://b", **more)


def right(path, generation=1):
    assert path.read_bytes() == pattern.read(0, SIZE, generation)


def errno_of(path):
    with pytest.raises(OSError) as error:
        path.read_bytes()
    return error.value.errno


@pytest.mark.parametrize("fault", [
    {"range": "shift:-512"}, {"range": "shift:1"}, {"range": "nocr"}, {"range": "long:10"},
    {"range": "ignore"}, {"range": "short_cl:100"}, {"range": "short_chunked:100"},
    {"range": "short_close:100"}, {"content_range": "bytes 5-4/64"},
    {"content_range": "bytes 0-9/*"}, {"content_range": f"bytes 0-9/{SIZE + 1}"},
    {"content_range": "bytes 18446744073709551615-3/4"}, {"rst_after": 100_000},
    {"rst_after": 0}, {"status": 503, "code": "SlowDown"}, {"status": 500}, {"status": 502},
    {"status": 429}, {"status": 400, "code": "RequestTimeout"},
    {"status": 503, "headers": {"Retry-After": "1"}}, {"piece": 1000},
    {"headers": {"Transfer-Encoding": "chunked"}, "status": 200, "body": ""},
])
def test_a_fault_that_passes_is_not_seen(one, fault):
    server, start = one
    m = start()
    rule = server.rule(when={"kind": "get", "key": "f", "times": 3}, **fault)
    right(m.path / "f")
    assert rule.applied >= 1
    m.remount()
    right(m.path / "f")


@pytest.mark.parametrize("fault", [
    {"range": "shift:1"}, {"range": "nocr"}, {"range": "ignore"}, {"status": 503},
    {"range": "short_chunked:70000"}, {"rst_after": 0}])
def test_a_fault_that_stays_is_eio_and_other_files_go_on(one, fault):
    server, start = one
    m = start(retries=3, timeout="5s")
    rule = server.rule(when={"kind": "get", "key": "f"}, **fault)
    assert errno_of(m.path / "f") == 5
    assert rule.applied
    right(m.path / "g", 2)
    server.rules.clear()
    right(m.path / "f")


def test_denied_is_eacces_and_never_absence(one):
    server, start = one
    m = start()
    rule = server.rule(when={"kind": "get", "key": "f"}, status=403, code="AccessDenied")
    assert errno_of(m.path / "f") == 13 and rule.applied
    server.rules.clear()
    right(m.path / "f")


def test_a_failed_lookup_is_not_no_such_file(one):
    server, start = one
    m = start(retries=2, metadata_ttl="0")
    rule = server.rule(when={"kind": "list"}, status=503)
    rule2 = server.rule(when={"kind": "head"}, status=503)
    with pytest.raises(OSError) as error:
        os.stat(m.path / "nothing-here")
    assert error.value.errno == 5 and rule.applied + rule2.applied > 0


def test_an_object_that_changed_is_estale_then_new(one):
    server, start = one
    m = start(metadata_ttl="forever")
    os.listdir(m.path)
    with open(m.path / "f", "rb", buffering=0) as file:
        assert file.read(4096) == pattern.read(0, 4096, 1)
        server.put("b", "f", Object(size=SIZE, generation=3))
        with pytest.raises(OSError) as error:
            os.pread(file.fileno(), 65536, SIZE - 65536)
        assert error.value.errno == 116
    end = time.monotonic() + 5
    while True:
        try:
            right(m.path / "f", 3)
            break
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)


def test_a_deleted_object_is_gone_for_new_opens(one):
    server, start = one
    m = start()
    with open(m.path / "f", "rb", buffering=0) as file:
        file.read(4096)
        server.remove("b", "f")
        with pytest.raises(OSError) as error:
            os.pread(file.fileno(), 65536, SIZE - 65536)
        assert error.value.errno == 116
    end = time.monotonic() + 5
    while os.path.exists(m.path / "f"):
        assert time.monotonic() < end
        time.sleep(0.05)
    right(m.path / "g", 2)


def test_a_stall_is_left_for_a_new_connection(one):
    server, start = one
    m = start()
    rule = server.rule(when={"kind": "get", "key": "f", "times": 1}, stall_after=100_000,
                       seconds=1000)
    begin = time.monotonic()
    right(m.path / "f")
    assert rule.applied and time.monotonic() - begin < 40


def test_a_killed_reader_ends_at_once(one):
    server, start = one
    m = start()
    server.rule(when={"kind": "get", "key": "f"}, stall_after=0, seconds=1000)
    reader = subprocess.Popen(["cat", str(m.path / "f")], stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    reader.kill()
    begin = time.monotonic()
    reader.wait(10)
    assert time.monotonic() - begin < 3
    right(m.path / "g", 2)


def test_stalled_reads_stop_neither_stat_nor_cached_reads(one):
    server, start = one
    m = start()
    right(m.path / "g", 2)
    server.rule(when={"kind": "get", "key": "f"}, stall_after=0, seconds=1000)
    readers = [subprocess.Popen(["dd", f"if={m.path}/f", "of=/dev/null", "bs=64k", "count=1",
                                 f"skip={i}"], stderr=subprocess.DEVNULL) for i in range(64)]
    try:
        time.sleep(0.5)
        begin = time.monotonic()
        os.stat(m.path / "g")
        right(m.path / "g", 2)
        assert time.monotonic() - begin < 1
    finally:
        for reader in readers:
            reader.kill()
        for reader in readers:
            reader.wait(10)


def test_signals_never_show(one):
    server, start = one
    server.delay_ms = {"get": 100}
    m = start()
    program = r"""
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
static void tick(int s) { (void)s; }
int main(int argc, char **argv) {
    struct sigaction a = { .sa_handler = tick };
    sigaction(SIGALRM, &a, NULL);
    struct itimerval t = { {0, 1000}, {0, 1000} };
    setitimer(ITIMER_REAL, &t, NULL);
    int fd = open(argv[1], O_RDONLY);
    if (fd < 0) return 1;
    static char b[65536]; ssize_t n; unsigned long sum = 0;
    while ((n = read(fd, b, sizeof(b))) > 0) for (ssize_t i = 0; i < n; i++) sum += (unsigned char)b[i];
    printf("%lu\n", sum);
    return n < 0;
}"""
    path = str(m.path) + "-timer"
    subprocess.run(["cc", "-O2", "-xc", "-", "-o", path], input=program.encode(), check=True)
    try:
        done = subprocess.run([path, str(m.path / "f")], capture_output=True, timeout=60,
                              check=False)
        assert done.returncode == 0
        assert int(done.stdout) == sum(pattern.read(0, SIZE, 1))
    finally:
        os.unlink(path)


def test_an_outage_shorter_than_the_timeout_is_not_seen(faults, mount):
    server = faults()
    server.put("b", "f", Object(size=SIZE, generation=1))
    m = mount(server, "s3://b")
    os.stat(m.path / "f")
    port = server.port
    server.stop()
    result = []
    reader = threading.Thread(target=lambda: result.append((m.path / "f").read_bytes()))
    reader.start()
    time.sleep(3)
    again = type(server)(port=port)
    again.put("b", "f", Object(size=SIZE, generation=1))
    again.start()
    try:
        reader.join(20)
        assert result and result[0] == pattern.read(0, SIZE, 1)
    finally:
        again.stop()
