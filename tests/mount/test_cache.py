"""The disk cache and what may happen to it: right bytes whatever it is, and its
limits kept. Reads are direct, so that the page cache hides nothing."""

import concurrent.futures
import mmap
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import time

import pytest

from tests.faults.server import Object
from tests.support import pattern

MIB = 1 << 20
PIECE = MIB


class Direct:
    """A file read past the page cache; checks what it reads."""

    def __init__(self, path, size, generation):
        self.fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
        self.size, self.generation = size, generation
        self.buffer = mmap.mmap(-1, PIECE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def check(self, offset, length=PIECE):
        view = memoryview(self.buffer)[:length]
        got = os.preadv(self.fd, [view], offset)
        assert got == min(length, self.size - offset), f"{got} at {offset}"
        assert view[:got] == pattern.read(offset, got, self.generation), f"at {offset}"

    def check_all(self):
        for offset in range(0, self.size, PIECE):
            self.check(offset)

    def cached(self):
        return int(os.getxattr(self.fd, "user.shardfs.cached_bytes"))


def fill(server, count, size, bucket="b", first=0, **more):
    for i in range(count):
        server.put(bucket, f"k{i:02d}", Object(size=size, generation=first + i, **more))


def check_file(m, number, size, first=0):
    with Direct(m.path / f"k{number:02d}", size, first + number) as file:
        file.check_all()


def check_files(m, count, size, first=0, workers=4):
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda i: check_file(m, i, size, first), range(count)))


def read_at_random(m, seconds, count, size, workers):
    """Readers at random places of all files; returns how many reads."""
    def one(seed):
        rng = random.Random(seed)
        end, reads = time.monotonic() + seconds, 0
        files = [Direct(m.path / f"k{i:02d}", size, i) for i in range(count)]
        while time.monotonic() < end:
            length = rng.choice((4096, 65536, 262144, PIECE))
            rng.choice(files).check(rng.randrange(size) // 4096 * 4096, length)
            reads += 1
        for file in files:
            os.close(file.fd)
        return reads
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return sum(pool.map(one, range(workers)))


def disk_use(directory):
    """Bytes the file system gives to it. Files may go meanwhile."""
    total = 0
    for root, _, names in os.walk(directory):
        for name in [*names, "."]:
            try:
                total += os.lstat(os.path.join(root, name)).st_blocks * 512
            except OSError:
                pass
    return total


class Watch:
    """The most a directory takes, looked at every 100 ms. One walk may count
    space twice that was freed and used again meanwhile: the least of three."""

    def __init__(self, directory):
        self.directory, self.most, self.going = directory, 0, True
        self.pool = concurrent.futures.ThreadPoolExecutor(1)
        self.job = self.pool.submit(self._run)

    def _run(self):
        while self.going:
            now = min(disk_use(self.directory) for _ in range(3))
            self.most = max(self.most, now)
            time.sleep(0.1)

    def end(self):
        self.going = False
        self.job.result()
        self.pool.shutdown()
        return self.most


def within_memory(m, memory):
    """Of a plain build: a sanitizer keeps what was freed."""
    return "ASAN_OPTIONS" in os.environ or m.rss_bytes() < memory + 64 * MIB


def data_files(cache_dir):
    return sorted(p for p in pathlib.Path(cache_dir).glob("v1/objects/*/*"))


def settle(m, count, size, timeout=5):
    """Waits until the cache has all of it."""
    end = time.monotonic() + timeout
    for i in range(count):
        with Direct(m.path / f"k{i:02d}", size, i) as file:
            while file.cached() < size:
                assert time.monotonic() < end, f"k{i:02d}: {file.cached()} of {size}"
                time.sleep(0.02)


# ---- several users


def test_two_buckets_of_the_same_names_sizes_and_etags(faults, mount, cache_dir):
    size = 4 * MIB + 5
    server = faults()
    fill(server, 6, size, bucket="one", etag='"same"')
    fill(server, 6, size, bucket="two", first=100, etag='"same"')
    watch = Watch(cache_dir)
    one = mount(server, "s3://one", cache_size="16M")
    two = mount(server, "s3://two", cache_size="16M")
    for _ in range(2):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(check_files, one, 6, size, 0, 2),
                    pool.submit(check_files, two, 6, size, 100, 2)]
            for job in jobs:
                job.result()
        one.kill()
        check_files(two, 6, size, 100)
        one.start()
    check_files(one, 6, size)
    one.remount()
    two.remount()
    check_files(one, 6, size)
    check_files(two, 6, size, 100)
    assert watch.end() <= 16 * MIB
    assert one.stats()["cache"]["damaged"] == two.stats()["cache"]["damaged"] == 0


