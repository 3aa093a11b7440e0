"""Unchanged clients on a mount give what they give on a local copy."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

from tests.support import mounts, pattern, servers, shards

MIB = 1 << 20
SHARDS = int(os.environ.get("SHARDFS_TEST_SHARDS", "8"))
SHARD_BYTES = int(os.environ.get("SHARDFS_TEST_SHARD_MIB", "128")) * MIB
JOB = mounts.ROOT / "examples" / "train_webdataset.py"


@pytest.fixture(scope="module")
def data(gateway):
    """Shards, a safetensors-like file and a small tree: local and in the store."""
    local = pathlib.Path(tempfile.mkdtemp(prefix="shardfs-local-"))
    count = shards.make(local / "wds", SHARDS, SHARD_BYTES)
    for i in range(60):
        path = local / "tree" / f"d{i % 7}" / f"f{i}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pattern.read(0, i * 7001, i % 5))
    shards.upload(servers.client(gateway.url), local, "train", "clients/")
    yield local, count
    shutil.rmtree(local, ignore_errors=True)


def job(path, workers, epochs):
    done = subprocess.run(
        [sys.executable, str(JOB), f"{path}/{shards.pattern(SHARDS)}", f"--workers={workers}",
         f"--epochs={epochs}"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.timeout(400)
@pytest.mark.parametrize("ttl", ["forever", "60"])
def test_webdataset_two_epochs_remount_and_a_third(gateway, mount, data, ttl):
    _, count = data
    m = mount(gateway, "s3://train/clients", metadata_ttl=ttl)
    epochs = job(m.path / "wds", 4, 1)
    first = len(gateway.requests())
    epochs += job(m.path / "wds", 4, 1)
    m.remount()
    epochs += job(m.path / "wds", 4, 1)
    assert [e["samples"] for e in epochs] == [count] * 3
    assert [e["wrong"] for e in epochs] == [0] * 3
    kinds = [kind for kind, _ in gateway.requests()[first:]]
    assert kinds.count("get") == 0 and kinds.count("head") == 0, kinds
    if ttl == "forever":
        assert kinds.count("list") == 0
    else:
        assert kinds.count("list") <= 6


def test_safetensors_by_mmap(gateway, mount, data):
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    local, _ = data
    tensors = {f"layer.{i}": torch.arange(i, i + 300_000, dtype=torch.float32) for i in range(40)}
    path = local / "model.safetensors"
    safetensors.save_file(tensors, path)
    with open(path, "rb") as file:
        servers.client(gateway.url).put_object(Bucket="train", Key="model/model.safetensors",
                                               Body=file)
    m = mount(gateway, "s3://train/model")
    loaded = safetensors.load_file(m.path / "model.safetensors")
    assert all(torch.equal(loaded[name], tensor) for name, tensor in tensors.items())


def test_tree_tools_see_a_local_copy(gateway, mount, data, tmp_path):
    local, _ = data
    m = mount(gateway, "s3://train/clients")
    tree, here = local / "tree", m.path / "tree"

    def out(*words, cwd=None):
        return subprocess.run(list(map(str, words)), capture_output=True, check=True, timeout=120,
                              cwd=cwd).stdout

    sums = out("sh", "-c", "find . -type f | sort | xargs sha256sum", cwd=tree)
    (tmp_path / "sums").write_bytes(sums)
    out("sha256sum", "-c", "--quiet", tmp_path / "sums", cwd=here)
    assert out("sh", "-c", "find . | sort", cwd=here) == out("sh", "-c", "find . | sort", cwd=tree)
    out("cp", "-r", here, tmp_path / "copy")
    assert out("diff", "-r", tmp_path / "copy", tree) == b""
    assert out("rsync", "-rnc", "--out-format=%n", f"{tree}/", f"{here}/") == b""
    shard = "wds/shard-000000.tar"
    assert out("tar", "tf", m.path / shard) == out("tar", "tf", local / shard)
    sparse = out("sh", "-c", f"tar -cSf - {shard} | tar -xOf - | sha256sum", cwd=m.path)
    assert sparse.split()[0].decode() == \
        hashlib.sha256((local / shard).read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def fio_file(gateway):
    """A file that fio can verify, written by fio itself."""
    if not shutil.which("fio"):
        pytest.skip("fio is not installed")
    local = pathlib.Path(tempfile.mkdtemp(prefix="shardfs-local-"))
    subprocess.run(["fio", "--name=w", f"--filename={local}/fio", "--rw=write", "--size=64M",
                    "--bs=64k", "--verify=crc32c", "--do_verify=0"], check=True,
                   capture_output=True, timeout=120, cwd=local)
    with open(local / "fio", "rb") as file:
        servers.client(gateway.url).put_object(Bucket="train", Key="fio/fio", Body=file)
    yield
    shutil.rmtree(local, ignore_errors=True)


@pytest.mark.parametrize("direct", [0, 1])
@pytest.mark.parametrize("engine,rw", [("psync", "read"), ("psync", "randread"),
                                       ("mmap", "read"), ("mmap", "randread"),
                                       ("libaio", "randread")])
@pytest.mark.parametrize("jobs", [1, 16])
def test_fio_verifies(gateway, mount, fio_file, engine, rw, direct, jobs):
    if engine == "mmap" and direct:
        pytest.skip("mmap is never direct")
    m = mount(gateway, "s3://train/fio")
    done = subprocess.run(
        ["fio", "--name=r", f"--filename={m.path}/fio", f"--rw={rw}", "--size=64M", "--bs=64k",
         f"--ioengine={engine}", f"--direct={direct}", f"--numjobs={jobs}", "--readonly",
         "--verify=crc32c", "--verify_fatal=1", "--group_reporting"],
        capture_output=True, text=True, timeout=110, check=False, cwd="/tmp")
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-500:]
