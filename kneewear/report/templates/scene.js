"use strict";
(() => {
  const find = (name) => document.getElementById(`scene-${name}`);
  const data = JSON.parse(find("data").textContent);
  // From the middle towards the camera, and up; x is anterior, y superior, z lateral.
  const views = {
    "lateral side": [0, 0, 1], "medial side": [0, 0, -1], front: [1, 0, 0], oblique: [0.7, 0.3, 0.65],
  };
  const flat = (values) => new Float32Array(values.flat(Infinity));

  function pose(frame, body) {
    const [turn, place] = [data.rotation[frame][body], data.translation[frame][body]];
    const rows = turn.map((row, i) => [...row, place[i]]);
    return { data: flat([...rows, [0, 0, 0, 1]]), shape: [4, 4] };
  }

  function lines(frame) {
    const points = data.lines[frame].flat();
    const pairs = [];
    let first = 0;
    for (const line of data.lines[frame]) {
      for (let i = 1; i < line.length; i += 1) pairs.push([first + i - 1, first + i]);
      first += line.length;
    }
    return {
      vertices: { data: flat(points), shape: [points.length, 3] },
      indices: { data: new Uint32Array(pairs.flat()), shape: [pairs.length, 2] },
    };
  }

  async function start() {
    const box = document.getElementById("scene");
    box.hidden = false;
    const target = find("canvas");
    const plot = new window.viewerLibrary.K3D(window.viewerLibrary.ThreeJsProvider, target, {
      menuVisibility: false, gridVisible: false, cameraAutoFit: false, axesHelper: 0,
      clearColor: 0xffffff, lighting: 1.6, colorbarObjectId: 0,
    });
    const empty = { data: new Float32Array(0) };
    const ownColour = (name) => data.colours[data.bodies.filter((one) => data.meshes[one]).indexOf(name) % data.colours.length];
    const shapes = [
      ...Object.entries(data.meshes).map(([name, mesh]) => [name, mesh, ownColour(name), false]),
      ...Object.entries(data.bones).map(([name, mesh]) => [name, mesh, data.bone_colour, true]),
    ];
    const bodies = shapes.map(([name, mesh, colour, isBone], i) => ({
      number: data.bodies.indexOf(name),
      isBone,
      object: {
        id: 1 + i, type: "Mesh", visible: true, side: "double", flat_shading: false, opacity: 1,
        color: parseInt(colour.slice(1), 16),
        model_matrix: pose(0, data.bodies.indexOf(name)), attribute: empty,
        triangles_attribute: empty, color_map: empty, color_range: [], slice_planes: [],
        vertices: { data: flat(mesh.points), shape: [mesh.points.length, 3] },
        indices: { data: new Uint32Array(mesh.triangles.flat()), shape: [mesh.triangles.length, 3] },
      },
    }));
    const bundles = {
      id: 100, type: "Lines", visible: true, indices_type: "segment", shader: "simple", width: 0.3,
      color: parseInt(data.line_colour.slice(1), 16), opacity: 1, radial_segments: 8,
      model_matrix: { data: flat([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), shape: [4, 4] },
      colors: { data: new Uint32Array(0) }, attribute: empty, color_map: empty, color_range: [],
      slice_planes: [], ...lines(0),
    };
    await plot.load({ objects: [...bodies.map((one) => one.object), bundles] });

    const middle = [0, 1, 2].map((axis) => data.middle[axis]);
    function look(name) {
      const away = data.width * Math.max(1, 1.3 * target.clientHeight / target.clientWidth);
      plot.setCamera([
        ...middle.map((value, i) => value + 1.6 * away * views[name][i]), ...middle, 0, 1, 0,
      ]);
      plot.render();
    }

    let [busy, again] = [false, false];
    async function show() {
      if (busy) {
        again = true;
        return;
      }
      busy = true;
      const frame = Number(find("frame").value);
      for (const { number, object, isBone } of bodies) {
        object.model_matrix = pose(frame, number);
        object.visible = !isBone || find("bones").checked;
        await plot.reload(object, { model_matrix: object.model_matrix, visible: object.visible });
      }
      bundles.visible = find("bundles").checked;
      Object.assign(bundles, lines(frame));
      await plot.reload(bundles, { ...lines(frame), visible: bundles.visible });
      plot.render();
      find("title").textContent = `${data.bodies.join(", ")} at ${data.labels[frame]}`;
      find("frame").setAttribute("aria-valuetext", data.labels[frame]);
      box.dataset.shown = `${frame} ${data.labels[frame]}`;
      busy = false;
      if (again) {
        again = false;
        await show();
      }
    }

    find("frame").max = data.labels.length - 1;
    find("frame").addEventListener("input", show);
    for (const name of ["bundles", "bones"]) find(name)?.addEventListener("change", show);
    box.querySelectorAll("[data-view]").forEach((button) => {
      button.addEventListener("click", () => look(button.dataset.view));
    });
    let timer = 0;
    find("play").addEventListener("click", () => {
      timer = timer ? clearInterval(timer) : setInterval(() => {
        find("frame").value = (Number(find("frame").value) + 1) % data.labels.length;
        show();
      }, 80);
      find("play").textContent = timer ? "Stop" : "Play";
      find("play").setAttribute("aria-pressed", String(Boolean(timer)));
    });
    look("lateral side");
    await show();
    find("missing").hidden = true;
  }

  if (hasWebGL() && window.viewerLibrary) {
    start().catch((reason) => {
      document.getElementById("scene").hidden = true;
      find("missing").hidden = false;
      console.error(reason);
    });
  }
})();
