"""Mounts for tests: every wait is bounded, and a mount never outlives its test."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WAIT = 30
made = []  # Mount points of this process.


def binary():
    """The shardfs under test: SHARDFS, or the newest build."""
    path = os.environ.get("SHARDFS") or str(ROOT / "build" / "src" / "main" / "shardfs")
    if not os.access(path, os.X_OK):
        raise RuntimeError(f"{path} is not there: build it, or set SHARDFS")
    return path


def mounted(path):
    """The (source, type) that the mount table shows at `path`, or None."""
    path = os.path.realpath(path) if not os.path.ismount(path) else str(path)
    found = None
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
        for line in table:
            left, _, right = line.partition(" - ")
            if left.split()[4].replace("\\040", " ") == path:
                kind, source = right.split()[:2]
                found = (source.replace("\\040", " "), kind)
    return found


def environment(store_url=None, key="testkey", secret="testsecret", **more):
    """A clean environment: no credentials of the machine's own leak in."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("AWS_", "AZURE_", "GOOGLE_"))
           and not name.lower().endswith("_proxy")}
    env.update(AWS_ACCESS_KEY_ID=key, AWS_SECRET_ACCESS_KEY=secret,
               AWS_EC2_METADATA_DISABLED="true",
               AWS_CONFIG_FILE="/nonexistent", AWS_SHARED_CREDENTIALS_FILE="/nonexistent")
    if store_url:
        env["AWS_ENDPOINT_URL"] = store_url
    env.update({name: str(value) for name, value in more.items()})
    return env


def run(*arguments, env=None, timeout=WAIT, **more):
    """shardfs with arguments, to its end."""
    return subprocess.run([binary(), *map(str, arguments)], env=env, timeout=timeout,
                          capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, **more)


class Mount:
    """`with Mount("s3://b", env=…, cache_dir=…) as mount: mount.path / "key"`."""

    def __init__(self, source, *arguments, env=None, path=None, **options):
        self.source = source
        self.arguments = [str(a) for a in arguments]
        for name, value in options.items():
            if value is True:
                self.arguments.append("--" + name.replace("_", "-"))
            elif value is not None:
                self.arguments.append(f"--{name.replace('_', '-')}={value}")
        self.env = env
        self._own_path = path is None
        self.path = pathlib.Path(path or tempfile.mkdtemp(prefix="shardfs-mount-"))
        made.append(str(self.path))
        self.output = ""
        self.errors = ""
        self.pid = None

    def start(self, timeout=WAIT):
        done = subprocess.run(
            [binary(), *self.arguments, self.source, str(self.path)],
            env=self.env, timeout=timeout, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL)
        self.output, self.errors = done.stdout, done.stderr
        if done.returncode:
            raise MountFailed(done.returncode, done.stdout, done.stderr)
        self.pid = self._find()
        return self

    def _find(self):
        """The daemon: ours by its command line."""
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                words = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if str(self.path).encode() in words and b"shardfs" in words[0]:
                return int(entry)
        raise RuntimeError("the mount is there, its daemon is not")

    def stats(self):
        with open(self.path / ".shardfs" / "stats", encoding="utf-8") as file:
            return json.load(file)

    def rss_bytes(self):
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        return 0

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def unmount(self, timeout=WAIT):
        """As a user does it; the daemon must be gone afterwards."""
        done = subprocess.run(["fusermount3", "-u", str(self.path)], check=False, timeout=timeout,
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"fusermount3 -u: {done.stderr}")
        self._wait_gone(timeout)

    def kill(self):
        """kill -9 of the daemon, and the dead mount cleared away."""
        os.kill(self.pid, signal.SIGKILL)
        self._wait_gone(WAIT)
        subprocess.run(["umount", "-l", str(self.path)], check=False, capture_output=True)

    def _wait_gone(self, timeout):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            try:
                state = pathlib.Path(f"/proc/{self.pid}/stat").read_text()
                if state.rpartition(")")[2].split()[0] == "Z":
                    break
            except (FileNotFoundError, ProcessLookupError):
                break
            time.sleep(0.01)
        else:
            raise RuntimeError(f"daemon {self.pid} still runs after {timeout} s")
        self.pid = None

    def remount(self, *arguments):
        self.unmount()
        self.arguments += map(str, arguments)
        return self.start()

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends it whatever its state."""
        pid = self.pid
        if mounted(self.path):
            subprocess.run(["fusermount3", "-u", str(self.path)], check=False, timeout=WAIT,
                           capture_output=True)
            if mounted(self.path):
                subprocess.run(["umount", "-l", str(self.path)], check=False, timeout=WAIT,
                               capture_output=True)
        if pid is not None:
            try:
                self.pid = pid
                self._wait_gone(10)
            except RuntimeError:
                os.kill(pid, signal.SIGKILL)
                self._wait_gone(10)
        if self._own_path:
            shutil.rmtree(self.path, ignore_errors=True)


class MountFailed(Exception):
    """shardfs said no; its exit status and its words."""

    def __init__(self, status, output, errors):
        super().__init__(f"exit {status}: {errors}{output}")
        self.status, self.output, self.errors = status, output, errors
