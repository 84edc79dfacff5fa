"use strict";
(() => {
  const find = (name) => document.getElementById(`frames-${name}`);
  const data = JSON.parse(find("data").textContent);
  // From the middle towards the camera; x is anterior, y superior, z lateral.
  const views = {
    "lateral side": [0, 0, 1], "medial side": [0, 0, -1], front: [1, 0, 0], oblique: [0.7, 0.3, 0.65],
  };
  const colours = data.colours.flatMap((stop, i) => [i / (data.colours.length - 1), ...red_green_blue(stop)]);
  const scaled = (start, now, factor) => now.map((value, i) => start[i] + factor * (value - start[i]));

  function lines(frame, factor) {
    const points = data.rods[frame].flatMap((rod, i) => rod.map((point, j) => scaled(data.rods[0][i][j], point, factor)));
    const pairs = [];
    let first = 0;
    for (const rod of data.rods[frame]) {
      for (let i = 1; i < rod.length; i += 1) pairs.push(first + i - 1, first + i);
      first += rod.length;
    }
    return {
      vertices: { data: new Float32Array(points.flat()), shape: [points.length, 3] },
      indices: { data: new Uint32Array(pairs), shape: [pairs.length / 2, 2] },
    };
  }

  async function start() {
    const box = document.getElementById("frames");
    box.hidden = false;
    const target = find("canvas");
    const plot = new window.viewerLibrary.K3D(window.viewerLibrary.ThreeJsProvider, target, {
      menuVisibility: false, gridVisible: false, cameraAutoFit: false, axesHelper: 0,
      clearColor: 0xffffff, lighting: 1.6, colorbarObjectId: 0,
    });
    const points = await Promise.all(data.points.map(async (text) => new Float32Array(await unpack(text))));
    const stress = await Promise.all(data.stress.map(async (text) => Float32Array.from(new Uint8Array(await unpack(text)))));
    const bones = await mesh(1, { points: data.points[0], triangles: data.triangles }, {
      attribute: { data: stress[0], shape: [stress[0].length] }, color_range: [0, 255],
      color_map: { data: new Float32Array(colours), shape: [data.colours.length, 4] },
    });
    const rods = {
      id: 2, type: "Lines", visible: true, indices_type: "segment", shader: "thick", width: 1.5,
      color: parseInt(data.line_colour.slice(1), 16), opacity: 1, radial_segments: 8,
      model_matrix: bones.model_matrix, colors: { data: new Uint32Array(0) },
      attribute: { data: new Float32Array(0) }, color_map: { data: new Float32Array(0) }, color_range: [],
      slice_planes: [], ...lines(0, 1),
    };
    const hasRods = data.ligaments.length > 0;
    find("rods").closest("label").hidden = !hasRods;
    await plot.load({ objects: hasRods ? [bones, rods] : [bones] });

    function look(name) {
      const away = data.width * Math.max(1, 1.3 * target.clientHeight / target.clientWidth);
      plot.setCamera([
        ...data.middle.map((value, i) => value + 1.6 * away * views[name][i]), ...data.middle, 0, 1, 0,
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
      const factor = Number(find("factor").value);
      const moved = scaled(points[0], points[frame], factor);
      bones.vertices = { data: moved, shape: [moved.length / 3, 3] };
      bones.attribute = { data: stress[frame], shape: [stress[frame].length] };
      await plot.reload(bones, { vertices: bones.vertices, attribute: bones.attribute });
      if (hasRods) {
        rods.visible = find("rods").checked;
        Object.assign(rods, lines(frame, factor));
        await plot.reload(rods, { ...lines(frame, factor), visible: rods.visible });
      }
      plot.render();
      const enlarged = factor > 1 ? `, displacements enlarged ${factor} times` : "";
      find("title").textContent = `Bones and ligaments at ${data.labels[frame]}${enlarged}`;
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
    find("rods").addEventListener("change", show);
    find("factor").addEventListener("change", show);
    box.querySelectorAll("[data-view]").forEach((button) => {
      button.addEventListener("click", () => look(button.dataset.view));
    });
    let timer = 0;
    find("play").addEventListener("click", () => {
      timer = timer ? clearInterval(timer) : setInterval(() => {
        find("frame").value = (Number(find("frame").value) + 1) % data.labels.length;
        show();
      }, 120);
      find("play").textContent = timer ? "Stop" : "Play";
      find("play").setAttribute("aria-pressed", String(Boolean(timer)));
    });
    look("oblique");
    await show();
    find("missing").hidden = true;
  }

  if (hasWebGL() && window.viewerLibrary) {
    start().catch((reason) => {
      document.getElementById("frames").hidden = true;
      find("missing").hidden = false;
      console.error(reason);
    });
  }
})();
