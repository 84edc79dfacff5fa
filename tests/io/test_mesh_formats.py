"""Meshes are read as an independent reader reads them, or refused with the line."""

from __future__ import annotations

import base64
import io
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from kneewear.errors import InputDataError
from kneewear.io.shapes import load_shape
from tests.refusals import refused_at

CHECKOUT = Path(__file__).parent.parent.parent
EXAMPLE = CHECKOUT / "config" / "example_meshes" / "insert.stl"
DATA = Path(os.environ.get("KNEEWEAR_DATA") or CHECKOUT / "../shared/data")
REAL = sorted(DATA.glob("*/*.stl"))

TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
TETRAHEDRON = np.array([[0.0, 0, 0], [30, 0, 0], [0, 40.5, 0], [0, 0, -50]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


def corners(mesh):
    """Triangles as positions, each turned to start at its least corner; sorted."""
    triangles = mesh.vertices[mesh.faces]
    first = [min(range(3), key=lambda k: tuple(triangle[k])) for triangle in triangles]
    turned = [np.roll(t, -k, axis=0).ravel() for t, k in zip(triangles, first, strict=True)]
    return np.array(sorted(map(tuple, turned)))


def assert_tetrahedron(mesh, tolerance=1e-5):
    from kneewear.geometry.meshes import TriangleMesh

    exact = corners(TriangleMesh(TETRAHEDRON, FACES))
    np.testing.assert_allclose(corners(mesh), exact, atol=tolerance)


@pytest.mark.parametrize("name", ["a.stl", "a.ply", "a.obj"])
@pytest.mark.parametrize("encoding", ["binary", "ascii"])
def test_files_of_another_program_are_read(tmp_path, name, encoding):
    trimesh = pytest.importorskip("trimesh")
    body = trimesh.Trimesh(TETRAHEDRON, FACES, process=False)
    options = {
        ("a.stl", "ascii"): {"file_type": "stl_ascii"},
        ("a.ply", "ascii"): {"encoding": "ascii"},
    }
    body.export(tmp_path / name, **options.get((name, encoding), {}))
    assert_tetrahedron(load_shape(tmp_path / name))


@pytest.mark.parametrize("path", [EXAMPLE, *REAL], ids=lambda path: path.stem)
def test_real_meshes_are_read_as_trimesh_reads_them(path, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    theirs = trimesh.load(io.BytesIO(path.read_bytes()), file_type="stl", process=False)
    mine = load_shape(path)
    assert len(mine.faces) <= len(theirs.faces)
    # Corners nearer than single precision are one; triangles that collapse by it are dropped.
    a, b, c = np.round(theirs.triangles / (1e-7 * mine.extent.max())).transpose(1, 0, 2)
    kept = (a != b).any(axis=1) & (b != c).any(axis=1) & (c != a).any(axis=1)
    np.testing.assert_allclose(
        mine.vertices[mine.faces], theirs.triangles[kept], rtol=0, atol=1e-7 * mine.extent.max()
    )


PLY_HEAD = (
    "ply\nformat {} 1.0\ncomment made by hand\nelement vertex 4\nproperty double x\n"
    "property double y\nproperty double z\nproperty uchar red\nelement material 1\n"
    "property float shine\nelement face {}\nproperty uchar group\n"
    "property list uchar int vertex_indices\nend_header\n"
)


def ply_bytes(order, polygons):
    """Binary PLY with colours, another element and polygons of any number of corners."""
    sign = {"little": "<", "big": ">"}[order]
    head = PLY_HEAD.format(f"binary_{order}_endian", len(polygons)).encode()
    body = b"".join(np.array(p, sign + "f8").tobytes() + b"\x07" for p in TETRAHEDRON)
    body += np.array(0.5, sign + "f4").tobytes()
    for polygon in polygons:
        body += bytes([1, len(polygon)]) + np.array(polygon, sign + "i4").tobytes()
    return head + body


@pytest.mark.parametrize("order", ["little", "big"])
def test_ply_of_either_byte_order_with_other_columns(tmp_path, order):
    (tmp_path / "a.ply").write_bytes(ply_bytes(order, FACES.tolist()))
    assert_tetrahedron(load_shape(tmp_path / "a.ply"), 0)


def ply_text(polygons):
    rows = [f"{x} {y} {z} 7" for x, y, z in TETRAHEDRON]
    faces = [" ".join(map(str, [1, len(p), *p])) for p in polygons]
    return PLY_HEAD.format("ascii", len(polygons)) + "\n".join([*rows, "0.5", *faces]) + "\n"


def vtk_polygons(points, polygons, strips=()):
    """Polygons and strips of VTK, with an array of data."""
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData

    data, places = vtkPolyData(), vtkPoints()
    places.SetData(numpy_to_vtk(np.array(points, dtype=float), deep=True))
    data.SetPoints(places)
    for rows, fill in ((polygons, data.SetPolys), (strips, data.SetStrips)):
        cells = vtkCellArray()
        for row in rows:
            cells.InsertNextCell(len(row), [int(n) for n in row])
        fill(cells)
    heights = numpy_to_vtk(np.arange(float(len(points))), deep=True)
    heights.SetName("height")
    data.GetPointData().AddArray(heights)
    return data


def write_vtp(path, data, mode="Ascii"):
    from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

    writer = vtkXMLPolyDataWriter()
    getattr(writer, f"SetDataModeTo{mode}")()
    writer.SetFileName(str(path))
    writer.SetInputData(data)
    writer.Write()
    return path


@pytest.mark.parametrize("mode", ["Ascii", "Binary", "Appended"])
def test_vtp_as_paraview_writes_it(tmp_path, mode):
    path = write_vtp(tmp_path / "a.vtp", vtk_polygons(TETRAHEDRON, FACES), mode)
    assert_tetrahedron(load_shape(path), 0)


def test_polygons_and_strips_of_vtp_are_cut_into_triangles(tmp_path):
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 2, 0], [0, 2, 0]]
    path = write_vtp(tmp_path / "a.vtp", vtk_polygons(points, [[0, 1, 2, 3]], [[3, 2, 5, 4]]))
    mesh = load_shape(path)
    normals = np.cross(*np.diff(mesh.vertices[mesh.faces], axis=1).transpose(1, 0, 2))
    assert normals[:, 2] == pytest.approx([1.0] * 4)


@pytest.mark.parametrize("mode", ["Ascii", "Binary", "Appended"])
@pytest.mark.parametrize("part", [0.2, 0.6, 0.95])
def test_vtp_that_is_cut_off_is_refused(tmp_path, mode, part):
    path = write_vtp(tmp_path / "a.vtp", vtk_polygons(TETRAHEDRON, FACES), mode)
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    with pytest.raises(InputDataError) as caught:
        load_shape(path)
    assert caught.value.finding.where.endswith("a.vtp")


SQUARE = "v 0 0 0\nv 9 0 0\nv 9 9 0\nv 0 9 0\n"


@pytest.mark.parametrize(
    "text",
    [
        SQUARE + "f 1 2 3 4\n",
        SQUARE + "f -4 -3 -2 -1\n",
        "mtllib ../../etc/passwd\n# a square\n" + SQUARE + "f 1/1 2/2 3//4 4/1/1 # all\n",
        SQUARE.replace(" 0\n", " 0 1 0.5 0.5\n") + "usemtl x\nf 1 2 \\\n 3 4\n",
    ],
)
def test_polygons_of_obj_are_cut_at_their_first_corner(tmp_path, text):
    (tmp_path / "a.obj").write_text(text)
    mesh = load_shape(tmp_path / "a.obj")
    assert len(mesh.faces) == 2
    assert np.cross(*(np.diff(mesh.vertices[mesh.faces], axis=1).transpose(1, 0, 2)))[
        :, 2
    ] == pytest.approx([81, 81])


@pytest.mark.parametrize("binary", [True, False])
def test_polygons_of_ply_are_cut_at_their_first_corner(tmp_path, binary):
    polygons = [[0, 2, 1], [0, 1, 2, 3]]
    content = ply_bytes("little", polygons) if binary else ply_text(polygons).encode()
    (tmp_path / "a.ply").write_bytes(content)
    mesh = load_shape(tmp_path / "a.ply")
    assert len(mesh.faces) == 3


ASCII = """solid part
 facet normal 0 0 1
  outer loop
   vertex 0 0 0
   vertex 9 0 0
   vertex 0 9 0
  endloop
 endfacet
endsolid part
"""


def test_ascii_stl_with_several_solids_capitals_and_windows_line_ends(tmp_path):
    text = (ASCII + ASCII.replace(" 0\n", " 5\n").upper()).replace("\n", "\r\n")
    (tmp_path / "a.stl").write_bytes(text.encode())
    assert len(load_shape(tmp_path / "a.stl").faces) == 2


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.stl", ASCII.replace("   vertex 9 0 0\n", ""), "a.stl, line 6"),
        ("a.stl", ASCII.replace("9 0 0", "9 0"), "a.stl, line 5"),
        ("a.stl", ASCII.replace("9 0 0", "9 0 0 0"), "a.stl, line 5"),
        ("a.stl", ASCII.replace("9 0 0", "9 0 inf"), "a.stl, line 5"),
        ("a.stl", ASCII.replace("endsolid part\n", ""), "a.stl"),
        ("a.stl", ASCII[:87], "a.stl, line 6"),
        ("a.obj", SQUARE + "f 1 2 7\n", "a.obj, triangle 1"),
        ("a.obj", SQUARE + "f 0 1 2\n", "a.obj, line 5"),
        ("a.obj", SQUARE + "f -9 1 2\n", "a.obj, line 5"),
        ("a.obj", SQUARE + "f 1 2\n", "a.obj, line 5"),
        ("a.obj", SQUARE.replace("v 9 0 0", "v 9 0"), "a.obj, line 2"),
        ("a.obj", "bspline\n" + SQUARE, "a.obj, line 1"),
        ("a.obj", SQUARE, "a.obj"),
        ("a.ply", "ply\nformat ascii 1.0\n", "a.ply"),
        ("a.ply", "ply\nformat ascii 2.0\nend_header\n", "a.ply"),
        ("a.ply", "ply\nelement vertex 1\nend_header\n", "a.ply"),
        ("a.ply", ply_text(FACES).replace("property double z\n", ""), "a.ply"),
        ("a.ply", ply_text(FACES).replace("1 3 0 2 1\n", "1 3 0 2\n"), "a.ply"),
        ("a.ply", ply_text(FACES).replace("1 3 0 2 1\n", "1 3 0 2 9\n"), "a.ply, triangle 1"),
        (
            "a.ply",
            ply_text(FACES).replace("element face 4", "element face 5"),
            "a.ply",
        ),
        ("a.ply", ply_text([[0, 1]]), "a.ply"),
    ],
)
def test_bad_lines_are_named(tmp_path, name, content, place):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputDataError) as caught:
        load_shape(path)
    assert caught.value.finding.where.endswith(place)
    assert str(path) in str(caught.value)


