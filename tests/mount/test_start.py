"""Starting: background, mount(8), fstab, environment files, /dev/fd/N."""

import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import threading
import time

import pytest

from tests.faults.server import FaultServer
from tests.support import mounts, servers

HELPER = pathlib.Path("/sbin/mount.shardfs")
PROGRAM = pathlib.Path("/usr/bin/shardfs")


@pytest.fixture
def helper():
    """mount(8) looks for its helper in /sbin only, and mount.fuse3 for the
    program in a PATH of its own."""
    made = [path for path in (HELPER, PROGRAM) if not path.exists()]
    for path in made:
        path.unlink(missing_ok=True)
        path.symlink_to(mounts.binary())
    yield HELPER
    for path in made:
        path.unlink()


@pytest.fixture
def point():
    path = tempfile.mkdtemp(prefix="shardfs-mount-")
    yield path
    while mounts.mounted(path):
        subprocess.run(["umount", "-l", path], check=False)
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def env_file(tmp_path):
    def write(url):
        path = tmp_path / "env"
        path.write_text(f"# credentials\nAWS_ACCESS_KEY_ID=testkey\n"
                        f"AWS_SECRET_ACCESS_KEY='testsecret'\nexport AWS_ENDPOINT_URL={url}\n")
        path.chmod(0o600)
        return path
    return write


def test_the_success_lines(faults, mount, cache_dir):
    server = faults()
    server.put("b", "f", b"x")
    m = mount(server, "s3://b", cache_size="64M")
    first = m.output.splitlines()
    assert len(first) == 1
    assert first[0].startswith(f"shardfs: s3://b on {m.path}, cache {cache_dir} (")
    assert first[0].endswith("of 64M used)")
    assert m.errors == f"shardfs: only root can read {m.path}; " \
                       "add allow_other for jobs of other users\n"


def test_mount_a_twice_mounts_once(faults, helper, point, env_file, cache_dir):
    server = faults()
    server.put("b", "f", b"hello")
    fstab = pathlib.Path(point + ".fstab")
    fstab.write_text(f"s3://b {point} shardfs defaults,_netdev,nofail,user,noatime,"
                     f"x-systemd.automount,env_file={env_file(server.url)},"
                     f"cache_dir={cache_dir} 0 0\n")
    try:
        for _ in range(2):
            done = subprocess.run(["mount", "-a", "-T", str(fstab)], capture_output=True,
                                  text=True, timeout=60, check=False, env={})
            assert done.returncode == 0, done.stderr
        with open("/proc/self/mountinfo", encoding="utf-8") as table:
            assert sum(1 for line in table if f" {point} " in line) == 1
        assert pathlib.Path(point, "f").read_bytes() == b"hello"
        assert mounts.mounted(point) == ("s3://b", "fuse.shardfs")
    finally:
        fstab.unlink()


