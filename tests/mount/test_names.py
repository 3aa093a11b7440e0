"""Names: keys of every kind, directories, listings and what they cost."""

import os
import subprocess

import pytest

from tests.support import servers

PRINTABLE = [chr(c) for c in range(32, 127) if chr(c) != "/"]
ODD = ["sp ace", "plus+", "per%cent", "%2F", "a#b", "a?versionId=x", "ü", "u\u0308", "日本語",
       "new\nline", "tab\t", "\x08", "\x1b[31m", "\x7f", "Net & <Works> \"q\" 'a'", "~tilde",
       "..dots", "...", "-dash", "trailing ", " leading", "a\n", "\n", "back\\slash", "c:", "*"]


def key_set():
    keys = [f"chars/f{c}g" for c in PRINTABLE] + [f"dirs/d{c}e/file" for c in PRINTABLE]
    keys += [f"odd/{name}" for name in ODD] + [f"odddirs/{name}/x" for name in ODD]
    keys.append("deep/" + "/".join("n" * 99 for _ in range(9)))
    keys.append("long/" + "x" * 255)
    return keys


def check(root, keys, prefix=""):
    """Every key opens with its own bytes, and is listed once, as it is."""
    for key in keys:
        with open(os.path.join(os.fsencode(root), key.encode()), "rb") as file:
            assert file.read() == key.encode(), repr(key)
    for directory in ("chars", "odd"):
        want = sorted(k.encode().split(b"/", 1)[1] for k in keys if k.startswith(directory + "/"))
        assert sorted(os.listdir(os.path.join(os.fsencode(root), directory.encode()))) == want


def test_every_printable_character_and_odd_names(faults, mount):
    server = faults()
    keys = key_set()
    for key in keys:
        server.put("b", key, key.encode())
    m = mount(server, "s3://b")
    check(m.path, keys)
    m.remount()
    check(m.path, keys)


@pytest.mark.parametrize("encoding", ["none", "plus", "pct20"])
def test_listing_encodings(faults, mount, encoding):
    server = faults(encoding=encoding)
    keys = [k for k in key_set() if "\x08" not in k and "\x1b" not in k or encoding != "none"]
    for key in keys:
        server.put("b", key, key.encode())
    check(mount(server, "s3://b").path, keys)


def _held(client, bucket, keys):
    """The keys that a server holds and lists unchanged; prints the others."""
    held, refused = [], []
    for key in keys:
        try:
            client.put_object(Bucket=bucket, Key=key, Body=key.encode())
            right = client.get_object(Bucket=bucket, Key=key)["Body"].read() == key.encode()
        except Exception:  # noqa: BLE001 - whatever the server says, it cannot hold it
            right = False
        (held if right else refused).append(key)
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    listed = {entry["Key"] for page in pages for entry in page.get("Contents", [])}
    print(f"{len(held)} keys held, refused: {refused}, "
          f"held but not listed as they are: {sorted(set(held) - listed)}")
    return [key for key in held if key in listed]


@pytest.mark.parametrize("which", ["gateway", "moto"])
def test_odd_keys_on_real_servers(which, request, mount):
    server = request.getfixturevalue(which)
    client = servers.client(server.url)
    client.create_bucket(Bucket="oddkeys")
    keys = key_set()
    if which == "moto":
        keys = [k for k in keys if "\n" not in k]  # Its listing fails on a newline.
    held = _held(client, "oddkeys", keys)
    assert len(held) > 180
    m = mount(server, "s3://oddkeys")
    for key in held:
        with open(os.path.join(os.fsencode(m.path), key.encode()), "rb") as file:
            assert file.read() == key.encode(), repr(key)
    listed = {os.path.relpath(os.path.join(base, name), os.fsencode(m.path))
              for base, _, names in os.walk(os.fsencode(m.path)) for name in names}
    assert {k.encode() for k in held} <= listed


def test_markers_hidden_keys_and_a_name_that_is_both(faults, mount):
    server = faults()
    for key in ("m/", "e/", "e/only", "d/d/", "both", "both/x", "bad//x", "bad/./x", "bad/../x",
                "ok/" + "y" * 256, "ok/z"):
        server.put("b", key, b"data" if key in ("e/", "both", "ok/z") else b"")
    m = mount(server, "s3://b")
    assert sorted(os.listdir(m.path)) == ["bad", "both", "d", "e", "m", "ok"]
    assert os.listdir(m.path / "m") == [] and os.listdir(m.path / "e") == ["only"]
    assert os.listdir(m.path / "d") == ["d"] and os.listdir(m.path / "bad") == []
    assert os.listdir(m.path / "both") == ["x"] and os.listdir(m.path / "ok") == ["z"]
    with pytest.raises(OSError) as error:
        os.stat(m.path / "ok" / ("y" * 256))
    assert error.value.errno == 36  # ENAMETOOLONG
    assert m.stats()["hidden_keys"] >= 4