def commented(name):
    """The tetrahedron with comments, colours and elements without rows."""
    if name == "a.stl":
        facet = "facet normal 0 0 0\nouter loop\n# corner\n{}\nendloop\nendfacet\n"
        rows = ["\n".join("vertex {} {} {}".format(*TETRAHEDRON[n]) for n in f) for f in FACES]
        return "; by hand\nsolid part\n" + "".join(map(facet.format, rows)) + "endsolid\n"
    if name == "a.obj":
        rows = ["v {} {} {} 0.1 0.2 0.3".format(*p) for p in TETRAHEDRON]
        rows += ["vn 0 0 1", *("f {}//1 {}//1 {}//1 # face".format(*(f + 1)) for f in FACES)]
        return "# by hand\n" + "\n".join(rows) + "\n"
    text = ply_text(FACES.tolist()).replace("end_header\n", "end_header\n# rows\n")
    empty = "\nelement tristrips 0\nproperty list int int vertex_indices\nend_header"
    return text.replace("\nend_header", empty)


@pytest.mark.parametrize("name", ["a.stl", "a.obj", "a.ply"])
def test_comments_colours_and_empty_elements_do_not_stop_a_file(tmp_path, name):
    (tmp_path / name).write_text(commented(name))
    assert_tetrahedron(load_shape(tmp_path / name), 1e-9)


