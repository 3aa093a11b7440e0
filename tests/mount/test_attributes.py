"""What stat, readdir, statfs and the page cache show, and tools make of it."""

import mmap
import os
import pathlib
import shutil
import stat
import subprocess
import time

import pytest

from tests.faults.server import Object
from tests.support import pattern

MIB = 1 << 20
ODD = 3 * MIB + 777


@pytest.fixture
def tree(faults, mount):
    """A deep and a wide directory, files of odd sizes."""
    server = faults()
    server.generate("b", "wide/", 2500, size=513)
    for i in range(12):
        server.put("b", "deep/" + "/".join(f"d{n}" for n in range(i)) + "/f", b"x" * i)
    for i in range(3):
        server.put("b", f"big/f{i}", Object(size=ODD, generation=i))
    server.put("b", "mark/", b"")
    return server, lambda **more: mount(server, "s3://b", **more)


def walk(root):
    """(path, inode from readdir, type from readdir, lstat) of all below."""
    for base, names, files in os.walk(root):
        with os.scandir(base) as entries:
            for e in entries:
                yield e.path, e.inode(), e.is_dir(), os.lstat(e.path)


def test_inodes_are_unique_stable_and_those_of_readdir(tree):
    server, start = tree
    m = start()
    seen = {}
    for path, inode, is_dir, info in walk(m.path):
        assert inode == info.st_ino and 1 < inode < 2**53, path
        assert is_dir == stat.S_ISDIR(info.st_mode) and info.st_nlink == 1
        assert seen.setdefault(inode, path) == path
    assert len(seen) > 2500
    assert {path: info.st_ino for path, _, _, info in walk(m.path)} == \
        {path: inode for inode, path in seen.items()}
    assert os.stat(m.path).st_ino == 1
    with os.scandir(m.path / "wide") as entries:
        assert [e.name for e in entries] == [f"{i:06d}" for i in range(2500)]


def test_dot_entries_have_the_inodes_of_their_directories(tree):
    _, start = tree
    m = start()
    out = subprocess.run(["ls", "-ai1", str(m.path / "deep/d0")], capture_output=True, text=True,
                         check=True).stdout.split()
    inodes = dict(zip(out[1::2], map(int, out[::2])))
    assert inodes["."] == os.stat(m.path / "deep/d0").st_ino
    assert inodes[".."] == os.stat(m.path / "deep").st_ino


