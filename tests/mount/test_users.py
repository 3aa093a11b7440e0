"""Whose mount it is: owners, modes, allow_other, and ordinary users' mounts."""

import grp
import os
import pathlib
import pwd
import shutil
import stat
import subprocess
import tempfile

import pytest

from tests.support import mounts

USER = GROUP = 65534

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")


@pytest.fixture
def server(faults):
    out = faults()
    out.put("b", "d/f", b"hello")
    return out


def as_user(*words, **more):
    return subprocess.run([*words], user=USER, group=GROUP, extra_groups=[], capture_output=True,
                          text=True, timeout=30, check=False, **more)


def test_only_the_owner_reads_by_default(server, mount):
    m = mount(server, "s3://b")
    info = os.stat(m.path / "d/f")
    assert (info.st_uid, info.st_gid) == (os.getuid(), os.getgid())
    assert stat.S_IMODE(info.st_mode) == 0o444
    assert stat.S_IMODE(os.stat(m.path / "d").st_mode) == 0o555
    assert "add allow_other" in m.errors
    done = as_user("cat", str(m.path / "d/f"))
    assert done.returncode == 1 and "Permission denied" in done.stderr
    done = as_user(mounts.binary(), "stats", str(m.path))
    assert done.returncode == 2 and "allow_other" in done.stderr


def test_allow_other_lets_others_read(server, mount):
    m = mount(server, "s3://b", allow_other=True)
    assert m.errors == ""
    assert as_user("cat", str(m.path / "d/f")).stdout == "hello"
    assert as_user("ls", str(m.path / "d")).stdout == "f\n"
    assert '"requests"' in as_user("cat", str(m.path / ".shardfs/stats")).stdout
    done = as_user("touch", str(m.path / "d/f"))
    assert done.returncode == 1 and "Read-only" in done.stderr


@pytest.mark.parametrize("names", [False, True])
def test_owners_and_modes_are_as_given_and_hold(server, mount, names):
    user = pwd.getpwuid(USER).pw_name if names else USER
    group = grp.getgrgid(GROUP).gr_name if names else GROUP
    m = mount(server, "s3://b", allow_other=True, uid=user, gid=group, file_mode="0440",
              dir_mode="550")
    info = os.stat(m.path / "d/f")
    assert (info.st_uid, info.st_gid) == (USER, GROUP)
    assert stat.S_IMODE(info.st_mode) == 0o440
    assert stat.S_IMODE(os.stat(m.path).st_mode) == 0o550
    assert as_user("cat", str(m.path / "d/f")).stdout == "hello"
    m.remount("--uid=0", "--gid=0")
    assert as_user("cat", str(m.path / "d/f")).returncode == 1


def test_a_wrong_owner_or_mode_is_refused(server, mount):
    for option in ("uid=no-such-user", "gid=no-such-group", "uid=-1", "uid=4294967295",
                   "file_mode=888", "dir_mode=07777", "file_mode=", "uid="):
        done = mounts.run("s3://b", "/tmp", "-o", option, env=mounts.environment(server.url))
        assert done.returncode == 1 and option.split("=")[0] in done.stderr, (option, done.stderr)
        assert len(done.stderr.splitlines()) == 1


# ---- An ordinary user's own mount: fusermount3 with a device that all may open

SCRIPT = """
set -e
mount --make-rprivate /
mount --bind {work}/fuse /dev/fuse
{conf}
exec setpriv --reuid {user} --regid {user} --clear-groups \\
    env -i PATH=/usr/bin:/bin:/usr/sbin HOME={work}/home AWS_ENDPOINT_URL={url} \\
    AWS_ACCESS_KEY_ID=testkey AWS_SECRET_ACCESS_KEY=testsecret sh -ec '{commands}'
"""


