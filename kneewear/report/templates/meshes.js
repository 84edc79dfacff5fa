"use strict";
// Parts of three-dimensional views: what is packed by kneewear.report.insert_view, for K3D.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function mesh(id, packed, look) {
  const points = new Float32Array(await unpack(packed.points));
  const triangles = new Uint32Array(await unpack(packed.triangles));
  return {
    id, type: "Mesh", visible: true, side: "double", flat_shading: false, opacity: 1,
    // The library reads all of these, used or not.
    model_matrix: { data: new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]) },
    attribute: { data: new Float32Array(0) }, triangles_attribute: { data: new Float32Array(0) },
    color_map: { data: new Float32Array(0) }, color_range: [], slice_planes: [],
    vertices: { data: points, shape: [points.length / 3, 3] },
    indices: { data: triangles, shape: [triangles.length / 3, 3] },
    ...look,
  };
}

const red_green_blue = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);

function colourMap(scale) {
  // The step 0 is what was never touched; colours begin at step 1.
  const first = 0.7 / scale.steps;
  const rows = [[0, ...red_green_blue(scale.zero)], [first, ...red_green_blue(scale.zero)]];
  scale.stops.forEach((stop, i) => {
    const position = first + 1e-4 + (1 - first - 1e-4) * (i / (scale.stops.length - 1));
    rows.push([position, ...red_green_blue(stop)]);
  });
  return { data: new Float32Array(rows.flat()), shape: [rows.length, 4] };
}

function hasWebGL() {
  try {
    return Boolean(document.createElement("canvas").getContext("webgl2"));
  } catch {
    return false;
  }
}
