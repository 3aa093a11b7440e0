"""The demo's story: see scripts/demo, which installs and builds."""

import errno
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

from tests.support import mounts, servers, shards

SHARDS, SHARD_MIB = 4, 48
BUCKET = "training-data"

OWN_BUCKET = """\
For a bucket of your own, as yourself:
  export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…    (or have ~/.aws/credentials)
  mkdir ~/data
  build/src/main/shardfs s3://BUCKET/PREFIX ~/data      (R2, MinIO, Ceph: --endpoint-url URL)
  build/src/main/shardfs stats ~/data
  fusermount3 -u ~/data"""


def last_line(text):
    return (text.strip().splitlines() or ["no output"])[-1]


class Demo:
    """A store 30 ms away, a mount, and a job that reads paths."""

    def __init__(self, work):
        self.work = pathlib.Path(work)
        self.point = self.work / "data"
        self.store = servers.RcloneS3()
        self.front = None
        self.mount = None
        self.seen = 0

    def prepare(self):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", 9)) == errno.ENETUNREACH:
                raise RuntimeError("the loopback interface is down, and the store listens there:"
                                   " ip link set lo up")
        shards.make(self.work / "shards", SHARDS, SHARD_MIB << 20)
        self.store.start()
        self.front = servers.Front(self.store.port).start()
        client = servers.client(self.store.url)
        client.create_bucket(Bucket=BUCKET)
        shards.upload(client, self.work / "shards", BUCKET, "wds/")

    def start_mount(self):
        self.mount = mounts.Mount(
            f"s3://{BUCKET}/wds", path=self.point, cache_dir=self.work / "cache",
            cache_size="1G", min_free="0", metadata_ttl="forever",
            env=mounts.environment(self.front.url, servers.KEY, servers.SECRET))
        self.mount.start()
        return self.mount.output.strip()

    def store_counts(self):
        """What the store was asked since the last time: GET, LIST, HEAD, bytes."""
        time.sleep(0.1)
        asked = self.front.requests(self.seen)
        self.seen += len(asked)
        counts = [sum(1 for kind, _, _ in asked if kind == wanted)
                  for wanted in ("get", "list", "head")]
        return *counts, sum(size for kind, size, _ in asked if kind == "get")

    def epoch(self, number, what):
        """One run of the job; its line has all requests since the line before."""
        done = subprocess.run(
            [sys.executable, str(mounts.ROOT / "examples" / "train_webdataset.py"),
             f"{self.point}/{shards.pattern(SHARDS)}", "--workers=2"],
            capture_output=True, text=True, timeout=120, check=False)
        if not done.stdout:
            raise RuntimeError(f"epoch {number}: {last_line(done.stderr)}")
        result = json.loads(done.stdout.splitlines()[-1])
        gets, lists, heads, size = self.store_counts()
        right = result["wrong"] == 0 and result["samples"] > 0
        print(f"{number} {what:<34}{result['first_seconds']:>7.2f} s"
              f"{result['samples'] / result['seconds']:>11,.0f}{gets:>6}{lists:>6}{heads:>6}"
              f"{size / (1 << 20):>9.0f} MiB  {'all right' if right else 'WRONG'}", flush=True)
        return right

    def run(self):
        self.prepare()
        print(f"\n$ shardfs s3://{BUCKET}/wds {self.point}\n{self.start_mount()}")
        print(f"$ train_webdataset.py '{self.point}/{shards.pattern(SHARDS)}'   (four times)\n")
        print(f"{'epoch':<36}{'1st sample':>9}{'samples/s':>11}{'GET':>6}{'LIST':>6}{'HEAD':>6}"
              f"{'from store':>13}  hashes", flush=True)
        right = self.epoch(1, "store 30 ms away, nothing cached")
        right &= self.epoch(2, "again")
        os.kill(self.mount.pid, signal.SIGKILL)
        self.mount._wait_gone(10)
        self.start_mount()
        right &= self.epoch(3, "after kill -9 and mounting again")
        self.front.process.terminate()
        self.front.process.wait(10)
        self.store.stop()
        right &= self.epoch(4, "the store is switched off")
        self.mount.unmount()
        print("Requests and bytes are those in the store's log, mounting included.\n\n"
              f"$ fusermount3 -u {self.point}\n\n{OWN_BUCKET}")
        return 0 if right else 1

    def close(self):
        if self.mount:
            self.mount.close()
        if self.front:
            self.front.stop()
        self.store.stop()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    demo = Demo(sys.argv[1])
    try:
        return demo.run()
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # whatever it is, a newcomer gets one line
        full = shutil.disk_usage(demo.work).free < 1 << 20
        why = "the disk is full" if full else last_line(str(error) or repr(error))
        print(f"demo: {why}", file=sys.stderr)
        return 1
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        demo.close()


if __name__ == "__main__":
    sys.exit(main())
