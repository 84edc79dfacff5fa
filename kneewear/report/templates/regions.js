"use strict";
(() => {
  const find = (name) => document.getElementById(`regions-${name}`);
  const data = JSON.parse(find("data").textContent);
  const plan = find("plan");
  const colours = { medial: "#0072B2", lateral: "#D55E00" };
  const margin = 6; // mm
  const step = 0.5; // mm, of an arrow key
  const round = (value) => Math.round(10 * value) / 10;
  let corners = structuredClone(data.corners);
  let dragged = null; // number of a corner

  // The plan is drawn as [-z, x]: anterior is up and medial is left.
  function add(parent, name, attributes, text = "") {
    const one = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
    one.textContent = text;
    parent.append(one);
    return one;
  }

  function drawHeights() {
    const [x, z, y] = [0, 1, 2].map((column) => data.heights.map((row) => row[column]));
    const outlines = Object.values(data.corners).flat();
    const [atX, atZ] = [x.concat(outlines.map((one) => one[0])), z.concat(outlines.map((one) => one[1]))];
    const box = [-Math.max(...atZ), Math.min(...atX), -Math.min(...atZ), Math.max(...atX)];
    const [left, top, right, bottom] = [box[0] - margin, box[1] - margin, box[2] + margin, box[3] + margin];
    plan.setAttribute("viewBox", `${left} ${top} ${right - left} ${bottom - top}`);
    const [low, high] = [Math.min(...y), Math.max(...y)];
    const group = add(plan, "g", {});
    for (const [at, side, height] of data.heights) {
      const light = 25 + 65 * (height - low) / Math.max(high - low, 1e-9);
      add(group, "rect", {
        x: -side - data.spacing / 2, y: at - data.spacing / 2, width: data.spacing, height: data.spacing,
        fill: `hsl(200 12% ${light.toFixed(0)}%)`,
      });
    }
    const size = { "font-size": 2.4, fill: "currentColor" };
    for (let at = 10 * Math.ceil(left / 10); at <= right; at += 10) {
      add(plan, "text", { x: at, y: bottom - 0.6, "text-anchor": "middle", ...size }, -at);
    }
    for (let at = 10 * Math.ceil((top + margin) / 10); at <= bottom; at += 10) {
      add(plan, "text", { x: left + 0.4, y: at, ...size }, at);
    }
    add(plan, "text", { x: right - 0.4, y: top + 2.4, "text-anchor": "end", ...size }, "x down, z left (mm)");
  }

  const side = () => find("side").value;
  const own = () => corners[side()];

  function move(number, x, z) {
    own()[number] = [round(x), round(z)];
    show(number);
  }

  function draw(focused) {
    plan.querySelectorAll(".region").forEach((one) => one.remove());
    for (const [name, points] of Object.entries(corners)) {
      const group = add(plan, "g", { class: "region" });
      add(group, "polygon", {
        points: points.map(([x, z]) => `${-z},${x}`).join(" "),
        fill: "none", stroke: colours[name], "stroke-width": name === side() ? 0.6 : 0.3,
      });
      if (name !== side()) continue;
      points.forEach(([x, z], number) => {
        const mark = add(group, "circle", {
          cx: -z, cy: x, r: 1.1, fill: colours[name], tabindex: 0, role: "button", "data-number": number,
          "aria-label": `${name} corner ${number + 1}: x ${x}, z ${z} mm`,
        });
        mark.addEventListener("keydown", (event) => press(event, number));
        if (number === focused) mark.focus();
      });
    }
  }

  function press(event, number) {
    const [x, z] = own()[number];
    const moves = { ArrowUp: [-step, 0], ArrowDown: [step, 0], ArrowLeft: [0, step], ArrowRight: [0, -step] };
    if (event.key === "Delete") {
      own().splice(number, 1);
      show(Math.max(number - 1, 0));
    } else if (event.key in moves) {
      move(number, x + moves[event.key][0], z + moves[event.key][1]);
    } else {
      return;
    }
    event.preventDefault();
  }

  // Whether segments between points a, b and c, d cross.
  function cross(a, b, c, d) {
    const turn = (p, q, r) => Math.sign((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]));
    return turn(a, b, c) !== turn(a, b, d) && turn(c, d, a) !== turn(c, d, b);
  }

  function fault(points) {
    if (points.length < 3) return "needs at least three corners";
    const count = points.length;
    for (let i = 0; i < count; i += 1) {
      for (let j = i + 2; j < count; j += 1) {
        if ((j + 1) % count === i) continue;
        if (cross(points[i], points[i + 1], points[j], points[(j + 1) % count])) return "crosses itself";
      }
    }
    return "";
  }

  function show(focused) {
    draw(focused);
    const faults = Object.entries(corners).map(([name, points]) => [name, fault(points)]).filter((one) => one[1]);
    find("message").textContent = faults.map(([name, text]) => `The ${name} region ${text}.`).join(" ");
    find("message").classList.toggle("alarm", faults.length > 0);
    const limits = (values) => `[${Math.min(...values)}, ${Math.max(...values)}]`;
    const rows = Object.entries(corners).map(([name, points]) => [
      `      ${name}:`,
      `        x: ${limits(points.map((one) => one[0]))}`,
      `        z: ${limits(points.map((one) => one[1]))}`,
      `        outline: [${points.map(([x, z]) => `[${x}, ${z}]`).join(", ")}]`,
    ].join("\n"));
    const head = "implant:\n  meshes:\n    insert_region_mm:\n";
    find("yaml").value = faults.length ? "" : `${head}${rows.join("\n")}\n`;
  }

  function place(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(plan.getScreenCTM().inverse());
    return [point.y, -point.x];
  }

  // Distance of a point from a segment.
  function apart(p, a, b) {
    const [u, v] = [b[0] - a[0], b[1] - a[1]];
    const part = Math.min(1, Math.max(0, ((p[0] - a[0]) * u + (p[1] - a[1]) * v) / (u * u + v * v || 1)));
    return Math.hypot(p[0] - a[0] - part * u, p[1] - a[1] - part * v);
  }

  // A new corner goes into the nearest edge, which is the closing one while an outline is begun.
  function insert(point) {
    const points = own();
    let [nearest, least] = [points.length, Infinity];
    for (let i = points.length - 1; i >= 0; i -= 1) {
      const distance = apart(point, points[i], points[(i + 1) % points.length]);
      if (distance < least - 1e-6) [nearest, least] = [i + 1, distance];
    }
    points.splice(nearest, 0, point.map(round));
    return nearest;
  }

  plan.addEventListener("pointerdown", (event) => {
    const { number } = event.target.dataset;
    dragged = number === undefined ? insert(place(event)) : Number(number);
    plan.setPointerCapture(event.pointerId);
    show(dragged);
    event.preventDefault();
  });
  plan.addEventListener("pointermove", (event) => {
    if (dragged !== null) move(dragged, ...place(event));
  });
  plan.addEventListener("pointerup", () => { dragged = null; });
  for (const name of Object.keys(corners)) find("side").add(new Option(name));
  find("side").addEventListener("input", () => show());
  find("clear").addEventListener("click", () => { corners[side()] = []; show(); });
  find("reset").addEventListener("click", () => { corners = structuredClone(data.corners); show(); });
  find("copy").addEventListener("click", () => {
    find("yaml").select();
    if (navigator.clipboard) navigator.clipboard.writeText(find("yaml").value).catch(() => {});
  });
  drawHeights();
  show();
  document.getElementById("regions").hidden = false;
})();
