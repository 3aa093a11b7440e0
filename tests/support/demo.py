"""The demo's story: see scripts/demo, which installs and builds."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from tests.support import mounts, servers, shards

SHARDS, SHARD_MIB = 4, 48
BUCKET = "training-data"


class Demo:
    """A store 30 ms away, a mount, and a job that reads paths."""

    def __init__(self, work):
        self.work = pathlib.Path(work)
        self.point = self.work / "data"
        self.store = servers.RcloneS3()
        self.front = None
        self.mount = None

    def prepare(self):
        shards.make(self.work / "shards", SHARDS, SHARD_MIB << 20)
        self.store.start()
        self.front = servers.Front(self.store.port).start()
        client = servers.client(self.store.url)
        client.create_bucket(Bucket=BUCKET)
        shards.upload(client, self.work / "shards", BUCKET, "wds/")

    def start_mount(self):
        self.mount = mounts.Mount(
            f"s3://{BUCKET}/wds", path=self.point, cache_dir=self.work / "cache",
            cache_size="4G", metadata_ttl="forever",
            env=mounts.environment(self.front.url, servers.KEY, servers.SECRET))
        self.mount.start()
        return self.mount.output.strip()

    def epoch(self, number, what):
        before = len(self.front.requests())
        done = subprocess.run(
            [sys.executable, str(mounts.ROOT / "examples" / "train_webdataset.py"),
             f"{self.point}/{shards.pattern(SHARDS)}", "--workers=2"],
            capture_output=True, text=True, timeout=120, check=False)
        if not done.stdout:
            raise RuntimeError(done.stderr[-500:])
        result = json.loads(done.stdout.splitlines()[-1])
        time.sleep(0.1)
        asked = self.front.requests()[before:]
        count = {kind: sum(1 for k, _, _ in asked if k == kind) for kind in ("get", "list", "head")}
        size = sum(n for kind, n, _ in asked if kind == "get")
        right = "all right" if not result["wrong"] and result["samples"] else \
            f"{result['wrong']} WRONG"
        print(f"{number}  {what:<36}{result['first_seconds']:>7.2f} s"
              f"{result['samples'] / result['seconds']:>11,.0f}{count['get']:>7}{count['list']:>6}"
              f"{count['head']:>6}{size / (1 << 20):>9.0f} MiB   {right}", flush=True)
        return result["wrong"] == 0 and result["samples"] > 0

    def run(self):
        self.prepare()
        print(f"\n$ shardfs s3://{BUCKET}/wds {self.point} …\n{self.start_mount()}")
        print(f"$ train_webdataset.py '{self.point}/{shards.pattern(SHARDS)}'\n")
        print(f"{'epoch':<39}{'1st sample':>9}{'samples/s':>11}{'GET':>7}{'LIST':>6}{'HEAD':>6}"
              f"{'from store':>13}   hashes")
        right = self.epoch(1, "store 30 ms away, nothing cached")
        right &= self.epoch(2, "again: from the cache")
        os.kill(self.mount.pid, signal.SIGKILL)
        self.mount._wait_gone(10)
        self.start_mount()
        right &= self.epoch(3, "daemon killed (-9), mounted again")
        self.front.process.terminate()
        self.front.process.wait(10)
        right &= self.epoch(4, "store switched off")
        self.mount.unmount()
        print(f"\nfusermount3 -u {self.point}: done\n\nFor your own bucket:\n"
              "  export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…\n"
              "  build/src/main/shardfs s3://BUCKET/PREFIX /mnt/data     "
              "(add --endpoint-url URL for R2, MinIO, Ceph)\n"
              "  build/src/main/shardfs stats /mnt/data\n"
              "  fusermount3 -u /mnt/data")
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
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        demo.close()


if __name__ == "__main__":
    sys.exit(main())
