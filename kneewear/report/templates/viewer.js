"use strict";
// The 3-D viewer of every page: a view of kneewear.report.viewer, drawn by K3D.
(() => {
  const find = (name) => document.getElementById(`viewer-${name}`);
  const view = JSON.parse(find("data").textContent);
  const floats = (values) => new Float32Array(values.flat(Infinity));
  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
  const none = { data: new Float32Array(0) };
  const still = { data: floats([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]), shape: [4, 4] };

  // Each array is unpacked when it is first looked at, and kept.
  const known = new Map();
  function unpack(text, Kind) {
    if (!known.has(text)) {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      known.set(text, new Response(stream).arrayBuffer().then((buffer) => new Kind(buffer)));
    }
    return known.get(text);
  }

  // The first scene whose choices are all as selected; a pane may have one choice of its own.
  function sceneOf(pane) {
    const value = (name) => (name === view.panes ? find(`pane-${pane}`) : find(name)).value;
    return view.scenes.find((scene) => Object.entries(scene.of).every(([name, wanted]) => value(name) === wanted));
  }

  function colourMap(scale) {
    // The step 0 is what was never touched; colours begin at step 1.
    const first = 0.7 / scale.steps;
    const rows = [[0, ...rgb(scale.zero)], [first, ...rgb(scale.zero)]];
    scale.stops.forEach((stop, i) => {
      rows.push([first + 1e-4 + (1 - first - 1e-4) * (i / (scale.stops.length - 1)), ...rgb(stop)]);
    });
    return { data: floats(rows), shape: [rows.length, 4] };
  }

  // Segments of polylines; displacements from the first frame are enlarged.
  function segments(scene, frame, factor) {
    const points = [];
    const pairs = [];
    scene.lines[frame].forEach((line, i) => line.forEach((point, j) => {
      const start = factor > 1 ? scene.lines[0][i][j] : point;
      if (j) pairs.push(points.length - 1, points.length);
      points.push(point.map((value, k) => start[k] + factor * (value - start[k])));
    }));
    return {
      vertices: { data: floats(points), shape: [points.length, 3] },
      indices: { data: new Uint32Array(pairs), shape: [pairs.length / 2, 2] },
    };
  }

  function box(points) {
    const range = [0, 1, 2].map(() => [Infinity, -Infinity]);
    for (let i = 0; i < points.length; i += 1) {
      const axis = range[i % 3];
      axis[0] = Math.min(axis[0], points[i]);
      axis[1] = Math.max(axis[1], points[i]);
    }
    return range;
  }

  function drawScale(scene) {
    const scale = view.scales[scene.scale];
    find("scale").hidden = !scale;
    if (!scale) return;
    find("unit").textContent = `${scale.label} (${scale.unit})`;
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

  async function pane(number) {
    const target = find(`canvas-${number}`);
    const plot = new window.viewerLibrary.K3D(window.viewerLibrary.ThreeJsProvider, target, {
      menuVisibility: false, gridVisible: false, cameraAutoFit: false, axesHelper: 0,
      clearColor: 0xffffff, lighting: 1.6, colorbarObjectId: 0,
    });
    // The library reads all of these, used or not.
    const common = { attribute: none, triangles_attribute: none, color_map: none, color_range: [], slice_planes: [], model_matrix: still };
    const objects = {};
    for (const [name, one] of Object.entries(view.bodies)) {
      const points = await unpack(one.points, Float32Array);
      const triangles = await unpack(one.triangles, Uint32Array);
      objects[name] = {
        ...common, id: Object.keys(objects).length + 1, type: "Mesh", visible: true, side: "double", flat_shading: false,
        opacity: one.opacity, color: parseInt(one.colour.slice(1), 16),
        vertices: { data: points, shape: [points.length / 3, 3] },
        indices: { data: triangles, shape: [triangles.length / 3, 3] },
      };
      const painted = view.scenes.find((scene) => scene.coloured === name);
      if (painted) {
        objects[name].color = 0xffffff;
        objects[name].attribute = { data: new Float32Array(points.length / 3), shape: [points.length / 3] };
        objects[name].color_map = colourMap(view.scales[painted.scale]);
        objects[name].color_range = [0, view.scales[painted.scale].steps];
      }
    }
    const withLines = view.scenes.find((scene) => scene.lines);
    const lines = withLines && {
      ...common, id: 1000, type: "Lines", visible: true, indices_type: "segment", shader: "simple", width: 0.3,
      color: parseInt(view.line_colour.slice(1), 16), opacity: 1, radial_segments: 8,
      colors: { data: new Uint32Array(0) }, ...segments(withLines, 0, 1),
    };
    await plot.load({ objects: [...Object.values(objects), ...(lines ? [lines] : [])] });

    // Words over the canvas at points of a body, moved with the camera.
    function mark(text, kind = "") {
      const word = document.createElement("span");
      word.className = `mark ${kind}`;
      word.textContent = text;
      target.append(word);
      return { word, point: [0, 0, 0] };
    }
    const ends = view.ends.map(([text, axis, end]) => ({ ...mark(text), axis, end }));
    const largest = view.ends.length ? [mark("\u00d7", "deepest"), mark("\u00d7", "deepest")] : [];
    const pointed = mark("");
    pointed.word.hidden = true;

    // Pixels from the left and top of the canvas, and depth.
    function project([x, y, z]) {
      const { projectionMatrix, matrixWorldInverse } = plot.getWorld().camera;
      const times = (m, v) => [0, 1, 2, 3].map((i) => m[i] * v[0] + m[i + 4] * v[1] + m[i + 8] * v[2] + m[i + 12] * v[3]);
      const clip = times(projectionMatrix.elements, times(matrixWorldInverse.elements, [x, y, z, 1]));
      return [(1 + clip[0] / clip[3]) * target.clientWidth / 2, (1 - clip[1] / clip[3]) * target.clientHeight / 2, clip[2] / clip[3]];
    }
    function place({ word, point }) {
      const [x, y] = project(point);
      const half = word.offsetWidth / 2;
      word.style.left = `${Math.min(Math.max(x, half), target.clientWidth - half)}px`;
      word.style.top = `${Math.min(Math.max(y, 9), target.clientHeight - 9)}px`;
    }
    plot.on(plot.events.RENDERED, () => [...ends, ...largest].forEach(place));

    let range = [[0, 1], [0, 1], [0, 1]];
    let points = new Float32Array(0);
    let values = new Float32Array(0);
    let [scene, framed] = [null, null];
    const moved = ({ vertices, model_matrix: { data: m } }) => Array.from(vertices.data, (_, i) => {
      const [row, at] = [4 * (i % 3), i - (i % 3)];
      return m[row] * vertices.data[at] + m[row + 1] * vertices.data[at + 1] + m[row + 2] * vertices.data[at + 2] + m[row + 3];
    });
    const vertex = (i) => [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
    function look(name) {
      const middle = range.map(([low, high]) => (low + high) / 2);
      const width = Math.max(...range.map(([low, high]) => high - low));
      // A narrow canvas needs more distance to hold the width.
      const away = width * Math.max(1, 1.3 * target.clientHeight / target.clientWidth);
      const direction = view.directions[name];
      plot.setCamera([...middle.map((value, i) => value + away * direction[i]), ...middle, ...direction.slice(3)]);
      plot.render();
    }
    target.addEventListener("pointermove", (event) => {
      const bounds = target.getBoundingClientRect();
      const [left, top] = [event.clientX - bounds.left, event.clientY - bounds.top];
      let [found, nearest] = [-1, Infinity];
      for (let i = 0; view.ends.length && i < values.length; i += 1) {
        const [x, y, depth] = project(vertex(i));
        if (Math.hypot(x - left, y - top) < 5 && depth < nearest) [found, nearest] = [i, depth];
      }
      pointed.word.hidden = found < 0;
      if (found < 0) return;
      const scale = view.scales[scene.scale];
      const [x, , z] = vertex(found);
      pointed.word.textContent = `${(values[found] * scale.top / scale.steps).toPrecision(2)} ${scale.unit}, ` +
        `${Math.abs(x).toFixed(1)} mm ${x > 0 ? "posterior" : "anterior"}, ${Math.abs(z).toFixed(1)} mm ${z > 0 ? "medial" : "lateral"}`;
      const half = pointed.word.offsetWidth / 2;
      pointed.word.style.left = `${Math.min(Math.max(left, half), bounds.width - half)}px`;
      pointed.word.style.top = `${top + (top > 40 ? -20 : 20)}px`;
    });
    target.addEventListener("pointerleave", () => { pointed.word.hidden = true; });

    const isShown = (group) => !group || document.querySelector(`[data-group="${group}"]`)?.checked !== false;
    async function show() {
      scene = sceneOf(number);
      const frame = scene.frames ? Math.min(Number(find("frame").value), scene.frames.length - 1) : 0;
      const factor = Number(find("enlarge")?.value || 1);
      for (const [name, object] of Object.entries(objects)) {
        const changes = { visible: scene.bodies.includes(name) && isShown(view.bodies[name].group) };
        const poses = scene.poses?.[name] || scene.poses?.[view.bodies[name].group];
        if (poses) changes.model_matrix = { data: floats(poses[Math.min(frame, poses.length - 1)]), shape: [4, 4] };
        if (scene.points?.[name]) {
          const [start, now] = await Promise.all([0, frame].map((i) => unpack(scene.points[name][i], Float32Array)));
          changes.vertices = { data: now.map((value, i) => start[i] + factor * (value - start[i])), shape: [now.length / 3, 3] };
        }
        if (scene.coloured === name) {
          const all = await unpack(scene.colours, Uint8Array);
          points = (changes.vertices || object.vertices).data;
          values = Float32Array.from(all.subarray(frame * points.length / 3, (frame + 1) * points.length / 3));
          changes.attribute = { data: values, shape: [values.length] };
          changes.color_map = colourMap(view.scales[scene.scale]);
        }
        if (!changes.visible && !object.visible) continue;
        Object.assign(object, changes);
        await plot.reload(object, changes);
      }
      if (lines && scene.lines) {
        const changes = { ...segments(scene, frame, factor), visible: isShown("lines") };
        Object.assign(lines, changes);
        await plot.reload(lines, changes);
      }
      if (scene !== framed) {
        const shown = scene.coloured ? [scene.coloured] : scene.bodies;
        range = box(shown.flatMap((name) => moved(objects[name])));
        framed = scene;
      }
      const width = Math.max(...range.map(([low, high]) => high - low));
      for (const one of ends) {
        one.point = range.map((pair, i) => (i === one.axis ? pair[one.end] + (one.end ? 0.05 : -0.05) * width : (pair[0] + pair[1]) / 2));
      }
      largest.forEach((one, side) => {
        let best = -1;
        for (let i = 0; i < values.length; i += 1) {
          const medial = points[3 * i + 2] > (range[2][0] + range[2][1]) / 2;
          if (medial === !side && values[i] > (best < 0 ? 0 : values[best])) best = i;
        }
        one.word.hidden = best < 0;
        if (best >= 0) one.point = vertex(best);
      });
      plot.render();
      find(`title-${number}`).textContent = [scene.title, scene.frames?.[frame], scene.texts?.[frame],
        scene.outside ? "outside validity" : ""].filter(Boolean).join(", ");
      return { scene, frame, sum: values.reduce((sum, value) => sum + value, 0) };
    }
    return { plot, show, look };
  }

  async function start() {
    const main = document.getElementById("viewer");
    main.hidden = false;
    const panes = [];
    for (const number of view.panes ? [0, 1] : [0]) panes.push(await pane(number));
    let [busy, again, scene] = [false, false, null];
    async function show() {
      if (busy) {
        again = true;
        return;
      }
      busy = true;
      const next = sceneOf(0);
      const frames = next.frames?.length || 1;
      if (next !== scene && frames > 1) {
        find("frame").max = frames - 1;
        // A new motion begins at its own frame.
        if (!scene || scene.frames?.length !== frames) find("frame").value = next.first_frame || 0;
      }
      scene = next;
      for (const label of main.querySelectorAll("[data-choice]")) {
        const select = label.querySelector("select");
        label.hidden = select ? !(select.id.slice(7) in scene.of) || select.options.length < 2 : frames < 2;
      }
      find("play").hidden = frames < 2;
      const shown = [];
      for (const one of panes) shown.push(await one.show());
      find("frame").setAttribute("aria-valuetext", scene.frames?.[shown[0].frame] || "");
      drawScale(scene);
      main.dataset.shown = `${Object.values(shown[0].scene.of).join(" ")} ${shown[0].frame}`.trim();
      main.dataset.sum = shown[0].sum;
      busy = false;
      if (again) {
        again = false;
        await show();
      }
    }
    main.querySelectorAll("select, [type=checkbox]").forEach((one) => one.addEventListener("change", show));
    find("frame").addEventListener("input", show);
    main.querySelectorAll("[data-view]").forEach((button) => {
      button.addEventListener("click", () => panes.forEach((one) => one.look(button.dataset.view)));
    });
    let timer = 0;
    find("play").addEventListener("click", () => {
      timer = timer ? clearInterval(timer) : setInterval(() => {
        find("frame").value = (Number(find("frame").value) + 1) % scene.frames.length;
        show();
      }, 80);
      find("play").textContent = timer ? "Stop" : "Play";
      find("play").setAttribute("aria-pressed", String(Boolean(timer)));
    });
    await show();
    panes.forEach((one) => one.look(Object.keys(view.directions)[0]));
    // A turn of one camera turns the other one, which does not answer.
    let follows = false;
    panes.forEach((one, i) => one.plot.on(one.plot.events.CAMERA_CHANGE, (camera) => {
      if (follows || panes.length < 2) return;
      follows = true;
      panes[1 - i].plot.setCamera(camera);
      panes[1 - i].plot.render();
      follows = false;
    }));
    find("missing").hidden = true;
  }

  let hasWebGL = false;
  try {
    hasWebGL = Boolean(document.createElement("canvas").getContext("webgl2"));
  } catch {
    hasWebGL = false;
  }
  if (hasWebGL && window.viewerLibrary && window.DecompressionStream) {
    start().catch((reason) => {
      document.getElementById("viewer").hidden = true;
      find("missing").hidden = false;
      console.error(reason);
    });
  }
})();