def test_a_line_end_after_the_triangles_of_binary_stl_does_not_stop_a_file(tmp_path):
    facets = np.zeros(len(FACES), TRIANGLE)
    facets["corners"] = TETRAHEDRON[FACES]
    head = b"solid part".ljust(80) + len(FACES).to_bytes(4, "little")
    (tmp_path / "a.stl").write_bytes(head + facets.tobytes() + b"\r\n")
    assert_tetrahedron(load_shape(tmp_path / "a.stl"))


def promises(count):
    """Heads that announce rows without end."""
    ply = ply_bytes("little", [[0, 1, 2]])
    return {
        "a.stl": b"x" * 80 + (2**32 - 1).to_bytes(4, "little") + b"y" * 500,
        "b.ply": ply.replace(b"element vertex 4", b"element vertex %d" % count),
        "c.ply": ply.replace(b"element face 1", b"element face %d" % count),
        "d.ply": ply.replace(
            b"element material 1\nproperty float shine", b"element m %d" % count
        ).replace(b"element face 1", b"element face %d" % count),
        "e.ply": ply_text([[0, 1, 2]]).replace("vertex 4", f"vertex {count}").encode(),
        "f.ply": ply_text([[0, 1, 2]]).replace("1 3 0", f"1 {count} 0").encode(),
        "g.vtp": b'<VTKFile type="PolyData"><PolyData><Piece NumberOfPoints="%d"/>' % count,
    }