def test_find_skips_no_directory_and_costs_listings_only(tree):
    server, start = tree
    m = start()
    before = len(server.log)

    def find(*words):
        out = subprocess.run(["find", *words[:-1], str(m.path), *words[-1]], check=True,
                             capture_output=True, text=True, timeout=30).stdout
        return sorted(out.splitlines())

    plain = find(["-type", "d"])
    assert plain == find(["-noleaf", "-type", "d"])
    assert len([p for p in plain if "/deep" in p]) == 12 and str(m.path / "mark") in plain
    assert find(["-type", "f", "-links", "+1"]) == []
    du = subprocess.run(["du", "-sb", "--apparent-size", str(m.path / "wide")], check=True,
                        capture_output=True, text=True).stdout
    assert int(du.split()[0]) == 2500 * 513
    assert int(subprocess.run(["du", "-s", "--block-size=512", str(m.path / "wide")], check=True,
                              capture_output=True, text=True).stdout.split()[0]) == 2500 * 2
    assert server.count("head", before) == 0 and server.count("get", before) == 0
    assert server.count("list", before) <= 12 + 6 + 3


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_scandir_needs_no_stat(tree):
    _, start = tree
    m = start()
    os.listdir(m.path / "wide")
    code = f"import os\nprint(sum(e.is_file() for e in os.scandir({str(m.path / 'wide')!r})))"
    done = subprocess.run(["strace", "-f", "-e", "trace=newfstatat,stat,lstat,statx", "python3",
                           "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert "2500" in done.stdout, done.stderr[-300:]
    assert done.stderr.count("wide/") == 0


def test_statfs_never_alarms(tree, cache_dir):
    _, start = tree
    m = start(cache_size="64M")
    for _ in range(2):
        room = os.statvfs(m.path)
        assert room.f_bsize >= 4096 and room.f_frsize >= 4096
        assert room.f_blocks * room.f_frsize == 64 * MIB
        assert room.f_bfree == room.f_bavail == room.f_blocks
        assert room.f_files > 0 and room.f_ffree == room.f_files and room.f_namemax == 255
        assert room.f_flag & os.ST_RDONLY
        (m.path / "big/f0").read_bytes()
    for word in ("-h", "-i"):
        out = subprocess.run(["df", word, str(m.path)], capture_output=True, text=True, check=True)
        assert "s3://b" in out.stdout and "0%" in out.stdout and not out.stderr


def test_sparse_copies_keep_the_content(tree, tmp_path):
    server, start = tree
    server.put("b", "zeros", bytes(2 * MIB) + b"end")
    m = start()
    for name, want in (("big/f1", pattern.read(0, ODD, 1)), ("zeros", bytes(2 * MIB) + b"end")):
        tar = subprocess.run(["tar", "-C", str(m.path), "-cSf", "-", name], capture_output=True,
                             check=True, timeout=30)
        out = subprocess.run(["tar", "-xSOf", "-"], input=tar.stdout, capture_output=True,
                             check=True, timeout=30).stdout
        assert out == want and not tar.stderr
        subprocess.run(["cp", "--sparse=auto", str(m.path / name), tmp_path / "copy"], check=True)
        assert (tmp_path / "copy").read_bytes() == want
    with open(m.path / "zeros", "rb") as file:
        assert os.lseek(file.fileno(), 5, os.SEEK_DATA) == 5
        assert os.lseek(file.fileno(), 5, os.SEEK_HOLE) == 2 * MIB + 3
        with pytest.raises(OSError) as error:
            os.lseek(file.fileno(), 2 * MIB + 4, os.SEEK_DATA)
        assert error.value.errno == 6  # ENXIO


def test_times_do_not_move(tree):
    _, start = tree
    m = start(metadata_ttl=1)
    path = m.path / "big/f0"
    first = os.stat(path)
    assert first.st_mtime_ns % 10**9 == 0
    assert first.st_atime == first.st_mtime == first.st_ctime
    path.read_bytes()
    time.sleep(1.2)
    again = os.stat(path)
    assert (again.st_ino, again.st_mtime_ns, again.st_atime_ns) == \
        (first.st_ino, first.st_mtime_ns, first.st_atime_ns)


def fuse_reads(m):
    """READ requests, as the mount counts them."""
    return m.stats()["fuse"]["reads"]


def test_a_second_cat_makes_no_fuse_read(tree):
    _, start = tree
    m = start(metadata_ttl=1)
    path = m.path / "big/f1"
    for _ in range(3):  # Something else may drop the machine's page cache.
        assert path.read_bytes() == pattern.read(0, ODD, 1)
        before = fuse_reads(m)
        assert path.read_bytes() == pattern.read(0, ODD, 1)
        time.sleep(1.3)  # The listing ran out; the version is the same.
        assert path.read_bytes() == pattern.read(0, ODD, 1)
        if fuse_reads(m) == before:
            return
    raise AssertionError("each read came to the mount")


def direct_read(path, offset, length):
    """O_DIRECT into an aligned buffer."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, max(length, 4096)) as buffer:
            view = memoryview(buffer)[:length]
            got = os.preadv(fd, [view], offset)
            out = bytes(view[:got])
            view.release()
            return out
    finally:
        os.close(fd)


def test_direct_reads_are_exact_and_short_only_at_the_end(tree):
    _, start = tree
    m = start()
    path = m.path / "big/f2"
    want = pattern.read(0, ODD, 2)
    for offset, length in ((0, 512), (512, 4096), (MIB, MIB), (0, 4 * MIB), (ODD // 512 * 512, 512),
                           (ODD // 512 * 512 - 512, 1024), (4 * MIB, 4096), (7, 100), (1, ODD)):
        assert direct_read(path, offset, length) == want[offset:offset + length], (offset, length)
    for size in ("512", "4k", "1M", "4M"):
        out = subprocess.run(["dd", f"if={path}", "iflag=direct", f"bs={size}", "status=none"],
                             capture_output=True, check=True).stdout
        assert out == want


def test_direct_buffered_and_mapped_readers_of_one_file_mix(tree):
    _, start = tree
    m = start()
    path = m.path / "big/f2"
    want = pattern.read(0, ODD, 2)
    with open(path, "rb", buffering=0) as file, \
            mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        for offset in range(0, ODD - 65536, 333 * 1024):
            offset -= offset % 512
            part = want[offset:offset + 65536]
            assert direct_read(path, offset, 65536) == part
            assert mapped[offset:offset + 65536] == part
            assert os.pread(file.fileno(), 65536, offset) == part
        assert mapped[ODD - 5:] == want[ODD - 5:]
        with mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE,
                       prot=mmap.PROT_READ | mmap.PROT_WRITE) as own:
            own[0] = 0
            assert file.read(1) == want[:1]


def test_an_empty_file_needs_no_request(faults, mount):
    server = faults()
    server.put("b", "d/empty", b"")
    server.put("b", "empty", b"")
    m = mount(server, "s3://b")
    for path in (m.path / "empty", m.path / "d/empty"):
        assert path.read_bytes() == b"" and os.stat(path).st_blocks == 0
        assert direct_read(path, 0, 4096) == b""
        with open(path, "rb") as file, pytest.raises(ValueError):
            mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    assert server.count("get") == 0


def test_a_mapped_file_survives_listings_and_a_new_version(faults, mount):
    server = faults()
    server.put("b", "d/f", Object(size=ODD, generation=1))
    m = mount(server, "s3://b", metadata_ttl=0)
    path = m.path / "d/f"
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        # The server is a thread of this process, which a page fault would hold.
        assert file.read() == pattern.read(0, ODD, 1)
        assert mapped[:] == pattern.read(0, ODD, 1)
        inode = os.fstat(file.fileno()).st_ino
        for _ in range(3):
            subprocess.run(["ls", "-l", str(m.path / "d")], check=True, capture_output=True)
            assert mapped[ODD - 10:] == pattern.read(ODD - 10, 10, 1)
        server.put("b", "d/f", Object(size=5000, generation=2))
        subprocess.run(["ls", "-l", str(m.path / "d")], check=True, capture_output=True)
        assert os.stat(path).st_size == 5000 and os.stat(path).st_ino != inode
        assert os.fstat(file.fileno()).st_size == ODD
        assert mapped[ODD - 10:] == pattern.read(ODD - 10, 10, 1)
    assert path.read_bytes() == pattern.read(0, 5000, 2)


def test_inodes_go_when_the_kernel_forgets_them(tree):
    _, start = tree
    m = start()
    if os.getuid():
        pytest.skip("only root can drop caches")
    for _ in range(3):
        subprocess.run(["find", str(m.path), "-ls"], check=True, capture_output=True)
        assert m.stats()["inodes"] > 1000
        end = time.monotonic() + 10
        while m.stats()["inodes"] > 5 and time.monotonic() < end:
            pathlib.Path("/proc/sys/vm/drop_caches").write_text("2")
            time.sleep(0.05)
        assert m.stats()["inodes"] <= 5


def test_readahead_and_background_limits_are_set(tree):
    _, start = tree
    m = start()
    device = os.stat(m.path).st_dev
    bdi = pathlib.Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb")
    if os.getuid() == 0 and os.access(bdi, os.W_OK):
        assert int(bdi.read_text()) == 1024
    # Where fusectl is mounted.
    limit = pathlib.Path(f"/sys/fs/fuse/connections/{os.minor(device)}/max_background")
    if limit.exists():
        assert int(limit.read_text()) >= 128


def test_attributes_that_tools_ask_for_cost_nothing(tree):
    server, start = tree
    m = start()
    subprocess.run(["ls", "-l", str(m.path / "wide")], check=True, capture_output=True)
    before = len(server.log)
    subprocess.run(["ls", "-lZ", str(m.path / "wide")], check=True, capture_output=True)
    subprocess.run(["find", str(m.path / "wide"), "-newer", str(m.path / "wide/000001")],
                   check=True, capture_output=True)
    for name in ("user.x", "security.selinux", "system.posix_acl_access", "trusted.x"):
        with pytest.raises(OSError) as error:
            os.getxattr(m.path / "wide/000001", name)
        assert error.value.errno in (61, 95)
    assert len(server.log) == before
