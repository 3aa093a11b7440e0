"""Bad input: one line that names the thing and the remedy, and no mount."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import pytest

from tests.faults.server import Object
from tests.support import mounts, servers


@pytest.fixture
def here():
    path = tempfile.mkdtemp(prefix="shardfs-mount-")
    yield path
    if mounts.mounted(path):
        subprocess.run(["umount", "-l", path], check=False)
    shutil.rmtree(path, ignore_errors=True)


def refused(*arguments, status=2, words=(), env=None, mountpoint=None, timeout=30):
    """Runs shardfs, which must say no in one or two lines with these words."""
    done = mounts.run(*arguments, env=env or mounts.environment(), timeout=timeout)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    lines = done.stderr.splitlines()
    assert 1 <= len(lines) <= 2 and lines[0].startswith("shardfs: "), done.stderr
    for word in words:
        assert re.search(word, done.stderr, re.I), (word, done.stderr)
    if mountpoint:
        assert mounts.mounted(mountpoint) is None
    return done.stderr


def test_usage_errors(here, faults):
    url = faults().url
    env = mounts.environment(url)
    refused("s3://b", here, "--no-such", status=1, words=["no-such"], env=env, mountpoint=here)
    refused("s3://b", here, "-o", "no_such=1", status=1, words=["no_such"], env=env)
    refused("s3://b", here, "--cache-size", "12Q", status=1, words=["cache.size", "12Q"], env=env)
    refused("s3://b", here, "--cache-size", "10240", status=1, words=["10240M"], env=env)
    refused("s3://b", here, "--cache-size", "1M", status=1, words=["16M"], env=env)
    refused("s3://b", here, "--memory", "1M", status=1, words=["16M"], env=env)
    refused("s3://b", here, "-o", "max_read=4096", status=1, words=["max_read"], env=env)
    refused("s3://b?x=1", here, status=1, words=["query"], env=env)
    refused("s3://user:password@b", here, status=1, env=env)
    refused("ftp://b", here, status=1, words=["ftp"], env=env)
    refused("s3://", here, status=1, words=["bucket"], env=env)


@pytest.mark.parametrize("foreign,ours", [
    ("use_cache=/tmp", "cache_dir"), ("url=http://x", "endpoint_url"),
    ("passwd_file=/x", ""), ("cache-dir-path=/x", ""), ("metadata-ttl", "metadata_ttl")])
def test_foreign_option_names(here, foreign, ours):
    text = mounts.run("s3://b", here, "-o", foreign, env=mounts.environment()).stderr
    assert len(text.splitlines()) == 1
    if ours:
        assert ours in text or ours.replace("_", "-") in text


def test_mount_point_missing_and_live(here, faults, mount):
    server = faults()
    server.put("b", "f", b"x")
    env = mounts.environment(server.url)
    refused("s3://b", here + "/none", words=["none", "no such|exist"], env=env)
    pathlib.Path(here, "file").write_text("x")
    refused("s3://b", here + "/file", words=["director"], env=env)
    m = mount(server, "s3://b")
    refused("s3://b", m.path, words=["already|mounted"], env=env)
    assert (m.path / "f").read_bytes() == b"x"


def test_a_non_empty_mount_point_is_said(here, faults):
    server = faults()
    server.put("b", "f", b"x")
    pathlib.Path(here, "old").write_text("x")
    done = mounts.run("s3://b", here, "--cache-dir=none", env=mounts.environment(server.url))
    assert done.returncode == 0 and "empty" in done.stderr
    assert os.listdir(here) == ["f"]


def test_a_dead_mount_is_taken_over(faults, mount):
    server = faults()
    server.put("b", "f", b"x")
    m = mount(server, "s3://b")
    os.kill(m.pid, signal.SIGKILL)
    m._wait_gone(10)
    with pytest.raises(OSError) as error:
        os.listdir(m.path)
    assert error.value.errno in (103, 107)  # The first may be told of the abort.
    m.start()
    assert (m.path / "f").read_bytes() == b"x"


def test_credentials(here, faults):
    server = faults()
    server.put("b", "f", b"x")
    none = mounts.environment(server.url)
    del none["AWS_ACCESS_KEY_ID"], none["AWS_SECRET_ACCESS_KEY"]
    refused("s3://b", here, words=["credential", "AWS_ACCESS_KEY_ID", "anonymous"], env=none,
            mountpoint=here)
    text = refused("s3://b", here, words=["secret|signature"], mountpoint=here,
                   env=mounts.environment(server.url, secret="WrongSecretMark"))
    assert "WrongSecretMark" not in text
    refused("s3://b", here, words=["key"], mountpoint=here,
            env=mounts.environment(server.url, key="nobody"))


def test_no_permission_names_who_and_what(here, faults):
    server = faults()
    server.put("b", "f", b"x")
    server.rule(when={"kind": "any"}, status=403, code="AccessDenied")
    refused("s3://b", here, words=["permission|denied", "ListBucket", "testkey|environment"],
            env=mounts.environment(server.url), mountpoint=here)


def test_no_such_bucket_and_empty_prefix(here, faults):
    server = faults()
    server.put("b", "train/f", b"x")
    env = mounts.environment(server.url)
    refused("s3://nowhere", here, words=["nowhere", "bucket"], env=env, mountpoint=here)
    refused("s3://b/trian", here, words=["trian", "train/"], env=env, mountpoint=here)
    done = mounts.run("s3://b/none", here, "-o", "allow_empty,cache_dir=none", env=env)
    assert done.returncode == 0 and os.listdir(here) == []


def test_an_empty_bucket_mounts(here, faults):
    server = faults()
    server.put("b", "f", b"x")
    server.remove("b", "f")
    done = mounts.run("s3://b", here, "--cache-dir=none", env=mounts.environment(server.url))
    assert done.returncode == 0 and os.listdir(here) == []


def test_unreachable_and_tls(here, faults):
    port = servers.free_port()
    refused("s3://b", here, words=[str(port), "refused|reach"], mountpoint=here,
            env=mounts.environment(f"http://127.0.0.1:{port}"))
    plain = faults()
    refused("s3://b", here, words=["TLS|SSL|certificate"], mountpoint=here,
            env=mounts.environment(plain.url.replace("http:", "https:")))
    refused("s3://b", here, words=["resolve|name"], mountpoint=here,
            env=mounts.environment("http://no-such-host.invalid:9000"))


def test_cache_directories_that_cannot_be_used(here, faults, cache_dir):
    server = faults()
    server.put("b", "f", b"x")
    env = mounts.environment(server.url)
    link = cache_dir + "/link"
    os.symlink(cache_dir, link)
    refused("s3://b", here, "--cache-dir", link, words=["link"], env=env, mountpoint=here)
    refused("s3://b", here, "--cache-dir", cache_dir + "/a/b", words=["a"], env=env,
            mountpoint=here)
    pathlib.Path(cache_dir, "file").write_text("x")
    refused("s3://b", here, "--cache-dir", cache_dir + "/file", words=["director"], env=env,
            mountpoint=here)
    other = cache_dir + "/other"
    os.mkdir(other)
    os.chown(other, 12345, 12345)
    refused("s3://b", here, "--cache-dir", other, words=["own|user"], env=env, mountpoint=here)


def test_a_cache_directory_with_other_things_is_not_touched(faults, mount, cache_dir):
    server = faults()
    server.put("b", "f", b"x" * 100)
    precious = pathlib.Path(cache_dir, "precious.txt")
    precious.write_text("mine")
    m = mount(server, "s3://b")
    (m.path / "f").read_bytes()
    m.unmount()
    assert precious.read_text() == "mine"
    assert sorted(os.listdir(cache_dir)) == ["precious.txt", "shardfs"]
    out = subprocess.run(["find", cache_dir + "/shardfs", "-perm", "/077"], capture_output=True,
                         check=True, text=True).stdout
    assert out == ""


def test_dev_fuse_missing(here, faults):
    server = faults()
    server.put("b", "f", b"x")
    script = f"mount -t tmpfs none /dev && mknod /dev/null c 1 3 && exec {mounts.binary()} s3://b {here} --cache-dir=none"
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True,
                          env=mounts.environment(server.url), timeout=30, check=False)
    assert done.returncode == 2
    assert "/dev/fuse" in done.stderr and len(done.stderr.splitlines()) <= 2


def test_a_start_that_fails_leaves_no_cache(here, faults, mount, cache_dir):
    server = faults()
    server.put("b", "f", b"x")
    env = mounts.environment(server.url)
    for source in ("s3://nowhere", "s3://b/none"):
        refused(source, here, "--cache-dir", cache_dir + "/new", env=env, mountpoint=here)
        refused(source, here, "--cache-dir", cache_dir, env=env, mountpoint=here)
    assert os.listdir(cache_dir) == []
    before = len(server.log)
    m = mount(server, "s3://b", cache_dir=cache_dir + "/new", metadata_ttl="forever")
    assert os.listdir(m.path) == ["f"]
    assert [e.kind for e in server.log[before:]] == ["list"]
    m.remount()
    assert os.listdir(m.path) == ["f"] and len(server.log) == before + 1


@pytest.mark.parametrize("missing", [404, 403])
def test_without_list_permission_known_keys_open(faults, mount, tmp_path, missing):
    server = faults()
    for key in ("top", "a/b/c/deep"):
        server.put("b", key, key.encode())
    server.rule(when={"kind": "list"}, status=403, code="AccessDenied")
    if missing == 403:  # As S3 answers who may not list.
        for key in ("none", "a", "a/b", "a/b/c", "a/none"):
            server.rule(when={"kind": "head", "key": key}, status=403, body="")
    with pytest.raises(mounts.MountFailed):
        mount(server, "s3://b")
    m = mount(server, "s3://b", allow_empty=True, log_file=tmp_path / "log")
    assert "may not be listed" in m.errors
    assert (m.path / "top").read_bytes() == b"top"
    assert (m.path / "a/b/c/deep").read_bytes() == b"a/b/c/deep"
    for name in ("none", "a/none", "a/b"):
        with pytest.raises(PermissionError):
            (m.path / name).read_bytes()
    for name in (".", "a", "a/b"):
        with pytest.raises(PermissionError):
            os.listdir(m.path / name)
    assert (tmp_path / "log").read_text().count("allow s3:ListBucket") == 1


def test_a_mount_over_its_own_source_is_refused(here, tmp_path):
    (tmp_path / "sub").mkdir()
    for source, point in ((tmp_path, tmp_path), (tmp_path, tmp_path / "sub"),
                          (tmp_path / "sub", tmp_path)):
        refused(f"file://{source}", point, "--cache-dir=none", words=["own source", "beside"],
                mountpoint=point)


def test_archived_objects_open_once_restored(faults, mount, tmp_path):
    server = faults()
    restored = {"x-amz-restore": 'ongoing-request="false", expiry-date="Fri, 21 Dec 2040 00:00:00 GMT"'}
    for name, kind, headers in (("ice", "GLACIER", None), ("deep", "DEEP_ARCHIVE", None),
                                ("thawing", "GLACIER", {"x-amz-restore": 'ongoing-request="true"'}),
                                ("thawed", "GLACIER", restored), ("instant", "GLACIER_IR", None)):
        for prefix in ("", "cold/"):
            server.put("b", prefix + name, Object(data=name.encode(), storage_class=kind,
                                                  headers=headers))
    m = mount(server, "s3://b", log_file=tmp_path / "log")
    for prefix in (".", "cold"):
        assert len(os.listdir(m.path / prefix)) >= 5
        for name in ("thawed", "instant"):
            assert (m.path / prefix / name).read_bytes() == name.encode()
        for name in ("ice", "deep", "thawing"):
            with pytest.raises(PermissionError):
                (m.path / prefix / name).read_bytes()
    assert {e.key.rpartition("/")[2] for e in server.log if e.kind == "get"} == {"thawed", "instant"}
    assert (tmp_path / "log").read_text().count("archived") == 1