@pytest.mark.parametrize("name", promises(1))
@pytest.mark.parametrize("count", [10**6, 10**17])
def test_memory_is_bounded_by_the_file_and_not_by_its_promises(tmp_path, name, count):
    path = tmp_path / name
    path.write_bytes(promises(count)[name])
    tracemalloc.start()
    with pytest.raises(InputDataError):
        load_shape(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e6


VTP = """<?xml version="1.0"?>{comment}<VTKFile type="PolyData" version="0.1"{more}><PolyData>
<Piece {counts} NumberOfPolys="1"><Points><DataArray type="Float64" NumberOfComponents="3"
 format="{form}">{points}</DataArray></Points><Polys>
<DataArray type="Int64" Name="connectivity" format="ascii">0 1 2</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">3</DataArray></Polys></Piece></PolyData>
</VTKFile>"""
COMPRESSED = ' byte_order="LittleEndian" header_type="UInt64" compressor="vtkZLibDataCompressor"'


def vtp(counts, comment="", points="0 " * 1_400_000, form="ascii", more=""):
    return VTP.format(counts=counts, comment=comment, points=points, form=form, more=more)


def header(*numbers):
    return base64.b64encode(np.array(numbers, dtype="<u8").tobytes()).decode()


# Of about 3 MB, with counts of gigabytes where VTK finds them.
COUNTS = {
    "behind a comment": vtp('NumberOfPoints="300000000"', f"<!--{'x' * 120_000}-->"),
    "in other quotes": vtp("NumberOfPoints = '300000000'"),
    "as an entity": vtp('NumberOfPoints="&#51;00000000"'),
    "of points in verts": vtp('NumberOfPoints="3" NumberOfVerts="900000000"'),
    "of another piece": vtp(
        'NumberOfPoints="300000000" NumberOfPolys="0"/><Piece NumberOfPoints="3"'
    ),
    "of blocks": vtp('NumberOfPoints="3"', "", header(10**9, 1, 1), "binary", COMPRESSED),
    "beyond the machine": vtp('NumberOfPoints="3"', "", header(10**15, 1, 1), "binary", COMPRESSED),
}
MEASURED = """
import resource, sys
from kneewear.errors import InputDataError
from kneewear.io.shapes import load_shape
try:
    load_shape(sys.argv[1])
except InputDataError:
    pass
whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
print(max(resource.getrusage(who).ru_maxrss for who in whose))
"""


@pytest.mark.parametrize("where", COUNTS)
def test_memory_of_vtk_is_bounded_by_the_file(tmp_path, where):
    path = tmp_path / "bone.vtp"
    path.write_text(COUNTS[where])
    words = [sys.executable, "-c", MEASURED, str(path)]
    peak = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert peak < 1_200_000  # kB: 500 MB, 100 bytes for each of the file's, and the library


def test_a_head_of_ply_is_searched_in_the_whole_file(tmp_path):
    text = ply_text([[0, 1, 2]])
    comment = "comment " + "x" * 150_000
    (tmp_path / "a.ply").write_text(text.replace("comment made by hand", comment))
    assert len(load_shape(tmp_path / "a.ply").faces) == 1
    count = 10**9
    long = text.replace("comment made by hand", comment).replace("vertex 4", f"vertex {count}")
    (tmp_path / "b.ply").write_text(long)
    assert refused_at(load_shape, tmp_path / "b.ply") == "b.ply"


# A polygon whose last corner lies beyond an end of an edge, and a concave one.
POINTS = [[0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0], [0, 4.1, 0], [2, 1, 0]]
POLYGONS = {
    "square": [0, 1, 2, 3],
    "last corner beyond an edge": [0, 1, 2, 3, 4],
    "no convex corner": [1, 5, 3, 0],
    "a corner twice": [0, 1, 2, 3, 3],
}


@pytest.mark.parametrize("name", POLYGONS)
def test_a_polygon_is_as_many_triangles_in_vtp_as_in_obj(tmp_path, name):
    polygon = POLYGONS[name]
    write_vtp(tmp_path / "a.vtp", vtk_polygons(POINTS, [polygon, [0, 1, 2]]))
    rows = [f"v {x} {y} {z}" for x, y, z in POINTS]
    corners = " ".join(str(n + 1) for n in polygon)
    (tmp_path / "a.obj").write_text("\n".join([*rows, f"f {corners}", "f 1 2 3"]))
    vtp, obj = load_shape(tmp_path / "a.vtp"), load_shape(tmp_path / "a.obj")
    np.testing.assert_array_equal(vtp.vertices[vtp.faces], obj.vertices[obj.faces])


def test_no_other_file_is_opened(tmp_path, monkeypatch):
    (tmp_path / "secret.mtl").write_text("newmtl x\nmap_Kd picture.png\n")
    (tmp_path / "a.obj").write_text("mtllib secret.mtl\n" + SQUARE + "f 1 2 3\n")
    text = ply_text(FACES.tolist())
    (tmp_path / "a.ply").write_text(text.replace("made by hand", "TextureFile secret.mtl"))
    opened = []
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: opened.append(path.name) or read(path))
    monkeypatch.setattr("builtins.open", lambda *_: pytest.fail("another file is opened"))
    for name in ("a.obj", "a.ply"):
        load_shape(tmp_path / name)
    assert opened == ["a.obj", "a.ply"]


