"""A slow directory as the source: the smallest store, the same promises."""

import os
import shutil
import subprocess
import time

import pytest

from tests.support import pattern

MIB = 1 << 20


@pytest.fixture
def share(tmp_path):
    root = tmp_path / "share"
    (root / "d" / "empty").mkdir(parents=True)
    (root / "big").write_bytes(pattern.read(0, 9 * MIB + 5, 1))
    (root / "d" / "f").write_bytes(b"hello")
    old = time.time() - 100
    for path in (root / "big", root / "d" / "f"):
        os.utime(path, (old, old))
    (root / "out").symlink_to("/etc/passwd")
    yield root
    shutil.rmtree(root, ignore_errors=True)


def test_a_directory_reads_right_and_is_cached(share, mount):
    m = mount(None, f"file://{share}", metadata_ttl="forever")
    assert sorted(os.listdir(m.path)) == ["big", "d"]
    assert os.listdir(m.path / "d" / "empty") == []
    assert (m.path / "big").read_bytes() == pattern.read(0, 9 * MIB + 5, 1)
    assert (m.path / "d" / "f").read_bytes() == b"hello"
    m.unmount()
    (share / "big").rename(share.parent / "moved")
    m.start()
    assert (m.path / "big").read_bytes() == pattern.read(0, 9 * MIB + 5, 1)
    assert m.stats()["bytes"]["store"] == 0


def test_a_directory_that_goes_away_is_eio(share, mount):
    m = mount(None, f"file://{share}", metadata_ttl="0", cache_dir="none", timeout="3s", retries=2)
    share.rename(str(share) + "-gone")
    with pytest.raises(OSError) as error:
        os.stat(m.path / "d" / "f")
    assert error.value.errno == 5


def test_diff_r_finds_nothing(share, mount):
    (share / "out").unlink()
    m = mount(None, f"file://{share}")
    done = subprocess.run(["diff", "-r", str(share), str(m.path)], capture_output=True, timeout=60,
                          check=False)
    assert (done.returncode, done.stdout) == (0, b"")
