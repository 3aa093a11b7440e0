#!/usr/bin/env python3
"""An ordinary WebDataset job. It knows nothing of shardfs: it reads paths.

    train_webdataset.py 'DIR/shard-{000000..000007}.tar' [--workers N] [--epochs N]

Each sample has an image (.jpg) and a .json that names the SHA-256 of the
image; every one is checked. One line of JSON per epoch: samples, seconds,
seconds to the first sample, how many were wrong.
"""

import argparse
import hashlib
import json
import sys
import time

import webdataset

try:
    import torch.utils.data
except ImportError:
    torch = None


def check(sample):
    """1 where the image is what its label says, else 0."""
    meta = json.loads(sample["json"])
    return int(hashlib.sha256(sample["jpg"]).hexdigest() == meta["sha256"])


def samples(shards, workers, shuffle, verify):
    source = webdataset.WebDataset(
        shards, shardshuffle=100 if shuffle else False, empty_check=False)
    source = source.map(check if verify else lambda sample: 1)
    if torch is None or workers == 0:
        return source
    return torch.utils.data.DataLoader(source, batch_size=None, num_workers=workers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shards")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--shuffle", action="store_true")
    parser.add_argument("--no-verify", action="store_true")
    arguments = parser.parse_args()
    wrong_in_all = 0
    for epoch in range(arguments.epochs):
        start = time.monotonic()
        first = None
        count = right = 0
        for ok in samples(arguments.shards, arguments.workers, arguments.shuffle,
                          not arguments.no_verify):
            if first is None:
                first = time.monotonic() - start
            count += 1
            right += int(ok)
        wrong_in_all += count - right
        print(json.dumps({"epoch": epoch + 1, "samples": count, "wrong": count - right,
                          "seconds": round(time.monotonic() - start, 4),
                          "first_seconds": round(first or 0, 4)}), flush=True)
    return 1 if wrong_in_all else 0


if __name__ == "__main__":
    sys.exit(main())