def test_mount_t_both_types_and_the_flags(faults, helper, point, env_file):
    server = faults()
    server.put("b", "f", b"hello")
    options = f"env_file={env_file(server.url)},cache_dir=none"
    for kind in ("shardfs", "fuse.shardfs"):
        if kind == "fuse.shardfs" and not shutil.which("mount.fuse3"):
            continue
        done = subprocess.run(["mount", "-t", kind, "s3://b", point, "-o", options],
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        assert pathlib.Path(point, "f").read_bytes() == b"hello"
        with open("/proc/self/mountinfo", encoding="utf-8") as table:
            line = next(line for line in table if f" {point} " in line)
        assert {"ro", "nosuid", "nodev"} <= set(line.split()[5].split(","))
        subprocess.run(["umount", point], check=True, timeout=30)
    fake = subprocess.run([HELPER, "s3://b", point, "-f", "-o", "rw," + options], timeout=30,
                          capture_output=True, text=True, check=False)
    assert fake.returncode == 0 and mounts.mounted(point) is None
    bad = subprocess.run([HELPER, "s3://b", point, "-o", "rw,no_such"], timeout=30,
                         capture_output=True, text=True, check=False)
    assert bad.returncode == 1 and "no_such" in bad.stderr
    sloppy = subprocess.run([HELPER, "s3://b", point, "-s", "-f", "-o", "rw,no_such"], timeout=30,
                            capture_output=True, text=True, check=False)
    assert sloppy.returncode == 0 and "no_such" in sloppy.stderr
    again = subprocess.run([HELPER, "s3://b", point, "-o", "remount,rw"], timeout=30,
                           capture_output=True, text=True, check=False)
    assert again.returncode == 1 and "remount" in again.stderr
    port = servers.free_port()
    down = subprocess.run([HELPER, "s3://b", point, "-o",
                           f"mount_wait=0,endpoint_url=http://127.0.0.1:{port},{options}"],
                          timeout=30, capture_output=True, text=True, check=False)
    assert down.returncode == 32


def test_mount_wait_waits_for_the_store(point):
    port = servers.free_port()
    late = []

    def start():
        time.sleep(1.5)
        late.append(FaultServer(port=port))
        late[0].put("b", "f", b"x")
        late[0].start()

    starter = threading.Thread(target=start)
    starter.start()
    try:
        done = mounts.run("s3://b", point, "--mount-wait=20", "--cache-dir=none", timeout=30,
                          env=mounts.environment(f"http://127.0.0.1:{port}"))
        assert done.returncode == 0, done.stderr
        assert pathlib.Path(point, "f").read_bytes() == b"x"
    finally:
        starter.join()
        subprocess.run(["umount", "-l", point], check=False)
        late[0].stop()


def test_an_env_file_that_others_can_read_is_refused(faults, point, env_file):
    server = faults()
    server.put("b", "f", b"x")
    path = env_file(server.url)
    path.chmod(0o644)
    done = mounts.run("s3://b", point, f"--env-file={path}")
    assert done.returncode in (1, 2) and str(path) in done.stderr and "chmod" in done.stderr


def test_a_configuration_file(faults, point, env_file, tmp_path, cache_dir):
    server = faults()
    server.put("b", "f", b"hello")
    conf = tmp_path / "data.conf"
    conf.write_text(f"# training data\nenv_file = {env_file(server.url)}\n"
                    f"cache_dir = {cache_dir}\n\nmetadata_ttl = 5m\n")
    done = mounts.run("-o", "cache_size=32M", "s3://b", point, "--env-file", env_file(server.url),
                      "--cache-dir", cache_dir)
    assert done.returncode == 0, done.stderr


def test_an_open_dev_fuse(faults, point):
    """As in containers: somebody else made the mount."""
    server = faults()
    server.put("b", "f", b"hello")
    fd = os.open("/dev/fuse", os.O_RDWR)
    try:
        os.set_inheritable(fd, True)
        options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,default_permissions,allow_other"
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        flags = 1 | 2 | 4
        if libc.mount(b"s3://b", point.encode(), b"fuse.shardfs", flags, options.encode()):
            pytest.skip(f"mount(2): {os.strerror(ctypes.get_errno())}")
        daemon = subprocess.Popen([mounts.binary(), "-f", "s3://b", f"/dev/fd/{fd}",
                                   "--cache-dir=none"], pass_fds=[fd],
                                  env=mounts.environment(server.url), stderr=subprocess.DEVNULL)
        os.close(fd)
        fd = -1
        content = subprocess.run(["cat", point + "/f"], capture_output=True, timeout=20,
                                 check=True).stdout
        assert content == b"hello"
        subprocess.run(["umount", point], check=True, timeout=20)
        daemon.wait(10)
    finally:
        if fd >= 0:
            os.close(fd)


def test_the_daemon_has_a_session_of_its_own(faults, mount):
    server = faults()
    server.put("b", "f", b"x")
    m = mount(server, "s3://b")
    assert os.getsid(m.pid) == m.pid and os.getsid(m.pid) != os.getsid(0)
    assert os.readlink(f"/proc/{m.pid}/cwd") == "/"


def test_no_secret_shows(faults, mount):
    server = faults()
    server.put("b", "f", b"x")
    m = mount(server, "s3://b")
    for name in ("environ", "cmdline"):
        assert b"testsecret" not in pathlib.Path(f"/proc/{m.pid}/{name}").read_bytes()
    assert "testsecret" not in (m.path / ".shardfs" / "stats").read_text()
    found = subprocess.run(["grep", "-ra", "testsecret", str(m.arguments[-1].split("=")[1])],
                           capture_output=True, check=False)
    assert found.returncode == 1


def test_sigterm_ends_it_with_readers_waiting(faults, mount):
    server = faults()
    server.put("b", "f", b"x" * 10_000_000)
    server.rule(when={"kind": "get"}, stall_after=0, seconds=1000)
    m = mount(server, "s3://b")
    reader = subprocess.Popen(["cat", str(m.path / "f")], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
    time.sleep(0.5)
    start = time.monotonic()
    os.kill(m.pid, 15)
    m._wait_gone(10)
    assert time.monotonic() - start < 6
    assert reader.wait(10) != 0
    assert mounts.mounted(m.path) is None


def test_a_busy_unmount_fails_and_everything_goes_on(faults, mount):
    server = faults()
    server.put("b", "f", b"hello")
    m = mount(server, "s3://b")
    with open(m.path / "f", "rb") as file:
        done = subprocess.run(["fusermount3", "-u", str(m.path)], capture_output=True, text=True,
                              timeout=20, check=False)
        assert done.returncode != 0 and "busy" in done.stderr.lower()
        assert file.read() == b"hello"
    assert (m.path / "f").read_bytes() == b"hello"


def test_the_daemon_keeps_no_descriptor_of_its_caller(faults, point, cache_dir):
    """A lock or a pipe of the caller's must not live as long as the mount."""
    server = faults()
    server.put("b", "f", b"x")
    ours, theirs = os.pipe()
    with open("/dev/null", "rb") as other:
        done = subprocess.run([mounts.binary(), "s3://b", point, f"--cache-dir={cache_dir}"],
                              env=mounts.environment(server.url), capture_output=True, timeout=30,
                              check=False, pass_fds=[theirs, other.fileno()])
    os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert select.select([ours], [], [], 5)[0] == [ours] and os.read(ours, 1) == b""
    os.close(ours)
    assert pathlib.Path(point, "f").read_bytes() == b"x"
