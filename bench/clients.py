"""What is measured: shardfs, a direct download, local files, and the peers
that are installed. Each client makes one directory readable."""

import os
import pathlib
import shutil
import subprocess
import time

from tests.support import mounts, servers

BUCKET = "bench-data"


class Client:
    """One way to read the data at `path`."""

    name = "?"
    peer = True

    def __init__(self, work, store_url, cache=True):
        self.work = pathlib.Path(work)
        self.url = store_url
        self.cache = cache
        self.path = self.work / "mnt" / self.name.replace(" ", "-")
        self.cache_dir = self.work / "cache" / self.name.replace(" ", "-")
        self.process = None

    @classmethod
    def available(cls):
        return True

    def start(self):
        self.path.mkdir(parents=True, exist_ok=True)
        self.cache_dir.mkdir(parents=True, exist_ok=True)
        self.mount()
        end = time.monotonic() + 20
        while not os.path.ismount(self.path):
            if time.monotonic() > end or (self.process and self.process.poll() is not None):
                raise RuntimeError(f"{self.name} does not mount")
            time.sleep(0.02)

    def mount(self):
        raise NotImplementedError

    def spawn(self, *words, env=None):
        log = open(self.work / f"{self.name.replace(' ', '-')}.log", "ab")
        self.process = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL,
                                        stdout=log, stderr=log,
                                        env={**mounts.environment(), **(env or {})})

    def daemons(self):
        return [self.process.pid] if self.process else []

    def cpu_seconds(self):
        total = 0.0
        for pid in self.daemons():
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                fields = file.read().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return total

    def rss_bytes(self):
        for pid in self.daemons():
            with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                for line in file:
                    if line.startswith("VmHWM:"):
                        return int(line.split()[1]) * 1024
        return 0

    def stop(self):
        if os.path.ismount(self.path):
            subprocess.run(["umount", self.path], check=False, capture_output=True, timeout=30)
            if os.path.ismount(self.path):
                subprocess.run(["umount", "-l", self.path], check=False, capture_output=True)
        if self.process:
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)
            self.process = None

    def forget(self):
        """No cache, as on a new machine."""
        shutil.rmtree(self.cache_dir, ignore_errors=True)


class Shardfs(Client):
    name = "shardfs"
    peer = False
    options = ()

    def mount(self):
        cache = self.cache_dir if self.cache else "none"
        self.daemon = mounts.Mount(f"s3://{BUCKET}", *self.options, path=self.path,
                                   cache_dir=cache, env=mounts.environment(self.url))
        self.daemon.start()

    def daemons(self):
        return [self.daemon.pid] if self.daemon and self.daemon.pid else []

    def stop(self):
        self.daemon.close()


class ShardfsNone(Shardfs):
    name = "shardfs cache_dir=none"

    def __init__(self, work, store_url, cache=True):
        super().__init__(work, store_url, False)


class Shardfs16(Shardfs):
    name = "shardfs max_connections=16"
    options = ("--max-connections=16",)


class Local(Client):
    """The same files on the disk where the caches lie."""

    name = "local files"
    peer = False

    def start(self):
        self.path = self.work / "local"

    def mount(self):
        pass

    def stop(self):
        pass


class S3fs(Client):
    name = "s3fs"

    @classmethod
    def available(cls):
        return shutil.which("s3fs") is not None

    def mount(self):
        secret = self.work / "s3fs.passwd"
        secret.write_text(f"{servers.KEY}:{servers.SECRET}\n")
        secret.chmod(0o600)
        options = f"url={self.url},use_path_request_style,passwd_file={secret},ro"
        if self.cache:
            options += f",use_cache={self.cache_dir}"
        self.spawn("s3fs", BUCKET, self.path, "-f", "-o", options)


class Rclone(Client):
    name = "rclone"

    @classmethod
    def available(cls):
        return servers.tool("rclone") is not None

    def mount(self):
        remote = (f":s3,provider=Other,access_key_id={servers.KEY},"
                  f"secret_access_key={servers.SECRET},endpoint='{self.url}':{BUCKET}")
        self.spawn(servers.tool("rclone"), "mount", remote, self.path, "--config", "",
                   "--read-only", "--vfs-cache-mode", "full" if self.cache else "off",
                   "--cache-dir", self.cache_dir)


class Gcsfuse(Client):
    """Against fake-gcs-server, with the same objects."""

    name = "gcsfuse"
    gcs_url = None

    @classmethod
    def available(cls):
        return servers.tool("gcsfuse") is not None and cls.gcs_url is not None

    def mount(self):
        words = [servers.tool("gcsfuse"), "--foreground", "--anonymous-access",
                 "--enable-hns=false", "--implicit-dirs",
                 f"--custom-endpoint={self.gcs_url}/storage/v1/", "-o", "ro"]
        if self.cache:
            words += [f"--cache-dir={self.cache_dir}", "--file-cache-max-size-mb=-1"]
        self.spawn(*words, BUCKET, self.path)


CLIENTS = [Shardfs, ShardfsNone, Shardfs16, Local, S3fs, Gcsfuse, Rclone]
