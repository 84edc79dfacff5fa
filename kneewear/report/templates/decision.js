"use strict";
(() => {
  const find = (name) => document.getElementById(`decision-${name}`);
  const data = JSON.parse(find("data").textContent);
  const [thinnest, thickest] = data.thickness_mm;
  const [lightest, heaviest] = data.body_mass_kg;
  const colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#333"];

  // Plane y = x . a, or a power law, the same in logarithms; a new case is within
  // t s sqrt(1 + x . (X'X)^-1 . x): `part` is -1, 0 or 1 of that.
  function predict(fit, thickness, mass, part) {
    const log = Boolean(fit.power);
    const { coefficients, deviation } = log ? fit.power : fit;
    const x = log ? [1, Math.log(thickness), Math.log(mass)] : [1, thickness, mass];
    const dot = (row) => row.reduce((sum, value, i) => sum + value * x[i], 0);
    const inverse = log ? data.logarithmic_inverse : data.inverse;
    const y = dot(coefficients) + part * data.quantile * deviation * Math.sqrt(1 + dot(inverse.map(dot)));
    return log ? Math.exp(y) : y;
  }

  // Smallest thickness that keeps a limit, by bisection: all quantities fall with thickness.
  // 0 if the thinnest insert keeps it, infinite if none does.
  function minimum(fit, limit, mass, part = 0) {
    if (predict(fit, thinnest, mass, part) <= limit) return 0;
    if (predict(fit, thickest, mass, part) > limit) return Infinity;
    let [low, high] = [thinnest, thickest];
    for (let i = 0; i < 50; i += 1) {
      const middle = (low + high) / 2;
      if (predict(fit, middle, mass, part) > limit) low = middle;
      else high = middle;
    }
    return high;
  }

  // Round numbers from `low` to `high`, at most four steps, without the error of binary fractions.
  function ticks(low, high) {
    const span = high - low || 1;
    const power = 10 ** Math.floor(Math.log10(span / 4));
    const step = power * [1, 2, 5, 10].find((one) => one * power * 4 >= span);
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(6)));
  }

  function words(thickness) {
    if (thickness === Infinity) return `above ${thickest}`;
    return thickness ? thickness.toFixed(1) : `below ${thinnest}`;
  }

  const names = [...new Set(data.fits.map((fit) => fit.quantity))];
  const rows = names.map((quantity) => {
    const { name, unit } = data.fits.find((fit) => fit.quantity === quantity);
    const row = find("table").tBodies[0].insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = `${name} (${unit})`;
    row.append(head);
    const input = document.createElement("input");
    Object.assign(input, { type: "number", step: "any", min: 0, id: `decision-${quantity}` });
    input.setAttribute("aria-label", `Limit of ${name.toLowerCase()}, ${unit}`);
    input.value = data.limits[quantity] ?? "";
    row.insertCell().append(input);
    input.addEventListener("input", show);
    return { quantity, name, input, cells: data.sides.map((side) => [side, row.insertCell()]) };
  });

  const fitsOf = (quantity) => data.fits.filter((fit) => fit.quantity === quantity &&
    (data.lives.length < 2 || fit.life === find("life").value));

  function show() {
    const mass = find("mass").valueAsNumber;
    const known = mass >= lightest && mass <= heaviest;
    find("mass").setAttribute("aria-invalid", String(!known));
    const found = [];
    for (const { quantity, name, input, cells } of rows) {
      const limit = input.valueAsNumber;
      for (const [side, cell] of cells) {
        const fit = fitsOf(quantity).find((one) => one.side === side);
        cell.textContent = "\u2013";
        if (!known || !fit || !(limit > 0)) continue;
        const [low, middle, high] = [-1, 0, 1].map((part) => minimum(fit, limit, mass, part));
        cell.textContent = low === high ? words(middle) : `${words(middle)} (${words(low)} to ${words(high)})`;
        found.push({ name, side, quantity, low, middle, high });
      }
    }
    draw(known ? mass : NaN);
    const worst = found.reduce((a, b) => (b.middle > a.middle ? b : a), { middle: -1 });
    find("message").classList.toggle("alarm", !known || worst.middle === Infinity);
    if (!known) {
      find("message").textContent = "No answer: the body mass must be within what was simulated, " +
        `${lightest} to ${heaviest} kg.`;
      return;
    }
    if (worst.middle < 0) {
      find("message").textContent = "Set a limit.";
      return;
    }
    const by = `decided by ${worst.name.toLowerCase()}, ${worst.side}`;
    const answer = worst.middle === Infinity
      ? `No simulated insert, up to ${thickest} mm, keeps the limits for ${mass} kg (${by}).`
      : worst.middle === 0
        ? `Every simulated insert, from ${thinnest} mm, keeps the limits for ${mass} kg.`
        : `At least ${worst.middle.toFixed(1)} mm for ${mass} kg (fit interval ${words(worst.low)} to ${words(worst.high)}), ${by}.`;
    const thickness = Math.min(Math.max(worst.middle, thinnest), thickest);
    const valid = Object.entries(data.limits).every(([quantity, limit]) => fitsOf(quantity).every(
      (fit) => predict(fit, thickness, mass, 0) <= limit * (1 + 1e-9)));
    find("message").textContent = answer;
    const badge = document.createElement("span");
    badge.className = valid ? "badge note" : "badge warn";
    badge.textContent = `pressures ${valid ? "below" : "above"} their limits at ${thickness.toFixed(1)} mm`;
    find("message").append(" ", badge);
  }

  // Contours: where each quantity of the worse side is at its limit; thicker inserts keep it. Names stand beside
  // the axes, or below them where the page is narrow.
  function draw(mass) {
    const svg = find("contours");
    const make = (kind, attributes, text = "") => {
      const one = document.createElementNS("http://www.w3.org/2000/svg", kind);
      for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
      one.textContent = text;
      svg.append(one);
    };
    const width = Math.min(svg.clientWidth || 540, 540);
    const narrow = width < 500;
    const right = narrow ? width - 20 : width - 230;
    const across = (value) => 50 + ((right - 50) * (value - lightest)) / (heaviest - lightest);
    const up = (value) => 255 - (235 * (value - thinnest)) / (thickest - thinnest);
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${narrow ? 306 + 18 * rows.length : 300}`);
    make("rect", { x: 50, y: 20, width: right - 50, height: 235, fill: "none", stroke: "#888" });
    const label = { "font-size": 12, "text-anchor": "middle", fill: "#222" };
    for (const value of ticks(lightest, heaviest)) {
      make("line", { x1: across(value), x2: across(value), y1: 255, y2: 259, stroke: "#888" });
      make("text", { ...label, x: across(value), y: 271 }, value);
    }
    for (const value of ticks(thinnest, thickest)) {
      make("line", { x1: 46, x2: 50, y1: up(value), y2: up(value), stroke: "#888" });
      make("text", { ...label, "text-anchor": "end", x: 43, y: up(value) + 4 }, value);
    }
    make("text", { ...label, x: (50 + right) / 2, y: 290 }, "body mass (kg)");
    make("text", { ...label, transform: "translate(14 140) rotate(-90)" }, "nominal insert thickness (mm)");
    rows.forEach(({ quantity, name, input }, i) => {
      if (!(input.valueAsNumber > 0)) return;
      const points = Array.from({ length: 101 }, (_, k) => lightest + (k * (heaviest - lightest)) / 100)
        .map((at) => [at, Math.max(...fitsOf(quantity).map((fit) => minimum(fit, input.valueAsNumber, at)))])
        .filter(([, thickness]) => thickness > 0 && thickness < Infinity)
        .map(([at, thickness]) => `${across(at).toFixed(1)},${up(thickness).toFixed(1)}`);
      const legend = narrow ? { x: 50, y: 312 + 18 * i, "font-size": 12 } : { x: right + 6, y: 40 + 18 * i, "font-size": 12 };
      if (!points.length) {
        make("text", { ...legend, fill: "#5c5c5c" }, `${name}: not reached`);
        return;
      }
      make("polyline", { points: points.join(" "), fill: "none", stroke: colours[i], "stroke-width": 2, "data-quantity": quantity });
      make("text", { ...legend, fill: colours[i] }, name);
    });
    if (mass === mass) make("line", { x1: across(mass), x2: across(mass), y1: 20, y2: 255, stroke: "#888", "stroke-dasharray": 4 });
  }

  find("mass").min = lightest;
  find("mass").max = heaviest;
  find("mass").value = data.mass;
  data.lives.forEach((name) => find("life").add(new Option(name, name)));
  find("life-label").hidden = data.lives.length < 2;
  for (const name of ["mass", "life"]) find(name).addEventListener("input", show);
  document.getElementById("decision").hidden = false;
  new ResizeObserver(show).observe(find("contours"));
  show();
})();
