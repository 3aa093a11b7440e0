"""What a mount tells of itself."""

import json
import os
import re

from tests.support import mounts, pattern

MIB = 1 << 20


def test_stats_count_exactly_what_the_server_saw(faults, mount):
    server = faults()
    size = 10 * MIB
    server.put("b", "d/f", pattern.read(0, size))
    m = mount(server, "s3://b")
    os.listdir(m.path / "d")
    (m.path / "d" / "f").read_bytes()
    stats = m.stats()
    for kind in ("get", "list", "head"):
        assert stats["requests"][kind] == server.count(kind), kind
    assert stats["bytes"]["store"] == size == server.sent()
    assert stats["source"] == "s3://b"
    assert stats["cache"]["misses"] == size // 65536 and stats["cache"]["hits"] == 0
    assert stats["passthrough"]["active"] is False and stats["passthrough"]["reason"]
    m.remount()
    (m.path / "d" / "f").read_bytes()
    stats = m.stats()
    assert stats["cache"]["hits"] == size // 65536 and stats["bytes"]["disk"] == size
    assert stats["cache"]["used_bytes"] >= size
    assert stats["cache"]["used_bytes"] <= stats["cache"]["limit_bytes"]


def test_the_stats_command(faults, mount):
    server = faults()
    server.put("b", "f", b"x" * 1000)
    m = mount(server, "s3://b")
    (m.path / "f").read_bytes()
    done = mounts.run("stats", m.path, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["requests"]["get"] == 1
    done = mounts.run("stats", m.path)
    assert done.returncode == 0 and "s3://b" in done.stdout
    done = mounts.run("stats", "/tmp")
    assert done.returncode != 0 and "/tmp" in done.stderr


def test_metrics_are_prometheus_text(faults, mount):
    server = faults()
    server.put("b", "f", b"x" * 1000)
    m = mount(server, "s3://b")
    (m.path / "f").read_bytes()
    text = (m.path / ".shardfs" / "metrics").read_text()
    names = set()
    for line in text.splitlines():
        if line.startswith("#"):
            assert re.match(r"# (HELP|TYPE) shardfs_[a-z_]+ \S", line), line
        else:
            match = re.match(r'(shardfs_[a-z_]+)(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [0-9.e+]+$',
                             line)
            assert match, line
            names.add(match[1])
    assert "shardfs_requests_get_total" in names and text.endswith("\n")


def test_the_control_directory_is_reachable_and_not_listed(faults, mount):
    server = faults()
    server.put("b", "f", b"x")
    m = mount(server, "s3://b")
    assert os.listdir(m.path) == ["f"]
    assert sorted(os.listdir(m.path / ".shardfs")) == ["metrics", "stats"]
    assert os.stat(m.path / ".shardfs" / "stats").st_size == 0


def test_extended_attributes_answer_by_name_only(faults, mount):
    server = faults()
    server.put("b", "d/f", b"x" * 70_000)
    m = mount(server, "s3://b")
    path = m.path / "d" / "f"
    path.read_bytes()
    before = len(server.log)
    assert os.getxattr(path, "user.shardfs.url") == b"s3://b/d/f"
    assert os.getxattr(path, "user.shardfs.etag").strip(b'"') == \
        server.buckets["b"][b"d/f"].etag.strip('"').encode()
    assert int(os.getxattr(path, "user.shardfs.cached_bytes")) >= 0
    assert os.listxattr(path) == []
    try:
        os.getxattr(path, "security.capability")
        raise AssertionError("no such attribute is there")
    except OSError as error:
        assert error.errno == 61
    assert len(server.log) == before


def test_ls_and_cat_without_a_mount(faults):
    server = faults()
    data = pattern.read(0, 20 * MIB, 4)
    server.put("b", "d/one", data)
    server.put("b", "d/sub/two", b"2")
    env = mounts.environment(server.url)
    done = mounts.run("ls", "s3://b/d", env=env)
    assert (done.returncode, done.stdout) == (0, "one\nsub/\n")
    done = mounts.run("ls", "-l", "s3://b/d", env=env)
    line = done.stdout.splitlines()[0]
    assert str(20 * MIB) in line and "\t" in line and server.buckets["b"][b"d/one"].etag in line
    import subprocess
    out = subprocess.run([mounts.binary(), "cat", "s3://b/d/one"], env=env, capture_output=True,
                         timeout=30, check=True).stdout
    assert out == data
    assert mounts.run("cat", "s3://b/d/none", env=env).returncode == 2
    done = mounts.run("ls", "-v", "s3://b/d", env=env)
    assert "us-east-1" in done.stderr and "testsecret" not in done.stderr