@pytest.mark.parametrize("count", [0, 1, 999, 1000, 1001, 2000, 2001])
def test_page_edges(faults, mount, count):
    server = faults()
    server.put("b", "other", b"x")
    if count:
        server.generate("b", "d/", count, size=10)
    m = mount(server, "s3://b")
    before = len(server.log)
    if not count:
        with pytest.raises(FileNotFoundError):
            os.listdir(m.path / "d")
        return
    entries = list(os.scandir(m.path / "d"))
    assert [e.name for e in entries] == [f"{i:06d}" for i in range(count)]
    assert all(e.stat().st_size == 10 for e in entries)
    assert server.count("head", before) == 0
    assert server.count("list", before) <= -(-count // 1000) + 1


def test_listing_costs_pages_and_no_heads(faults, mount):
    server = faults()
    server.generate("b", "d/", 5000, size=10)
    m = mount(server, "s3://b")
    out = subprocess.run(["ls", "-l", str(m.path / "d")], capture_output=True, check=True,
                         timeout=30).stdout
    assert out.count(b"\n") == 5001
    assert server.count("head") == 0
    assert sum(1 for e in server.log if e.kind == "list" and e.key == "d/") == 5
    assert server.count("list") <= 7


def test_100_000_entries(faults, mount):
    server = faults()
    server.generate("b", "d/", 100_000, size=10)
    m = mount(server, "s3://b")
    names = subprocess.run(["ls", "-f", str(m.path / "d")], capture_output=True, check=True,
                           timeout=60).stdout.split()
    assert len(names) == 100_002 and len(set(names)) == 100_002
    assert server.count("head") == 0 and server.count("list") <= 102
    inodes = subprocess.run(["find", str(m.path / "d"), "-type", "f", "-printf", "%i\n"],
                            capture_output=True, check=True, timeout=60).stdout.split()
    assert len(set(inodes)) == 100_000 and max(map(int, inodes)) < 2**53
    assert server.count("list") <= 102


def test_a_cold_open_is_cheap_and_then_free(faults, mount):
    server = faults()
    for i in range(3):
        server.put("b", f"a/b/c/f{i}", b"data")
    m = mount(server, "s3://b", metadata_ttl="forever")
    before = len(server.log)
    assert (m.path / "a/b/c/f0").read_bytes() == b"data"
    assert server.count("list", before) + server.count("head", before) <= 8
    (m.path / "a/b/c/f1").read_bytes()
    before = len(server.log)
    os.stat(m.path / "a/b/c/f2")
    (m.path / "a/b/c/f0").read_bytes()
    with pytest.raises(FileNotFoundError):
        os.stat(m.path / "a/b/c/none")
    assert len(server.log) == before


def test_a_bad_page_is_an_error_and_never_a_short_list(faults, mount):
    server = faults(page_size=100)
    server.generate("b", "d/", 250, size=1)
    m = mount(server, "s3://b", retries=2)
    rule = server.rule(when={"kind": "list", "key": "d/"}, cut=3000)
    with pytest.raises(OSError) as error:
        os.listdir(m.path / "d")
    assert error.value.errno == 5 and rule.applied
    server.rules.clear()
    assert len(os.listdir(m.path / "d")) == 250


def test_cookies_survive_rewind_and_seek(faults, mount):
    server = faults()
    server.generate("b", "d/", 3000, size=1)
    m = mount(server, "s3://b")
    source = r"""
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    DIR *d = opendir(argv[1]);
    static long at[4000]; static char names[4000][16]; int n = 0; struct dirent *e;
    for (long p = telldir(d); (e = readdir(d)); p = telldir(d)) {
        at[n] = p; strcpy(names[n], e->d_name); n++; }
    if (n != 3002) return 1;
    rewinddir(d); int again = 0; while (readdir(d)) again++;
    if (again != n) return 2;
    for (int i = 0; i < n; i++) { int k = (i * 97) % n; seekdir(d, at[k]);
        e = readdir(d); if (!e || strcmp(e->d_name, names[k])) return 3; }
    return closedir(d) ? 4 : 0;
}"""
    program = m.path.parent / f"{m.path.name}-seek"
    subprocess.run(["cc", "-xc", "-", "-o", str(program)], input=source.encode(), check=True)
    try:
        assert subprocess.run([str(program), str(m.path / "d")], timeout=30).returncode == 0
    finally:
        program.unlink()
