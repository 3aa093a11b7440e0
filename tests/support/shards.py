"""WebDataset shards made on the spot: random images with their SHA-256."""

import hashlib
import io
import json
import pathlib
import random
import tarfile

IMAGE_BYTES = (90_000, 150_000)


def make(directory, count, bytes_each, seed=1):
    """Writes shard-000000.tar … of about `bytes_each`; returns the samples."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    pool = rng.randbytes(32 << 20)
    total = 0
    for shard in range(count):
        with tarfile.open(directory / f"shard-{shard:06d}.tar", "w") as tar:
            written = 0
            while written < bytes_each:
                size = rng.randrange(*IMAGE_BYTES)
                at = rng.randrange(len(pool) - size)
                image = total.to_bytes(8, "big") + pool[at:at + size - 8]
                meta = json.dumps({"id": total, "sha256": hashlib.sha256(image).hexdigest()})
                for name, data in (("jpg", image), ("json", meta.encode())):
                    info = tarfile.TarInfo(f"{total:08d}.{name}")
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
                    written += 512 + -(-len(data) // 512) * 512
                total += 1
    return total


def pattern(count):
    return f"shard-{{000000..{count - 1:06d}}}.tar"


def upload(client, directory, bucket, prefix="", parallel=2):
    """Every file below `directory`, as prefix + its relative path."""
    import concurrent.futures
    directory = pathlib.Path(directory)
    files = sorted(path for path in directory.rglob("*") if path.is_file())

    def one(path):
        with open(path, "rb") as file:
            client.put_object(Bucket=bucket, Key=prefix + str(path.relative_to(directory)),
                              Body=file)

    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        list(pool.map(one, files))
    return len(files)
