"use strict";
(() => {
  const find = (name) => document.getElementById(`viewer-${name}`);
  const data = JSON.parse(find("data").textContent);
  const names = {
    pressure: ["Contact pressure", "MPa"],
    damage_depth: ["Damage depth (wear and creep)", "mm"],
    wear_depth: ["Wear depth", "mm"],
    creep_depth: ["Creep depth", "mm"],
  };
  // Position, target and upward direction of the camera, in units of the insert's width.
  const views = {
    above: [0, 1.05, 0, -1, 0, 0],
    front: [-0.82, 0.8, 0.2, 0, 1, 0],
    side: [-0.15, 0.55, 0.95, 0, 1, 0],
  };
  delete window.define;

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  }

  // Each array is unpacked when it is first looked at, and kept.
  const unpacked = new Map();
  function steps(map) {
    if (!unpacked.has(map)) unpacked.set(map, unpack(map.steps).then((b) => new Uint8Array(b)));
    return unpacked.get(map);
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

  function fill(select, options) {
    options.forEach(([value, text]) => select.add(new Option(text, value)));
  }

  function chosen() {
    const found = data.cases[Number(find("case").value)];
    const quantity = find("quantity").value;
    const cycle = found.cycles[find("activity").value];
    const pressure = quantity === "pressure";
    const frame = pressure ? Number(find("frame").value) : cycle.peak_load_frame;
    const map = pressure ? cycle : found.maps[find("life").value][quantity];
    return { found, quantity, cycle, pressure, frame, map, row: pressure ? frame : 0 };
  }

  function write(now) {
    const [name, unit] = names[now.quantity];
    const life = data.lives.length > 1 ? `, ${find("life").value}` : "";
    const when = now.pressure
      ? `${find("activity").value} at ${data.percent[now.frame].toFixed(0)} % of the cycle, ` +
        `load ${now.cycle.load_n[now.frame].toFixed(0)} N`
      : `whole life${life}`;
    const largest = now.map.largest[now.row]
      .map((value, i) => `${data.sides[i]} ${value.toPrecision(3)} ${unit}`).join(", ");
    find("title").textContent = `${name}, ${now.found.label}, ${when}. Largest: ${largest}.`;
    find("frame").setAttribute("aria-valuetext", `${data.percent[now.frame].toFixed(0)} %`);
  }

  function drawScale(quantity) {
    const scale = data.scales[quantity];
    find("unit").textContent = `${names[quantity][0]} (${names[quantity][1]})`;
    find("colours").style.background = `linear-gradient(to top, ${scale.stops.join(", ")})`;
    find("ticks").replaceChildren(...[1, 0.75, 0.5, 0.25, 0].map((part) => {
      const tick = document.createElement("li");
      tick.textContent = (part * scale.top).toPrecision(part ? 3 : 1);
      return tick;
    }));
  }

  async function start() {
    const box = document.getElementById("viewer");
    box.hidden = false;
    const target = find("canvas");
    const plot = new window.viewerLibrary.K3D(window.viewerLibrary.ThreeJsProvider, target, {
      menuVisibility: false, gridVisible: false, cameraAutoFit: false, axesHelper: 0,
      clearColor: 0xffffff, lighting: 1.6,
      // No object: the page has a colour bar of its own.
      colorbarObjectId: 0,
    });
    const insert = await mesh(1, data.insert, { color_range: [0, data.scales.pressure.steps] });
    insert.attribute = { data: new Float32Array(insert.vertices.shape[0]) };
    insert.color_map = colourMap(data.scales.pressure);
    const femoral = [];
    for (const [i, packed] of data.femoral.entries()) {
      femoral.push(await mesh(2 + i, packed, { color: 0x8a97a3, opacity: 0.25 }));
    }
    await plot.load({ objects: [insert, ...femoral] });

    const points = insert.vertices.data;
    const range = [0, 1, 2].map((axis) => {
      let [low, high] = [Infinity, -Infinity];
      for (let i = axis; i < points.length; i += 3) {
        low = Math.min(low, points[i]);
        high = Math.max(high, points[i]);
      }
      return [low, high];
    });
    const middle = range.map(([low, high]) => (low + high) / 2);
    const width = Math.max(...range.map(([low, high]) => high - low));
    function look(name) {
      // A narrow canvas needs more distance to hold the insert's width.
      const away = width * Math.max(1, 1.3 * target.clientHeight / target.clientWidth);
      const view = views[name];
      plot.setCamera([
        ...middle.map((value, i) => value + away * view[i]), ...middle, ...view.slice(3),
      ]);
      plot.render();
    }

    let waiting = false;
    let again = false;
    async function show() {
      if (waiting) {
        again = true;
        return;
      }
      waiting = true;
      const now = chosen();
      const all = await steps(now.map);
      const count = points.length / 3;
      const values = Float32Array.from(all.subarray(now.row * count, (now.row + 1) * count));
      insert.attribute = { data: values, shape: [count] };
      insert.color_map = colourMap(data.scales[now.quantity]);
      await plot.reload(insert, { attribute: insert.attribute, color_map: insert.color_map });
      const pose = { data: new Float32Array(now.cycle.poses[now.frame]), shape: [4, 4] };
      for (const part of femoral) {
        part.model_matrix = pose;
        part.visible = find("femoral").checked;
        await plot.reload(part, { model_matrix: pose, visible: part.visible });
      }
      plot.render();
      write(now);
      drawScale(now.quantity);
      find("frame-label").hidden = find("play").hidden = !now.pressure;
      find("activity-label").hidden = !now.pressure || data.activities.length < 2;
      find("life-label").hidden = now.pressure || data.lives.length < 2;
      box.dataset.shown = `${now.quantity} ${now.found.name} ${now.frame}`;
      box.dataset.sum = values.reduce((sum, value) => sum + value, 0);
      waiting = false;
      if (again) {
        again = false;
        await show();
      }
    }

    fill(find("quantity"), Object.entries(names).map(([key, [name, unit]]) => [key, `${name} (${unit})`]));
    fill(find("case"), data.cases.map((one, i) => [i, one.label]));
    fill(find("life"), data.lives.map((name) => [name, name]));
    fill(find("activity"), data.activities.map((name) => [name, name]));
    find("case").value = Math.floor(data.cases.length / 2);
    find("frame").max = data.percent.length - 1;
    find("frame").value = chosen().cycle.peak_load_frame;
    for (const name of ["quantity", "case", "life", "activity", "femoral"]) {
      find(name).addEventListener("change", show);
    }
    find("frame").addEventListener("input", show);
    box.querySelectorAll("[data-view]").forEach((button) => {
      button.addEventListener("click", () => look(button.dataset.view));
    });
    let timer = 0;
    find("play").addEventListener("click", () => {
      timer = timer ? clearInterval(timer) : setInterval(() => {
        find("frame").value = (Number(find("frame").value) + 1) % data.percent.length;
        show();
      }, 80);
      find("play").textContent = timer ? "Stop" : "Play";
      find("play").setAttribute("aria-pressed", String(Boolean(timer)));
    });
    look("front");
    await show();
    find("missing").hidden = true;
  }

  function hasWebGL() {
    try {
      return Boolean(document.createElement("canvas").getContext("webgl2"));
    } catch {
      return false;
    }
  }

  if (hasWebGL() && window.viewerLibrary && window.DecompressionStream) {
    start().catch((reason) => {
      document.getElementById("viewer").hidden = true;
      find("missing").hidden = false;
      console.error(reason);
    });
  }
})();
