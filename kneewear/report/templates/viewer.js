"use strict";
(() => {
  const find = (name) => document.getElementById(`viewer-${name}`);
  const data = JSON.parse(find("data").textContent);
  const names = {
    pressure: ["Contact pressure", "MPa"],
    damage_depth: ["Damage depth with creep", "mm"],
    wear_depth: ["Wear depth", "mm"],
    creep_depth: ["Creep depth", "mm"],
  };
  // Position, from the middle, and upward direction of the camera, in units of the insert's width.
  const views = {
    above: [0, 0.7, 0, -1, 0, 0],
    front: [-0.9, 0, 0, 0, 1, 0],
    "medial side": [0, 0, 0.9, 0, 1, 0],
    oblique: [-0.7, 0.7, 0.2, 0, 1, 0],
  };
  // Cases outside validity differ by life, as loads do.
  function labelled(one) {
    const outside = data.outside[find("life").value] || [];
    return one.label + (outside.includes(one.name) ? " \u2013 outside validity" : "");
  }

  // Each array is unpacked when it is first looked at, and kept.
  const unpacked = new Map();
  function steps(map) {
    if (!unpacked.has(map)) unpacked.set(map, unpack(map.steps).then((b) => new Uint8Array(b)));
    return unpacked.get(map);
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
    find("title").textContent = `${name}, ${labelled(now.found)}, ${when}. Largest: ${largest}.`;
    find("frame").setAttribute("aria-valuetext", `${data.percent[now.frame].toFixed(0)} %`);
  }

  function drawScale(quantity) {
    const scale = data.scales[quantity];
    find("unit").textContent = `${names[quantity][0]} (${names[quantity][1]})`;
    find("colours").style.background = `linear-gradient(to top, ${scale.stops.join(", ")})`;
    // Round values, at most six.
    const power = 10 ** Math.floor(Math.log10(scale.top / 5));
    const step = power * [1, 2, 5, 10].find((one) => one * power * 5 >= scale.top);
    const count = Math.floor(scale.top / step + 1e-9) + 1;
    find("ticks").replaceChildren(...Array.from({ length: count }, (_, i) => {
      const tick = document.createElement("li");
      tick.textContent = String(Number((i * step).toPrecision(6)));
      tick.style.bottom = `${(100 * i * step) / scale.top}%`;
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
    // Cases share one shape, or have designs of their own.
    const shapes = [];
    let id = 0;
    for (const packed of data.shapes || [data]) {
      const insert = await mesh(++id, packed.insert, {
        color_range: [0, data.scales.pressure.steps], visible: shapes.length === 0,
      });
      insert.attribute = { data: new Float32Array(insert.vertices.shape[0]) };
      insert.color_map = colourMap(data.scales.pressure);
      const femoral = [];
      for (const one of packed.femoral) {
        femoral.push(await mesh(++id, one, { color: 0x8a97a3, opacity: 0.25, visible: false }));
      }
      shapes.push({ insert, femoral });
    }
    await plot.load({ objects: shapes.flatMap(({ insert, femoral }) => [insert, ...femoral]) });

    let points = shapes[0].insert.vertices.data;
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

    // Words over the canvas at points of the insert, moved with the camera.
    function mark(text, kind = "") {
      const word = document.createElement("span");
      word.className = `mark ${kind}`;
      word.textContent = text;
      target.append(word);
      return { word, point: middle };
    }
    const at = (axis, end) => middle.map(
      (value, i) => (i === axis ? range[i][end] + (end ? 0.05 : -0.05) * width : value));
    const marks = [["anterior", 0, 0], ["posterior", 0, 1], ["lateral", 2, 0], ["medial", 2, 1]]
      .map(([text, axis, end]) => ({ ...mark(text), point: at(axis, end) }));
    const deepest = [mark("\u00d7", "deepest"), mark("\u00d7", "deepest")];
    const pointed = mark("");
    pointed.word.hidden = true;

    // Pixels from the left and top of the canvas, and depth.
    function project([x, y, z]) {
      const { projectionMatrix, matrixWorldInverse } = plot.getWorld().camera;
      const times = (m, v) => [0, 1, 2, 3].map(
        (i) => m[i] * v[0] + m[i + 4] * v[1] + m[i + 8] * v[2] + m[i + 12] * v[3]);
      const clip = times(projectionMatrix.elements, times(matrixWorldInverse.elements, [x, y, z, 1]));
      const [width, height] = [target.clientWidth, target.clientHeight];
      return [(1 + clip[0] / clip[3]) * width / 2, (1 - clip[1] / clip[3]) * height / 2, clip[2] / clip[3]];
    }
    const vertex = (i) => [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
    function placeMarks() {
      for (const { word, point } of [...marks, ...deepest]) {
        const [x, y] = project(point);
        const half = word.offsetWidth / 2;
        word.style.left = `${Math.min(Math.max(x, half), target.clientWidth - half)}px`;
        word.style.top = `${Math.min(Math.max(y, 9), target.clientHeight - 9)}px`;
      }
    }
    plot.on(plot.events.RENDERED, placeMarks);
    let values = new Float32Array(0);
    target.addEventListener("pointermove", (event) => {
      const box = target.getBoundingClientRect();
      const [left, top] = [event.clientX - box.left, event.clientY - box.top];
      let [found, nearest] = [-1, Infinity];
      for (let i = 0; i < values.length; i += 1) {
        const [x, y, depth] = project(vertex(i));
        if (Math.hypot(x - left, y - top) < 5 && depth < nearest) [found, nearest] = [i, depth];
      }
      pointed.word.hidden = found < 0;
      if (found < 0) return;
      const scale = data.scales[find("quantity").value];
      const [x, , z] = vertex(found);
      pointed.word.textContent = `${(values[found] * scale.top / scale.steps).toPrecision(2)} ` +
        `${names[find("quantity").value][1]}, ${Math.abs(x).toFixed(1)} mm ${x > 0 ? "posterior" : "anterior"}, ` +
        `${Math.abs(z).toFixed(1)} mm ${z > 0 ? "medial" : "lateral"}`;
      const half = pointed.word.offsetWidth / 2;
      pointed.word.style.left = `${Math.min(Math.max(left, half), box.width - half)}px`;
      pointed.word.style.top = `${top + (top > 40 ? -20 : 20)}px`;
    });
    target.addEventListener("pointerleave", () => { pointed.word.hidden = true; });

    let waiting = false;
    let again = false;
    async function show() {
      if (waiting) {
        again = true;
        return;
      }
      waiting = true;
      const now = chosen();
      const { insert, femoral } = shapes[now.found.shape || 0];
      for (const other of shapes) {
        for (const part of [other.insert, ...other.femoral]) {
          if (other.insert === insert || !part.visible) continue;
          part.visible = false;
          await plot.reload(part, { visible: false });
        }
      }
      points = insert.vertices.data;
      insert.visible = true;
      const all = await steps(now.map);
      const count = points.length / 3;
      values = Float32Array.from(all.subarray(now.row * count, (now.row + 1) * count));
      insert.attribute = { data: values, shape: [count] };
      insert.color_map = colourMap(data.scales[now.quantity]);
      await plot.reload(insert, { attribute: insert.attribute, color_map: insert.color_map, visible: true });
      const pose = { data: new Float32Array(now.cycle.poses[now.frame]), shape: [4, 4] };
      for (const part of femoral) {
        part.model_matrix = pose;
        part.visible = find("femoral").checked;
        await plot.reload(part, { model_matrix: pose, visible: part.visible });
      }
      deepest.forEach((one, side) => {
        let best = -1;
        for (let i = 0; i < count; i += 1) {
          if ((points[3 * i + 2] > middle[2]) === !side && values[i] > (best < 0 ? 0 : values[best])) best = i;
        }
        one.word.hidden = best < 0;
        if (best >= 0) one.point = vertex(best);
      });
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
    fill(find("life"), data.lives.map((name) => [name, name]));
    fill(find("case"), data.cases.map((one, i) => [i, labelled(one)]));
    fill(find("activity"), data.activities.map((name) => [name, name]));
    find("quantity").value = "damage_depth";
    find("case").value = Math.max(0, data.cases.findIndex((one) => one.name === data.first));
    find("frame").max = data.percent.length - 1;
    find("frame").value = chosen().cycle.peak_load_frame;
    for (const name of ["quantity", "case", "life", "activity", "femoral"]) {
      find(name).addEventListener("change", show);
    }
    // Links of the page to a case.
    document.querySelectorAll("a[data-case]").forEach((link) => {
      link.addEventListener("click", () => {
        find("case").value = data.cases.findIndex((one) => one.name === link.dataset.case);
        show();
      });
    });
    find("life").addEventListener("change", () => {
      data.cases.forEach((one, i) => { find("case").options[i].text = labelled(one); });
    });
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
    look("above");
    await show();
    placeMarks();
    find("missing").hidden = true;
  }

  if (hasWebGL() && window.viewerLibrary && window.DecompressionStream) {
    start().catch((reason) => {
      document.getElementById("viewer").hidden = true;
      find("missing").hidden = false;
      console.error(reason);
    });
  }
})();
