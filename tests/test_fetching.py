"""Downloads of public data, from a server on this machine."""

from __future__ import annotations

import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pandas as pd
import pytest

from kneewear.errors import InputDataError
from kneewear.runs import download as fetching
from tests.refusals import refusal

CONTENT = {"a folder/one part.stl": b"solid " * 40_000, "two.csv": b"x,y\n1,2\n"}


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
        fetching.DataFile(f"set/{n}.bin", "0" * 40, name, hashlib.sha256(content).hexdigest())
        for n, (name, content) in enumerate(CONTENT.items())
    ]
    monkeypatch.setattr(fetching, "data_files", lambda: listed)
    monkeypatch.setattr(fetching, "SOURCES", ())
    Handler.asked = []
    running = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(served)))
    thread = threading.Thread(target=running.serve_forever, daemon=True)
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
    digest = hashlib.sha256(PUBLISHED.encode()).hexdigest()
    listed = [fetching.DataFile("gc_dm/fluoroscopic_gait.sto", "0" * 40, "motion.sto", digest)]
    monkeypatch.setattr(fetching, "data_files", lambda: listed)
    fetching.fetch_data(tmp_path, [address])
    table = pd.read_csv(tmp_path / "gc_dm/fluoro_gait_dm.csv")
    assert table.iloc[0].tolist() == [0, 5.40299, 0.36096, 0.21199, 7.4, 41.7, 1.0]
    assert table["percent_gait_cycle"].tolist() == [0, 100]
    (tmp_path / "gc_dm/fluoro_gait_dm.csv").write_text("mine")
    fetching.fetch_data(tmp_path, [address])
    assert (tmp_path / "gc_dm/fluoro_gait_dm.csv").read_text() == "mine"
