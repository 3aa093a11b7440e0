"""Everything that writes is EROFS at once, without a request."""

import errno
import fcntl
import os

import pytest


@pytest.fixture
def tree(faults, mount):
    server = faults()
    server.put("b", "d/f", b"hello")
    m = mount(server, "s3://b")
    (m.path / "d" / "f").read_bytes()
    return server, m


def test_writes_are_refused(tree):
    server, m = tree
    f, new = m.path / "d" / "f", m.path / "d" / "new"
    before = len(server.log)
    attempts = [
        lambda: os.open(new, os.O_CREAT | os.O_WRONLY), lambda: os.open(f, os.O_RDWR),
        lambda: os.open(f, os.O_WRONLY | os.O_TRUNC), lambda: os.mkdir(new),
        lambda: os.unlink(f), lambda: os.rmdir(m.path / "d"), lambda: os.rename(f, new),
        lambda: os.symlink("x", new), lambda: os.link(f, new), lambda: os.chmod(f, 0o644),
        lambda: os.chown(f, 1, 1), lambda: os.utime(f), lambda: os.truncate(f, 0),
        lambda: os.setxattr(f, "user.x", b"y"), lambda: os.mkfifo(new),
    ]
    for attempt in attempts:
        with pytest.raises(OSError) as error:
            attempt()
        assert error.value.errno == errno.EROFS
    assert not os.access(f, os.W_OK)
    assert server.count("get", before) == 0 and server.count("head", before) <= 1


def test_locks_are_local(tree):
    _, m = tree
    with open(m.path / "d" / "f", "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        fcntl.flock(file, fcntl.LOCK_UN)
        fcntl.lockf(file, fcntl.LOCK_SH)
