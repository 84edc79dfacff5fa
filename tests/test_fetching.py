"""Downloads of public data, from a server on this machine."""

from __future__ import annotations

import hashlib
import socket
import threading
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pandas as pd
import pytest

from kneewear.errors import InputDataError
from kneewear.runs import download as fetching
from tests.refusals import refusal

CONTENT = {"a folder/one part.stl": b"solid " * 40_000, "two.csv": b"x,y\n1,2\n"}


def listed_file(file, path, content):
    digest = hashlib.sha256(content).hexdigest()
    return fetching.DataFile(file, "0" * 40, path, digest, max(len(content), 1000))


class Handler(SimpleHTTPRequestHandler):
    """Files of a folder, in parts where they are asked for; requests are noted."""

    asked: ClassVar[list[tuple[str, str]]] = []

    def do_GET(self):
        begun = self.headers.get("Range", "")
        self.asked.append((self.path, begun))
        if not begun:
            super().do_GET()
            return
        path = self.translate_path(self.path)
        with open(path, "rb") as file:
            rest = file.read()[int(begun[6:-1]) :]
        self.send_response(206)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)

    def log_message(self, *_):
        """No output."""


@pytest.fixture
def server(tmp_path, monkeypatch):
    served = tmp_path / "served"
    for name, content in CONTENT.items():
        (served / name).parent.mkdir(parents=True, exist_ok=True)
        (served / name).write_bytes(content)
    listed = [
        listed_file(f"set/{n}.bin", name, content)
        for n, (name, content) in enumerate(CONTENT.items())
    ]
    monkeypatch.setattr(fetching, "data_files", lambda: listed)
    monkeypatch.setattr(fetching, "SOURCES", ())
    Handler.asked = []
    running = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(served)))
    thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_address[1]}", served
    running.shutdown()
    running.server_close()
    thread.join()


def test_files_are_downloaded_once(server, tmp_path):
    address, _ = server
    data = tmp_path / "data"
    fetching.fetch_data(data, [address])
    assert [file.read_bytes() for file in sorted((data / "set").iterdir())] == [*CONTENT.values()]
    count = len(Handler.asked)
    fetching.fetch_data(data, [address])
    assert len(Handler.asked) == count == 2


def test_a_download_that_broke_off_goes_on(server, tmp_path):
    address, _ = server
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "0.bin.part").write_bytes(next(iter(CONTENT.values()))[:100_000])
    fetching.fetch_data(tmp_path, [address])
    assert Handler.asked[0][1] == "bytes=100000-"
    assert (tmp_path / "set" / "0.bin").read_bytes() == next(iter(CONTENT.values()))
    assert not list((tmp_path / "set").glob("*.part"))


def test_changed_files_and_a_missing_network_are_refused(server, tmp_path):
    address, served = server
    (served / "two.csv").write_bytes(b"changed")
    with pytest.raises(InputDataError) as raised:
        fetching.fetch_data(tmp_path, [address])
    assert raised.value.finding.check == "fetch.digest"
    assert not (tmp_path / "set" / "1.bin").exists()
    assert not list((tmp_path / "set").glob("*.part"))
    found = refusal(fetching.fetch_data, tmp_path / "other", ["http://127.0.0.1:9"])
    assert found.check == "fetch.offline"


# First and last rows of the published motion, with names of angles that are not what they hold.
PUBLISHED = """DataType=double
version=3
OpenSimVersion=4.3.1
endheader
time\tknee_ant_r\tknee_sup_r\tknee_lat_r\tknee_flex_r\tknee_add_r\tknee_rot_r
0\t-0.0074\t0.0417\t-0.001\t0.0063\t0.0037\t-0.09429999999999999
100\t-0.0078\t0.0418\t-0.0008\t0.0105\t0.0005\t-0.093
"""


def test_the_published_motion_becomes_a_table_of_curves(server, tmp_path, monkeypatch):
    address, served = server
    (served / "motion.sto").write_bytes(PUBLISHED.replace("\n", "\r\n").encode())
    listed = [listed_file("gc_dm/fluoroscopic_gait.sto", "motion.sto", PUBLISHED.encode())]
    monkeypatch.setattr(fetching, "data_files", lambda: listed)
    fetching.fetch_data(tmp_path, [address])
    table = pd.read_csv(tmp_path / "gc_dm/fluoro_gait_dm.csv")
    assert table.iloc[0].tolist() == [0, 5.40299, 0.36096, 0.21199, 7.4, 41.7, 1.0]
    assert table["percent_gait_cycle"].tolist() == [0, 100]
    (tmp_path / "gc_dm/fluoro_gait_dm.csv").write_text("mine")
    fetching.fetch_data(tmp_path, [address])
    assert (tmp_path / "gc_dm/fluoro_gait_dm.csv").read_text() == "mine"


