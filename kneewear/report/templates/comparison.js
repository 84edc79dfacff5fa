"use strict";
(() => {
  const find = (name) => document.getElementById(`pair-${name}`);
  const data = JSON.parse(find("data").textContent);
  const names = { damage_depth: "Damage depth", wear_depth: "Wear depth", creep_depth: "Creep depth" };
  const views = { above: [0, 1, 0, -1, 0, 0], front: [-1, 0.02, 0, 0, 1, 0], oblique: [-0.75, 0.75, 0.2, 0, 1, 0] };
  const fill = (select, options) => options.forEach(([value, text]) => select.add(new Option(text, value)));

  const outside = (design, name = find("case").value) => (data.outside[design] || []).includes(name);
  const caseLabel = (name) => name + (data.designs.some((one) => outside(one.name, name)) ? " \u2013 outside validity" : "");

  async function pane(number) {
    const target = find(`canvas-${number}`);
    const plot = new window.viewerLibrary.K3D(window.viewerLibrary.ThreeJsProvider, target, {
      menuVisibility: false, gridVisible: false, cameraAutoFit: false, axesHelper: 0,
      clearColor: 0xffffff, lighting: 1.6, colorbarObjectId: 0,
    });
    let drawn = null;
    let points = null;
    async function show() {
      const design = data.designs[Number(find(`design-${number}`).value)];
      const quantity = find("quantity").value;
      const map = design.cells[find("case").value][quantity];
      const scale = data.scales[quantity];
      const values = Float32Array.from(new Uint8Array(await unpack(map.steps)));
      const insert = await mesh(1, design.insert, { color_range: [0, scale.steps] });
      insert.attribute = { data: values, shape: [values.length] };
      insert.color_map = colourMap(scale);
      points = insert.vertices.data;
      if (drawn !== null) await plot.removeObject(1);
      drawn = design.name;
      await plot.load({ objects: [insert] });
      const largest = map.largest.map((value, i) => `${data.sides[i]} ${value.toPrecision(3)}`).join(", ");
      find(`title-${number}`).textContent = `${design.name}${outside(design.name) ? " (outside validity)" : ""}: largest ${largest} mm`;
    }
    function look(name) {
      const ranges = [0, 1, 2].map((axis) => {
        let [low, high] = [Infinity, -Infinity];
        for (let i = axis; i < points.length; i += 3) {
          low = Math.min(low, points[i]);
          high = Math.max(high, points[i]);
        }
        return [low, high];
      });
      const middle = ranges.map(([low, high]) => (low + high) / 2);
      const width = Math.max(...ranges.map(([low, high]) => high - low));
      const away = width * Math.max(0.9, 1.1 * target.clientHeight / target.clientWidth);
      plot.setCamera([...middle.map((value, i) => value + away * views[name][i]), ...middle, ...views[name].slice(3)]);
      plot.render();
    }
    return { plot, show, look };
  }

  async function start() {
    find("view").hidden = false;
    fill(find("quantity"), Object.entries(names));
    fill(find("case"), data.cells.map((name) => [name, caseLabel(name)]));
    find("case").value = data.first;
    for (const number of [0, 1]) {
      fill(find(`design-${number}`), data.designs.map((one, i) => [i, one.name]));
      find(`design-${number}`).value = number;
    }
    const panes = [await pane(0), await pane(1)];
    async function showAll() {
      await Promise.all(panes.map((one) => one.show()));
      const scale = data.scales[find("quantity").value];
      find("colours").style.background = `linear-gradient(to right, ${scale.stops.join(", ")})`;
      find("top").textContent = `${scale.top.toPrecision(3)} mm`;
      find("view").dataset.shown = [0, 1].map((i) => data.designs[find(`design-${i}`).value].name).join(" | ");
    }
    await showAll();
    // A turn of one camera turns the other one, which does not answer.
    let follows = false;
    panes.forEach((one, i) => one.plot.on(one.plot.events.CAMERA_CHANGE, (camera) => {
      if (follows) return;
      follows = true;
      panes[1 - i].plot.setCamera(camera);
      panes[1 - i].plot.render();
      follows = false;
    }));
    ["quantity", "case", "design-0", "design-1"].forEach((name) => find(name).addEventListener("change", showAll));
    find("view").querySelectorAll("[data-view]").forEach((button) => {
      button.addEventListener("click", () => panes[0].look(button.dataset.view));
    });
    panes.forEach((one) => one.look("above"));
    find("missing").hidden = true;
  }

  if (hasWebGL() && window.viewerLibrary && window.DecompressionStream) {
    start().catch((reason) => {
      find("view").hidden = true;
      find("missing").hidden = false;
      console.error(reason);
    });
  }
})();