@pytest.fixture
def ordinary(server):
    """Runs shell commands as an ordinary user, in a mount namespace."""
    if not shutil.which("fusermount3") or not shutil.which("setpriv"):
        pytest.skip("fusermount3 or setpriv is missing")
    work = pathlib.Path(tempfile.mkdtemp(prefix="shardfs-user-"))
    for name in ("home", "point"):
        (work / name).mkdir()
        os.chown(work / name, USER, USER)
    work.chmod(0o755)
    os.mknod(work / "fuse", stat.S_IFCHR | 0o666, os.makedev(10, 229))
    os.chmod(work / "fuse", 0o666)
    shutil.copy(mounts.binary(), work / "shardfs")
    (work / "shardfs").chmod(0o755)

    def run(commands, conf="", **more):
        script = SCRIPT.format(work=work, user=USER, url=server.url, commands=commands, conf=conf)
        return subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True,
                              text=True, timeout=60, check=False, cwd=work, **more)

    yield run
    shutil.rmtree(work, ignore_errors=True)


def test_an_ordinary_user_mounts_reads_and_unmounts(ordinary):
    done = ordinary("""
        ./shardfs s3://b point
        cat point/d/f; echo; stat -c "%u %g %a" point/d/f
        grep "$PWD/point " /proc/self/mountinfo | cut -d" " -f6
        ls -d home/.cache/shardfs; find home -perm /077 -path "*shardfs*"
        ./shardfs stats point --json | grep -c source
        fusermount3 -u point
        ls point""")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("shardfs: s3://b on ") and "/home/.cache/shardfs (" in lines[0]
    assert lines[1:3] == ["hello", f"{USER} {USER} 444"]
    assert {"ro", "nosuid", "nodev"} <= set(lines[3].split(","))
    assert lines[4:] == ["home/.cache/shardfs", "1"], lines
    assert done.stderr == ""


WAIT = 'for i in $(seq 50); do test -e point/d/f && break; sleep 0.1; done'


def test_a_signal_ends_an_ordinary_users_mount(ordinary):
    done = ordinary(f"""
        ./shardfs -f s3://b point --cache-dir none > /dev/null & pid=$!
        {WAIT}
        cat point/d/f
        kill $pid; wait $pid && echo ended
        grep -c "$PWD/point " /proc/self/mountinfo || true""")
    assert done.stdout == "helloended\n0\n", (done.stdout, done.stderr)


def test_allow_other_needs_the_line_of_root(ordinary):
    conf = "echo > {0} && mount --bind {0} /etc/fuse.conf"
    with tempfile.NamedTemporaryFile(mode="w", suffix=".conf") as file:
        os.chmod(file.name, 0o644)
        done = ordinary("./shardfs s3://b point --allow-other", conf=conf.format(file.name))
        assert done.returncode == 2 and "user_allow_other" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        text = f"echo user_allow_other > {file.name} && mount --bind {file.name} /etc/fuse.conf"
        done = ordinary("./shardfs s3://b point --allow-other && cat point/d/f && "
                        "fusermount3 -u point", conf=text)
        assert done.returncode == 0 and done.stdout.endswith("hello"), done.stderr


def test_a_dead_mount_of_an_ordinary_user_is_taken_over(ordinary):
    done = ordinary(f"""
        ./shardfs -f s3://b point > /dev/null 2>&1 & pid=$!
        {WAIT}
        kill -9 $pid; wait $pid || true
        cat point/d/f 2> /dev/null && exit 9
        ./shardfs s3://b point > /dev/null
        cat point/d/f
        fusermount3 -u point""")
    assert done.returncode == 0 and done.stdout == "hello", (done.stdout, done.stderr)


def test_a_device_that_may_not_be_opened_is_named(server):
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        point = pathlib.Path(work, "point")
        point.mkdir()
        os.chown(point, USER, USER)
        script = (f"mount --make-rprivate /; mknod -m 0600 {work}/fuse c 10 229; "
                  f"mount --bind {work}/fuse /dev/fuse; "
                  f"exec setpriv --reuid {USER} --regid {USER} --clear-groups "
                  f"{mounts.binary()} s3://b {point} --cache-dir=none")
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True,
                              text=True, timeout=30, check=False,
                              env={**mounts.environment(server.url), "HOME": work})
        assert done.returncode == 2 and "/dev/fuse" in done.stderr and "0666" in done.stderr
        assert len(done.stderr.splitlines()) == 1
