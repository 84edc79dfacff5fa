"""Mutations of real files that keep enough of their structure to get past the head."""

from __future__ import annotations

import re
import struct
from random import Random

NUMBERS = (
    b"nan", b"-inf", b"1e308", b"-1e-320", b"0", b"-1", b"3.4e38", b"1e", b"1.2.3", b"--2", b"",
    b"4294967296", b"99999999999999999999", b"0x10", b"1_0", b"1,5", b"\xc2\xb2", b"e5", b"010",
)  # fmt: skip
_NUMBER = re.compile(rb"-?\d+\.?\d*(?:[eE][-+]?\d+)?")


def change_number(content: bytes, random: Random) -> bytes:
    """Put another number, or nearly one, in the place of a number."""
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    match = random.choice(found)
    new = random.choice((*NUMBERS, str(random.uniform(-1e4, 1e4)).encode()))
    return content[: match.start()] + new + content[match.end() :]


def change_lines(content: bytes, random: Random) -> bytes:
    """Delete, double, swap or cut a line."""
    lines = content.split(b"\n")
    index, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(5):
        case 0:
            del lines[index]
        case 1:
            lines.insert(other, lines[index])
        case 2:
            lines[index], lines[other] = lines[other], lines[index]
        case 3:
            lines[index] = lines[index][: random.randrange(len(lines[index]) + 1)]
        case 4:
            lines[index] += b" " + lines[other]
    return b"\n".join(lines)


def change_cells(content: bytes, random: Random) -> bytes:
    """Delete, double or exchange an entry of a line."""
    lines = content.split(b"\n")
    index = random.randrange(len(lines))
    mark = b"," if b"," in lines[index] else b" "
    cells = lines[index].split(mark)
    cell = random.randrange(len(cells))
    match random.randrange(3):
        case 0:
            del cells[cell]
        case 1:
            cells.insert(cell, cells[cell])
        case 2:
            cells[cell] = random.choice(
                (b"x", b'"', b"#", b"\xff", b"\0", b"- ", b"{", b": ", b"&a")
            )
    lines[index] = mark.join(cells)
    return b"\n".join(lines)


def change_bytes(content: bytes, random: Random) -> bytes:
    """Flip a bit, or overwrite, insert or remove a few bytes."""
    if not content:
        return b"\0"
    index, length = random.randrange(len(content)), random.choice((1, 1, 2, 4, 8, 50))
    match random.randrange(4):
        case 0:
            flipped = content[index] ^ (1 << random.randrange(8))
            return content[:index] + bytes([flipped]) + content[index + 1 :]
        case 1:
            return content[:index] + random.randbytes(length) + content[index + length :]
        case 2:
            return content[:index] + random.randbytes(length) + content[index:]
    return content[:index] + content[index + length :]


def change_word(content: bytes, random: Random) -> bytes:
    """Overwrite four aligned bytes with a number that is at a limit."""
    value = random.choice(
        (
            struct.pack("<f", random.choice((float("nan"), float("inf"), 3e38, -1e-45, 0.0))),
            struct.pack("<i", random.choice((-1, 0, 3, 2**31 - 1, -(2**31)))),
            struct.pack(">I", random.choice((3, 4, 2**32 - 1, 1000))),
        )
    )
    index = 4 * random.randrange(1 + len(content) // 4)
    return content[:index] + value + content[index + 4 :]


def cut(content: bytes, random: Random) -> bytes:
    """Cut the end off."""
    return content[: random.randrange(len(content) + 1)]


def end_lines_otherwise(content: bytes, random: Random) -> bytes:
    """Line ends of other systems, or a byte order mark."""
    change = random.choice(((b"\n", b"\r\n"), (b"\n", b"\r"), (b"", b"\xef\xbb\xbf")))
    return content.replace(*change) if change[0] else change[1] + content


TEXT = (
    change_number, change_number, change_number, change_lines, change_cells, change_bytes, cut,
    end_lines_otherwise,
)  # fmt: skip
BINARY = (change_bytes, change_bytes, change_word, change_word, cut)


def mutated(content: bytes, random: Random) -> bytes:
    """One to four mutations; binary content keeps its head in most of them."""
    text = b"\0" not in content[:2000]
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        mutation = random.choice(TEXT if text else BINARY)
        if text:
            content = mutation(content, random)
        else:
            head = random.choice((0, 84, 84, 400))
            if mutation in (cut, change_bytes) and random.random() < 0.5:
                mutation = change_word
            content = content[:head] + mutation(content[head:], random)
    return content
