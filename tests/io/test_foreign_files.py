"""Files that are not what their names say: pipes, pointers to files, pages, documents, archives."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from kneewear.base.content import read_content
from kneewear.base.files import read_settings_file
from kneewear.io.curves import read_table
from kneewear.io.pose_files import read_matrix_poses, read_tracked_poses
from kneewear.io.shapes import load_shape
from kneewear.io.text_tables import TextTable
from kneewear.knees.osim import read_osim
from tests.refusals import refusal, refused_at

READERS = {
    "a.stl": load_shape,
    "a.obj": load_shape,
    "a.ply": load_shape,
    "a.vtp": load_shape,
    "a.step": load_shape,
    "a.iges": load_shape,
    "a.xyz": load_shape,
    "a.csv": read_table,
    "a.sto": read_table,
    "a.txt": read_table,
    "a.tra": read_matrix_poses,
    "a.jts": read_tracked_poses,
    "a.osim": read_osim,
    "a.yaml": read_settings_file,
    "table.csv": lambda path: TextTable.read(path, "a table"),
}
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:26d0f95e\nsize 381284\n"
FOREIGN = {
    "Git LFS": [
        b"\xef\xbb\xbf" + LFS,
        b"\n" + LFS,
        LFS,
        LFS.replace(b"\n", b"\r\n"),
        b"version http://git-media.io/v/2\noid a\n",
    ],
    "git-annex": [b"/annex/objects/SHA256E-s1--a.stl\n", b"../.git/annex/objects/x/y/SHA256E-s1"],
    "DVC": [b"outs:\n- md5: a304afb96060aad90176268345e10355\n  size: 14445097\n"],
    "link": [b"../real/insert.stl", b"gait v2.csv\n", b"link C:\\data\\leg.osim"],
    "HTML": [
        "<html><body>Sign in</body></html>".encode("utf-16"),
        b"<!DOCTYPE html>\n<html><body>Sign in</body></html>",
        b"\xef\xbb\xbf\r\n<!-- saved from url=(0022) -->\r\n<HTML xmlns:x='urn:schemas'>",
        b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0'>\n<html/>",
        b"<table><tr><td>1</td></tr></table>",
    ],
    "server": [
        b"404: Not Found",
        b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>",
        b'{\n "message": "Not Found"}',
    ],
    "Parquet": [b"PAR1\x15\x04", b"ARROW1\0\0"],
    "SQLite": [b"SQLite format 3\0" + bytes(90)],
    "Python": [b"\x93NUMPY\x01\0v\0{'descr'", b"\x80\x04\x95\x10\0\0\0\0\0\0\0"],
    "glTF": [b"glTF\x02\0\0\0" + bytes(90), b"#usda 1.0\n", b"OFF\n# a\n3 1 0\n0 0 0\n"],
    "AMF": [b'<?xml version="1.0"?>\n<amf unit="millimeter"></amf>'],
    "DXF": [b"  0\r\nSECTION\r\n  2\r\nHEADER\r\n"],
    "JT": [b"Version 9.5 JT  DM 6.4" + bytes(90)],
    "finite elements": [b"/PREP7\nN,1\n", b"*HEADING\n*NODE\n", b"$MeshFormat\n2.2 0 8\n"],
    "OBJ": [b"# Blender\nnewmtl a\nKd 1 1 1\n"],
    "zip": [b"PK\x03\x04\x14\0\0\0\x08\0mesh.stl", b"PK\x05\x06" + bytes(18)],
    "compressed": [b"\x1f\x8b\x08\0abc", b"7z\xbc\xaf\x27\x1c\0", b"BZh91AY"],
    "Excel 97": [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)],
    "PDF": [b"%PDF-1.7\n"],
    "rich text": [b"{\\rtf1\\ansi 1 2 3}"],
    "picture": [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"],
    "macOS": [b"\0\x05\x16\x07\0\x02\0\0Mac OS X"],
    "shortcut": [b"\x4c\0\0\0\x01\x14\x02\0abc", b"[InternetShortcut]\r\nURL=https://x\r\n"],
    "MATLAB": [
        b"MATLAB 7.3 MAT-file, Platform: PCWIN64",
        b"MATLAB 5.0 MAT-file, Platform: GLNXA64",
    ],
    "HDF5": [b"\x89HDF\r\n\x1a\n", b"CDF\x01abc"],
    "C3D": [b"\x02P\x1c\0" + bytes(508)],
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_files_are_named_by_every_reader(tmp_path, name, kind):
    path = tmp_path / name
    for content in FOREIGN[kind]:
        path.write_bytes(content)
        found = refusal(READERS[name], path)
        assert kind in found.found
        assert Path(found.where).name == name


def test_a_workbook_is_none_of_the_archives(tmp_path):
    path = tmp_path / "gait.csv"
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
        book.writestr("xl/workbook.xml", "<workbook/>")
    assert "Excel" in refusal(read_table, path).found
    path.write_text('<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook/>')
    assert "Excel" in refusal(read_table, path).found


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_versions_that_git_could_not_merge_are_refused_at_their_line(tmp_path, name, end):
    path = tmp_path / name
    lines = ["a,b", "1,2", "<<<<<<< HEAD", "3,4", "=======", "5,6", ">>>>>>> other", "7,8", ""]
    path.write_bytes(end.join(lines).encode())
    assert refused_at(READERS[name], path) == f"{name}, line 3"
    # Such lines in another order are no merge.
    path.write_bytes(end.join(["x", *lines[4::-1], ""]).encode())
    assert refused_at(READERS[name], path) != f"{name}, line 4"


def test_a_download_that_did_not_end_is_no_shape(tmp_path):
    for ending, other in (("stl.part", "stl.old"), ("step.crdownload", "step.bak")):
        remedies = [refusal(load_shape, tmp_path / f"a.{end}").remedy for end in (ending, other)]
        assert remedies[0] != remedies[1]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("part.stl", b"ISO-10303-21;\nHEADER;\n", "STEP"),
        ("part.stl", b"ply\nformat ascii 1.0\n", "PLY"),
        ("part.vtp", b"# vtk DataFile Version 3.0\n", "VTK"),
        ("part.step", b"**ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklm", "Parasolid"),
    ],
)
def test_shapes_of_another_ending_are_named(tmp_path, name, content, kind):
    (tmp_path / name).write_bytes(content)
    assert kind in refusal(load_shape, tmp_path / name).found


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("how", ["pipe", "device", "folder", "none", "dangling"])
def test_what_is_no_regular_file_is_refused_unread(tmp_path, name, how):
    path = tmp_path / name
    if how == "pipe":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    elif how != "none":
        path.symlink_to("/dev/zero" if how == "device" else tmp_path / "nothing")
    found = refusal(READERS[name], path)
    assert Path(found.where).name == name


def test_other_content_that_only_mentions_them_is_read(tmp_path):
    path = tmp_path / "a.csv"
    for text in (
        "# from https://git-lfs.github.com/spec/v1\nx\n1\n",
        "PK,x\n1,2\n",
        "message\n1\n",
        "bm,ii\n1,2\n",
    ):
        path.write_text(text)
        assert read_content(path, "a table", 1000, "") == text.encode()
