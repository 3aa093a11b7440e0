"""Fixtures of the whole-mount tests. Run by scripts/test; by hand:
.cache/tools/venv/bin/pytest tests/mount"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tests.faults.server import FaultServer  # noqa: E402
from tests.support import mounts, servers  # noqa: E402


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(120))


@pytest.fixture(scope="session", autouse=True)
def _machine():
    if not os.path.exists("/dev/fuse"):
        pytest.exit("/dev/fuse is missing: these tests mount", 2)
    mounts.binary()
    yield
    # Nothing of ours may be left, whatever died on the way.
    for path in mounts.made:
        if mounts.mounted(path):
            subprocess.run(["umount", "-l", path], check=False)


@pytest.fixture(scope="session")
def gateway():
    """versitygw with one bucket "train"."""
    if servers.tool("versitygw") is None:
        pytest.skip("versitygw is not installed")
    with servers.Versitygw() as server:
        servers.client(server.url).create_bucket(Bucket="train")
        yield server


@pytest.fixture(scope="session")
def moto():
    if servers.tool("moto_server") is None:
        pytest.skip("moto is not installed")
    with servers.Moto() as server:
        yield server


@pytest.fixture
def faults():
    """Makes scripted servers; they end with the test."""
    running = []

    def make(script=None, **more):
        server = FaultServer({**(script or {}), **more}).start()
        running.append(server)
        return server

    yield make
    for server in running:
        server.stop()


@pytest.fixture
def cache_dir():
    path = tempfile.mkdtemp(prefix="shardfs-cache-")
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def mount(cache_dir):
    """Mounts that end with the test: mount(server, "s3://train/x", …)."""
    made = []

    def make(server, source, *arguments, env=None, start=True, **options):
        options.setdefault("cache_dir", cache_dir)
        made.append(mounts.Mount(source, *arguments,
                                 env={**mounts.environment(server.url if server else None),
                                      **(env or {})}, **options))
        return made[-1].start() if start else made[-1]

    yield make
    for item in made:
        item.close()