def test_what_one_mount_read_another_does_not_fetch(faults, mount):
    size = 6 * MIB + 1
    server = faults()
    fill(server, 2, size)
    one, two = mount(server, "s3://b"), mount(server, "s3://b")
    check_files(one, 2, size)
    settle(one, 2, size)
    time.sleep(0.5)
    since = len(server.log)
    check_files(two, 2, size)
    assert server.sent(since=since) == 0


# ---- limits


def test_the_limit_holds_under_many_readers(faults, mount, cache_dir):
    size = 4 * MIB + 4097
    server = faults()
    fill(server, 16, size)
    m = mount(server, "s3://b", cache_size="24M")
    watch = Watch(cache_dir)
    read_at_random(m, 5, 16, size, 32)
    check_files(m, 16, size, workers=16)
    most = watch.end()
    assert 12 * MIB < most <= 24 * MIB
    m.unmount()
    m.arguments = [a.replace("=24M", "=16M") for a in m.arguments]
    m.start()
    assert disk_use(cache_dir) <= 16 * MIB


def test_a_cache_of_half_the_data(faults, mount):
    size = 4 * MIB
    server = faults()
    fill(server, 16, size)
    m = mount(server, "s3://b", cache_size="32M")
    for _ in range(3):
        check_files(m, 16, size)
    assert m.stats()["cache"]["damaged"] == 0


def test_the_least_cache_and_memory_with_many_readers(faults, mount):
    size = 8 * MIB + 1
    server = faults()
    fill(server, 10, size)
    m = mount(server, "s3://b", cache_size="16M", memory="16M")
    assert read_at_random(m, 6, 10, size, 16) > 100
    stats = m.stats()
    assert stats["cache"]["damaged"] == 0 and stats["memory"]["waiters"] == 0
    assert within_memory(m, 16 * MIB)


def test_little_memory_for_many_streams(faults, mount):
    size = 2 * MIB + 3
    server = faults()
    fill(server, 64, size)
    m = mount(server, "s3://b", memory="16M")
    check_files(m, 64, size, workers=64)
    assert within_memory(m, 16 * MIB)


def test_few_descriptors(faults, mount, monkeypatch, tmp_path):
    size = MIB + 7
    server = faults()
    fill(server, 100, size)
    wrapper = tmp_path / "shardfs"
    binary = os.environ.get("SHARDFS") or str(pathlib.Path(__file__).parents[2] /
                                              "build/src/main/shardfs")
    wrapper.write_text(f'#!/bin/sh\nulimit -n 64\nexec {binary} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("SHARDFS", str(wrapper))
    m = mount(server, "s3://b")
    files = [Direct(m.path / f"k{i:02d}", size, i) for i in range(100)]
    try:
        for _ in range(3):
            since = len(server.log)
            with concurrent.futures.ThreadPoolExecutor(32) as pool:
                list(pool.map(Direct.check_all, files))
            time.sleep(0.3)
        assert len(os.listdir(f"/proc/{m.pid}/fd")) <= 64
        assert m.stats()["error_causes"]["readers"] == 0
        assert server.sent(since=since) < 100 * size / 10
    finally:
        for file in files:
            os.close(file.fd)


def test_a_file_system_that_is_smaller_than_the_limit(faults, mount, tmp_path):
    size = 4 * MIB
    server = faults()
    fill(server, 12, size)
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(disk)],
                          check=False)
    if done.returncode:
        pytest.skip("cannot mount a tmpfs")
    log = tmp_path / "log"
    try:
        m = mount(server, "s3://b", cache_dir=disk, cache_size="1G", log_file=log)
        check_files(m, 12, size)
        (disk / "other").write_bytes(b"")
        with open(disk / "other", "wb", buffering=0) as other:
            try:
                while other.write(bytes(MIB)) == MIB:
                    pass
            except OSError:
                pass
            check_files(m, 12, size)
            os.ftruncate(other.fileno(), 0)
        lines = [line for line in log.read_text().splitlines() if " warn " in line]
        assert len(lines) <= 2, lines
        end = time.monotonic() + 20
        while m.stats()["cache"]["used_bytes"] < 8 * MIB:
            assert time.monotonic() < end
            check_files(m, 4, size)
            time.sleep(0.5)
        m.close()
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


