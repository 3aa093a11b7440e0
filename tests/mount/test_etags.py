"""ETags of every form name a version: sent back as they came, never guessed."""

import os
import time

import pytest

from tests.faults.server import Object
from tests.support import pattern

MIB = 1 << 20
SIZE = 5 * MIB + 3
OLD = 1_600_000_000


def new_object(etag, generation=1, **more):
    more.setdefault("mtime", OLD)
    return Object(size=SIZE, generation=generation, etag=etag, **more)


def right(path, generation=1):
    assert path.read_bytes() == pattern.read(0, SIZE, generation)


FORMS = {
    "quoted": '"0123456789abcdef0123456789abcdef"', "multipart": '"abc-17"', "bare": "abc",
    "weak": 'W/"x"', "long": '"' + "e" * 198 + '"', "entities": '"a&<b>\'c"', "blank": '"a b"',
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_reads_and_is_kept(faults, mount, form):
    server = faults()
    server.put("b", "d/f", new_object(FORMS[form]))
    m = mount(server, "s3://b")
    right(m.path / "d" / "f")
    sent = {e.headers.get("if-match") for e in server.log if e.kind == "get" and e.status == 206}
    assert sent == ({None} if form == "weak" else {FORMS[form]})
    m.remount()
    before = len(server.log)
    right(m.path / "d" / "f")
    assert server.count("get", before) == 0


def test_a_form_from_head_is_that_from_the_listing(faults, mount):
    """A path looked up cold is known by HEAD, later by its directory's LIST."""
    server = faults()
    server.put("b", "d/f", new_object("abc"))
    server.put("b", "d/g", new_object("abd", generation=2))
    m = mount(server, "s3://b")
    with open(m.path / "d" / "f", "rb") as file:
        inode = os.fstat(file.fileno()).st_ino
        assert file.read(4096) == pattern.read(0, 4096, 1)
        assert sorted(os.listdir(m.path / "d")) == ["f", "g"]
        assert os.stat(m.path / "d" / "f").st_ino == inode
        assert file.read() == pattern.read(4096, SIZE - 4096, 1)
    right(m.path / "d" / "g", 2)


@pytest.mark.parametrize("where", ["everywhere", "listings"])
def test_without_an_etag_size_and_time_name_the_version(faults, mount, where):
    server = faults(etag_in_lists=False)
    server.put("b", "d/f", new_object("" if where == "everywhere" else '"abc"'))
    m = mount(server, "s3://b", metadata_ttl=1)
    os.listdir(m.path / "d")
    right(m.path / "d" / "f")
    assert all("if-match" not in e.headers for e in server.log if e.kind == "get")
    m.remount()
    before = len(server.log)
    right(m.path / "d" / "f")
    assert server.count("get", before) == 0
    server.put("b", "d/f", new_object("" if where == "everywhere" else '"abd"', 2, mtime=OLD + 5))
    time.sleep(1.3)
    right(m.path / "d" / "f", 2)


def test_a_young_version_without_a_strong_etag_is_not_cached(faults, mount):
    server = faults()
    server.put("b", "d/f", new_object('W/"x"', mtime=int(time.time())))
    m = mount(server, "s3://b")
    right(m.path / "d" / "f")
    m.remount()
    before = len(server.log)
    right(m.path / "d" / "f")
    assert server.sent(since=before) == SIZE


@pytest.mark.parametrize("answer", [
    {"status": 412, "code": "PreconditionFailed"}, {"status": 416, "code": "InvalidRange"},
    {"status": 412, "body": ""}, {"etag": '"other"'}])
@pytest.mark.parametrize("etag", ['"abc"', "abc"])
def test_an_answer_that_says_changed_is_estale_and_looked_up_again(faults, mount, etag, answer):
    server = faults(ifmatch="ignore")
    server.put("b", "f", new_object(etag))
    m = mount(server, "s3://b")
    with open(m.path / "f", "rb", buffering=0) as file:
        assert os.pread(file.fileno(), 10, 0) == pattern.read(0, 10, 1)
        server.put("b", "f", new_object('"new"', 2, mtime=OLD + 9))
        rule = server.rule(when={"kind": "get", "times": 50}, **answer)
        before = len(server.log)
        with pytest.raises(OSError) as error:
            os.pread(file.fileno(), 10, 4 * MIB + 1)
        assert error.value.errno == 116  # ESTALE
        # Told, not asked again: at most one repair.
        assert 1 <= rule.applied <= 8 and server.count("get", before) <= 8
    server.rules.clear()
    right(m.path / "f", 2)


def test_a_weak_etag_that_changes_is_another_version(faults, mount):
    server = faults()
    server.put("b", "f", new_object('W/"1"'))
    m = mount(server, "s3://b")
    with open(m.path / "f", "rb", buffering=0) as file:
        assert os.pread(file.fileno(), 10, 0) == pattern.read(0, 10, 1)
        server.put("b", "f", new_object('W/"2"', 2, mtime=OLD + 9))
        with pytest.raises(OSError) as error:
            os.pread(file.fileno(), 10, SIZE - 100)
        assert error.value.errno == 116
    right(m.path / "f", 2)
