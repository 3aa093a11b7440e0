"""The main path: mount, list, read right, read again from the cache."""

import hashlib
import os
import time

import pytest

from tests.support import mounts, pattern, servers

MIB = 1 << 20


def put(server, key, data, bucket="train"):
    servers.client(server.url).put_object(Bucket=bucket, Key=key, Body=data)


def test_a_file_reads_right_and_again_without_a_request(gateway, mount):
    data = pattern.read(0, 20 * MIB + 123, 1)
    put(gateway, "basics/one.tar", data)
    put(gateway, "basics/sub/two.tar", b"two")
    m = mount(gateway, "s3://train/basics")
    assert sorted(os.listdir(m.path)) == ["one.tar", "sub"]
    assert (m.path / "one.tar").read_bytes() == data
    assert (m.path / "sub" / "two.tar").read_bytes() == b"two"
    stats = m.stats()
    assert stats["bytes"]["store"] == len(data) + 3
    m.remount()
    time.sleep(0.1)
    before = len(gateway.requests())
    assert (m.path / "one.tar").read_bytes() == data
    kinds = [kind for kind, _ in gateway.requests()[before:]]
    assert "get" not in kinds and "head" not in kinds
    assert m.stats()["requests"]["get"] == 0


def test_known_data_needs_no_store_with_ttl_forever(mount):
    data = pattern.read(0, 3 * MIB, 2)
    with servers.Versitygw() as own:
        servers.client(own.url).create_bucket(Bucket="train")
        put(own, "d/a.bin", data)
        m = mount(own, "s3://train/d", metadata_ttl="forever")
        assert (m.path / "a.bin").read_bytes() == data
        assert os.listdir(m.path) == ["a.bin"]
        m.unmount()
    m.start()
    assert os.listdir(m.path) == ["a.bin"]
    assert (m.path / "a.bin").read_bytes() == data
    assert m.stats()["requests"] == {"get": 0, "list": 0, "head": 0, "other": 0}


@pytest.mark.parametrize("size", [
    0, 1, 511, 512, 513, 65535, 65536, 65537, 2 * 65536 - 1, MIB, MIB + 1,
    4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 8 * MIB, 8 * MIB + 1, 16 * MIB + 65537])
def test_sizes_around_block_and_part_edges(faults, mount, size):
    server = faults()
    data = pattern.read(0, size, size % 5)
    server.put("b", "f", data)
    m = mount(server, "s3://b")
    assert (m.path / "f").read_bytes() == data
    with open(m.path / "f", "rb") as file:
        file.seek(max(0, size - 1))
        assert file.read() == data[max(0, size - 1):]
        file.seek(size + 10)
        assert file.read(10) == b""
    assert sum(end - start for start, end in server.ranges("f")) == size
    assert all(end <= size for _, end in server.ranges("f"))
    m.remount()
    before = len(server.log)
    assert (m.path / "f").read_bytes() == data
    assert server.count("get", before) == 0


def test_stat_shows_what_tools_rely_on(faults, mount):
    server = faults()
    server.put("b", "dir/f", b"x" * 1000, mtime=1_600_000_000)
    m = mount(server, "s3://b")
    info = os.stat(m.path / "dir" / "f")
    assert (info.st_size, info.st_mtime_ns) == (1000, 1_600_000_000 * 10**9)
    assert info.st_blocks == 2 and info.st_blksize >= 4096 and info.st_nlink == 1
    assert oct(info.st_mode) == "0o100444" and oct(os.stat(m.path).st_mode) == "0o40555"
    assert info.st_uid == os.getuid()
    with os.scandir(m.path / "dir") as entries:
        assert [(e.name, e.inode()) for e in entries] == [("f", info.st_ino)]
    room = os.statvfs(m.path)
    assert room.f_bavail == room.f_blocks > 0 and room.f_namemax == 255
    assert mounts.mounted(m.path) == ("s3://b", "fuse.shardfs")


def test_many_readers_of_one_file_fetch_it_once(faults, mount):
    server = faults()
    size = 64 * MIB
    data = pattern.read(0, size, 3)
    server.put("b", "f", data)
    m = mount(server, "s3://b")
    want = hashlib.sha256(data).hexdigest()
    import concurrent.futures
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        sums = list(pool.map(lambda _: hashlib.sha256((m.path / "f").read_bytes()).hexdigest(),
                             range(8)))
    assert sums == [want] * 8
    assert server.sent("f") == size


def test_random_reads_fetch_what_was_asked(faults, mount):
    server = faults()
    size = 256 * MIB
    server.put("b", "f", server_object(size))
    m = mount(server, "s3://b")
    import random
    rng = random.Random(1)
    asked = 0
    with open(m.path / "f", "rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        for _ in range(100):
            at = rng.randrange(size - 131072)
            assert os.pread(file.fileno(), 131072, at) == pattern.read(at, 131072, 0)
            asked += 131072
    assert server.sent("f") <= 1.6 * asked


def server_object(size, generation=0):
    from tests.faults.server import Object
    return Object(size=size, generation=generation)


def test_sequential_reads_fetch_nothing_twice(faults, mount):
    server = faults()
    size = 200 * MIB + 17
    server.put("b", "f", server_object(size))
    m = mount(server, "s3://b", max_connections=16)
    done = 0
    with open(m.path / "f", "rb", buffering=0) as file:
        while True:
            chunk = file.read(MIB)
            if not chunk:
                break
            assert chunk == pattern.read(done, len(chunk), 0)
            done += len(chunk)
    assert done == size
    ranges = sorted(server.ranges("f"))
    assert all(a[1] <= b[0] for a, b in zip(ranges, ranges[1:]))
    assert server.sent("f") <= 1.02 * size