# ---- damage


def flip(path):
    with open(path, "r+b") as file:
        file.seek(MIB + 12345)
        byte = file.read(1)
        file.seek(MIB + 12345)
        file.write(bytes([byte[0] ^ 4]))


def cut(path):
    os.truncate(path, MIB)


def grow(path):
    os.truncate(path, os.path.getsize(path) + 4096)


def cut_and_grow(path):
    size = os.path.getsize(path)
    os.truncate(path, MIB)
    os.truncate(path, size)


def become_directory(path):
    path.unlink()
    path.mkdir()


def become_link(path):
    path.unlink()
    path.symlink_to("/etc/passwd")


def empty_copy(path):
    size = os.path.getsize(path)
    path.unlink()
    path.touch()
    os.truncate(path, size)


def swap_names(files):
    a, b = files[:2]
    a.rename(a.with_suffix(".x"))
    b.rename(a)
    a.with_suffix(".x").rename(b)


@pytest.mark.parametrize("harm", [flip, cut, grow, cut_and_grow, become_directory, become_link,
                                  empty_copy, os.unlink])
def test_a_damaged_file(faults, mount, cache_dir, harm):
    size = 4 * MIB + 99
    server = faults()
    fill(server, 4, size)
    m = mount(server, "s3://b", metadata_ttl="forever")
    check_files(m, 4, size)
    settle(m, 4, size)
    m.unmount()
    for path in data_files(cache_dir)[:2]:
        harm(path)
    m.start()
    since = len(server.log)
    check_files(m, 4, size)
    sent = server.sent(since=since)
    if harm is flip:
        assert sent == 2 * 65536
    else:
        assert 0 < sent <= 2 * size
    if harm is not become_directory:  # What is not ours is left alone.
        settle(m, 4, size)
    # And once more, with the files held open.
    with Direct(m.path / "k00", size, 0) as file:
        file.check(0)
        if harm not in (become_directory, become_link):
            for path in data_files(cache_dir):
                if path.is_file():
                    harm(path)
        m2 = mount(server, "s3://b", metadata_ttl="forever")
        check_files(m2, 4, size)
    m2.unmount()
    m.remount()
    check_files(m, 4, size)


def test_swapped_files(faults, mount, cache_dir):
    size = 4 * MIB
    server = faults()
    fill(server, 2, size)
    m = mount(server, "s3://b")
    check_files(m, 2, size)
    settle(m, 2, size)
    m.unmount()
    swap_names(data_files(cache_dir))
    m.start()
    check_files(m, 2, size)
    settle(m, 2, size)
    assert m.stats()["cache"]["damaged"] > 0


def test_bits_flipped_under_verify_always(faults, mount, cache_dir):
    size = 4 * MIB
    server = faults()
    fill(server, 1, size)
    m = mount(server, "s3://b", verify="always")
    check_files(m, 1, size)
    settle(m, 1, size)
    with Direct(m.path / "k00", size, 0) as file:
        file.check_all()
        flip(data_files(cache_dir)[0])
        file.check_all()
    assert m.stats()["cache"]["damaged"] == 1