FIRST = next(iter(CONTENT.values()))


@contextmanager
def odd_server(speak):
    """A server that says something else than HTTP to whoever connects; yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    try:
                        connection.recv(9999)
                        speak(connection.sendall)
                    except OSError:
                        continue

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def endless(head):
    def speak(send):
        send(head)
        while True:
            send(bytes(65536))

    return speak


def slow(head, byte):
    def speak(send):
        send(head)
        while True:
            send(byte)
            time.sleep(0.05)

    return speak


OK = b"HTTP/1.1 200 OK\r\n"
ODD = {
    "speaks SSH": lambda send: send(b"SSH-2.0-x\r\n"),
    "says nothing": lambda send: None,
    "breaks a chunk": lambda send: send(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab"),
    "no size of a chunk": lambda send: send(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "long header": lambda send: send(OK + b"X: " + b"x" * 70_000 + b"\r\n\r\n"),
    "many headers": lambda send: send(OK + b"X: x\r\n" * 200 + b"\r\n"),
    "ends early": lambda send: send(OK + b"Content-Length: 200000\r\n\r\nab"),
    "another file": lambda send: send(OK + b"Content-Length: 2\r\n\r\nab"),
    "empty file": lambda send: send(OK + b"Content-Length: 0\r\n\r\n"),
    "login page": lambda send: send(OK + b"Content-Type: text/html\r\n\r\n<!doctype html>"),
    "in circles": lambda send: send(b"HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n"),
    "elsewhere": lambda send: send(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/x\r\n\r\n"),
    "no code": lambda send: send(b"HTTP/1.1 abc\r\n\r\n"),
    "endless": endless(OK + b"\r\n"),
    "endless, announced small": endless(OK + b"Transfer-Encoding: chunked\r\n\r\nfffffff\r\n"),
    "endless head": endless(OK + b"X: "),
    "a byte now and then": slow(OK + b"\r\n", b"x"),
    "a byte of the head now and then": slow(b"", b"H"),
}


@pytest.mark.parametrize("how", ODD)
@pytest.mark.slow
def test_after_an_odd_server_the_next_address_is_tried(server, tmp_path, monkeypatch, how):
    address, _ = server
    monkeypatch.setattr(fetching.DataFile, "longest", 1.0)
    monkeypatch.setattr(fetching, "data_files", lambda: [listed_file("0.bin", *first_content())])
    with odd_server(ODD[how]) as odd:
        fetching.fetch_data(tmp_path / "data", [odd, address])
        assert (tmp_path / "data" / "0.bin").read_bytes() == FIRST
        # Without another address the fault is a message, and no more than the file is left.
        found = refusal(fetching.fetch_data, tmp_path / "alone", [odd])
    is_another = how in ("another file", "empty file", "login page")
    assert found.check == ("fetch.digest" if is_another else "fetch.offline")
    assert sum(file.stat().st_size for file in (tmp_path / "alone").iterdir()) <= len(FIRST)


def first_content():
    return next(iter(CONTENT.items()))


@pytest.mark.parametrize(
    "mirror", ["http://127.0.0.1:9/a b", "http://[::1", "nowhere", "http://\u00e4.invalid", "x://y"]
)
def test_an_address_that_is_none_is_a_message(server, tmp_path, mirror):
    address, _ = server
    assert refusal(fetching.fetch_data, tmp_path / "alone", [mirror]).check == "fetch.offline"
    fetching.fetch_data(tmp_path / "data", [mirror, address])
    assert (tmp_path / "data" / "set" / "0.bin").read_bytes() == FIRST


def test_a_part_of_another_file_is_read_again_from_the_same_server(server, tmp_path):
    address, _ = server
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "0.bin.part").write_bytes(b"other" * 1000)
    fetching.fetch_data(tmp_path, [address])
    assert [begun for _, begun in Handler.asked] == ["bytes=5000-", "", ""]
    assert (tmp_path / "set" / "0.bin").read_bytes() == FIRST


def test_a_full_disk_is_no_fault_of_a_server(server, tmp_path, monkeypatch):
    address, _ = server
    full = tmp_path / "set" / "0.bin.part"
    full.parent.mkdir()
    full.symlink_to("/dev/full")
    with pytest.raises(OSError, match="space"):
        fetching.fetch_data(tmp_path, [address])


def test_all_files_have_a_largest_size():
    assert all(0 < file.max_bytes < 10_000_000 for file in fetching.data_files())