def test_mesh_of_too_many_triangles_is_refused_before_it_takes_memory(tmp_path):
    count = 1_200_000
    head = bytes(80) + np.uint32(count).tobytes()
    (tmp_path / "scan.stl").write_bytes(head + bytes(50 * count))
    tracemalloc.start()
    with pytest.raises(InputDataError) as found:
        load_shape(tmp_path / "scan.stl")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.value.finding.check == "geometry.mesh_triangles"
    # Bytes per triangle; checking one takes about a thousand.
    assert peak / count < 400


def test_strips_of_triangles_are_the_triangles_that_they_stand_for(tmp_path):
    head = "ply\nformat ascii 1.0\nelement vertex 5\n" + "".join(
        f"property float {axis}\n" for axis in "xyz"
    )
    points = "0 0 0\n0 1 0\n1 0 0\n1 1 0\n2 0 0\n"
    strips = "element tristrips 1\nproperty list int int vertex_indices\nend_header\n"
    path = tmp_path / "strips.ply"
    path.write_text(head + strips + points + "8 0 1 2 3 -1 2 3 4\n")
    mesh = load_shape(path)
    triangles = mesh.vertices[mesh.faces][..., :2].tolist()
    assert triangles == [
        [[0, 0], [0, 1], [1, 0]],
        [[1, 0], [0, 1], [1, 1]],
        [[1, 0], [1, 1], [2, 0]],
    ]


def test_vertices_a_step_of_single_precision_apart_are_one(tmp_path):
    corners = np.frombuffer(EXAMPLE.read_bytes(), TRIANGLE, offset=84)["corners"]
    generator = np.random.default_rng(1)
    triangles = np.zeros(len(corners), TRIANGLE)
    triangles["corners"] = np.nextafter(corners, generator.choice([-1e9, 1e9], corners.shape))
    path = tmp_path / "seams.stl"
    path.write_bytes(b" " * 80 + np.uint32(len(corners)).tobytes() + triangles.tobytes())
    known, found = load_shape(EXAMPLE), load_shape(path)
    assert (len(found.vertices), len(found.faces)) == (len(known.vertices), len(known.faces))


@pytest.mark.parametrize("ending", [".stl", ".obj", ".ply", ".vtp"])
def test_decimal_commas_are_named_and_no_damage_is_claimed(tmp_path, ending):
    """Programs of some languages write them; the file is whole."""
    path = write_vtp(tmp_path / f"a{ending}", vtk_polygons(TETRAHEDRON, FACES))
    rows = [f"v {x} {y} {z}" for x, y, z in TETRAHEDRON]
    rows += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES]
    texts = {
        ".stl": ASCII.replace("9 0 0", "0.0 40.5 0.0"),
        ".obj": "\n".join(rows),
        ".ply": ply_text(FACES),
        ".vtp": path.read_text(),
    }
    path.write_text(texts[ending])
    load_shape(path)
    path.write_text(texts[ending].replace("40.5", "40,5"))
    with pytest.raises(InputDataError) as caught:
        load_shape(path)
    assert "40,5" in caught.value.finding.found