def overwrite(path):
    with open(path, "r+b") as file:
        file.seek(8192)
        file.write(os.urandom(16384))


def empty(path):
    os.truncate(path, 0)


def zeros(path):
    with open(path, "r+b") as file:
        file.write(bytes(os.path.getsize(path)))


def future(path):
    with sqlite3.connect(path) as index:
        index.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize("harm", [overwrite, empty, zeros, future, os.unlink])
def test_a_damaged_index(faults, mount, cache_dir, harm):
    size = 3 * MIB
    server = faults()
    fill(server, 8, size)
    m = mount(server, "s3://b")
    check_files(m, 8, size)
    settle(m, 8, size)
    m.unmount()
    harm(pathlib.Path(cache_dir) / "v1" / "index.sqlite")
    m.start()
    check_files(m, 8, size)
    settle(m, 8, size)
    since = len(server.log)
    m.remount()
    check_files(m, 8, size)
    assert server.sent(since=since) == 0


@pytest.mark.parametrize("harm", [overwrite, empty, zeros, os.unlink])
def test_an_index_damaged_under_a_mount(faults, mount, cache_dir, harm):
    size = 3 * MIB
    server = faults()
    fill(server, 8, size)
    m = mount(server, "s3://b")
    check_files(m, 4, size)
    settle(m, 4, size)
    time.sleep(0.3)
    harm(pathlib.Path(cache_dir) / "v1" / "index.sqlite")
    check_files(m, 8, size)
    check_files(m, 8, size)
    m.remount()
    check_files(m, 8, size)
    check_files(m, 8, size)


def test_an_index_that_is_locked(faults, mount, cache_dir):
    size = 2 * MIB
    server = faults()
    fill(server, 31, size)
    m = mount(server, "s3://b")
    check_files(m, 10, size)
    settle(m, 10, size)
    index = sqlite3.connect(pathlib.Path(cache_dir) / "v1" / "index.sqlite",
                            isolation_level=None)
    index.execute("BEGIN EXCLUSIVE")
    slowest = 0
    end = time.monotonic() + 4
    while time.monotonic() < end:
        for i in range(30):
            begin = time.monotonic()
            check_file(m, i, size)
            slowest = max(slowest, time.monotonic() - begin)
    index.execute("ROLLBACK")
    index.close()
    assert slowest < 1
    time.sleep(6)  # Storing was given up for five seconds.
    check_files(m, 31, size)
    with Direct(m.path / "k30", size, 30) as file:
        end = time.monotonic() + 5
        while file.cached() < size:
            assert time.monotonic() < end
            time.sleep(0.02)


@pytest.mark.parametrize("how", ["wipe", "move", "replace"])
def test_a_directory_that_goes_away(faults, mount, cache_dir, how):
    size = 3 * MIB + 1
    server = faults()
    fill(server, 8, size)
    m = mount(server, "s3://b")
    check_files(m, 4, size)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        job = pool.submit(read_at_random, m, 3, 8, size, 8)
        time.sleep(0.7)
        if how == "wipe":
            for entry in os.listdir(cache_dir):
                path = os.path.join(cache_dir, entry)
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        else:
            os.rename(cache_dir, cache_dir + "-away")
        if how == "replace":
            os.mkdir(cache_dir)
        time.sleep(0.3)
        other = mount(server, "s3://b")
        check_files(other, 8, size)
        job.result()
    m.unmount()
    check_files(other, 8, size)
    other.remount()
    check_files(other, 8, size)
    shutil.rmtree(cache_dir + "-away", ignore_errors=True)


def test_buffers_go_back_to_the_system_in_a_quiet_time(faults, mount):
    server = faults()
    server.put("b", "f", Object(size=192 * MIB, generation=1))
    m = mount(server, "s3://b")
    (m.path / "f").read_bytes()
    busy = m.rss_bytes()
    end = time.monotonic() + 20
    while m.rss_bytes() > busy - 24 * MIB:
        assert time.monotonic() < end, f"{busy} bytes, still {m.rss_bytes()}"
        time.sleep(0.25)
