"""Bytes whose place and version show: a wrong offset, a run of zeros or a mix
of two versions differs from what was asked for."""

import functools
import hashlib

PAGE = 4096


@functools.lru_cache(maxsize=64)
def _table(generation):
    """256 pages, each of one byte value that is never zero."""
    order = sorted(
        range(1, 256),
        key=lambda value: hashlib.sha256(f"{generation}/{value}".encode()).digest(),
    )
    return bytes(order)


def byte_at(offset, generation):
    page = offset // PAGE
    table = _table(generation)
    # Two moduli: the run of 255 values does not repeat after 255 pages.
    return table[(page + page // 255) % 255]


def read(offset, length, generation=0):
    """`length` bytes from `offset` of the endless pattern `generation`."""
    parts = []
    end = offset + length
    while offset < end:
        step = min(PAGE - offset % PAGE, end - offset)
        parts.append(bytes([byte_at(offset, generation)]) * step)
        offset += step
    return b"".join(parts)
