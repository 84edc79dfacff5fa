// Maps of wear and creep of the cases of the default study, by sliders of thickness, mass and time.
(function () {
  "use strict";
  const data = window.KNEEWEAR_CASES;
  const place = document.getElementById("play");
  if (!data || !place) return;

  // Points of matplotlib's colour map magma, from its light end, as in the reports.
  const COLOURS = [[252, 253, 191], [254, 201, 141], [253, 149, 103], [241, 96, 93], [205, 64, 113],
    [158, 47, 127], [114, 31, 129], [68, 15, 118], [24, 15, 61], [0, 0, 4]];
  const SIZE = 7; // pixels of a mm
  const MARGIN = 3; // mm

  const bytes = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const maps = { wear: data.maps.wear.map(bytes), creep: data.maps.creep.map(bytes) };
  const { rows, columns, ends, sides } = data.cells;
  const low = Math.min(...ends.map((one) => one[2])) - MARGIN;
  const high = Math.max(...ends.map((one) => one[3])) + MARGIN;
  const front = Math.min(...ends.map((one) => one[0])) - MARGIN;
  const back = Math.max(...ends.map((one) => one[1])) + MARGIN;

  place.innerHTML = `
    <div class="play-controls">
      <label>Insert thickness <output id="play-h"></output>
        <input type="range" id="play-thickness" min="${data.thickness[0]}" max="${data.thickness.at(-1)}" step="0.5" value="10"></label>
      <label>Body mass <output id="play-m"></output>
        <input type="range" id="play-mass" min="${data.mass[0]}" max="${data.mass.at(-1)}" step="5" value="100"></label>
      <label>Time <output id="play-t"></output>
        <input type="range" id="play-months" min="1" max="${data.creep_ratio.length}" step="1" value="${data.months}"></label>
      <label>Colours <select id="play-show">
        <option value="both">wear and creep</option><option value="wear">wear</option><option value="creep">creep</option></select></label>
    </div>
    <canvas id="play-map" role="img" width="${Math.round((high - low) * SIZE)}" height="${Math.round((back - front) * SIZE)}"></canvas>
    <div class="play-scale"><span>0</span><canvas id="play-bar" width="256" height="12" aria-hidden="true"></canvas><span id="play-top"></span></div>
    <table class="play-numbers"><tbody>
      <tr><th scope="row">Wear volume</th><td id="play-volume"></td></tr>
      <tr><th scope="row">Mass lost</th><td id="play-lost"></td></tr>
      <tr><th scope="row">Deepest wear</th><td id="play-deepest"></td></tr>
      <tr><th scope="row">Largest pressure</th><td id="play-pressure"></td></tr>
    </tbody></table>
    <p id="play-note" aria-live="polite"></p>`;
  const at = (name) => document.getElementById(`play-${name}`);

  function colour(part) {
    const where = Math.min(1, Math.max(0, part)) * (COLOURS.length - 1);
    const first = Math.min(COLOURS.length - 2, Math.floor(where));
    return COLOURS[first].map((one, n) => Math.round(one + (where - first) * (COLOURS[first + 1][n] - one)));
  }

  // Weights of the cases around a thickness and a mass, and their numbers.
  function around(thickness, mass) {
    const between = (levels, value) => {
      let lower = 0;
      while (lower < levels.length - 2 && value >= levels[lower + 1]) lower += 1;
      return [lower, (value - levels[lower]) / (levels[lower + 1] - levels[lower])];
    };
    const [i, s] = between(data.thickness, thickness);
    const [j, t] = between(data.mass, mass);
    const count = data.mass.length;
    return [[i * count + j, (1 - s) * (1 - t)], [i * count + j + 1, (1 - s) * t],
      [(i + 1) * count + j, s * (1 - t)], [(i + 1) * count + j + 1, s * t]].filter(([, weight]) => weight > 0);
  }

  function draw() {
    const thickness = Number(at("thickness").value), mass = Number(at("mass").value);
    const months = Number(at("months").value), shown = at("show").value;
    const cases = around(thickness, mass);
    const mean = (values) => cases.reduce((sum, [n, weight]) => sum + weight * values[n], 0);
    const worn = months / data.months, crept = data.creep_ratio[months - 1];
    const longest = data.creep_ratio.length / data.months;
    const wear = shown === "creep" ? 0 : worn * data.scales.wear / 255;
    const creep = shown === "wear" ? 0 : crept * data.scales.creep / 255;
    // One scale for all positions of the sliders, so that colours compare.
    const top = (shown === "creep" ? 0 : longest * data.scales.wear) + (shown === "wear" ? 0 : data.scales.creep);

    const canvas = at("map"), pen = canvas.getContext("2d");
    pen.fillStyle = "#f1f1ee";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    let deepest = 0;
    sides.forEach((side, number) => {
      const [x0, x1, z0, z1] = ends[number];
      const high_ = (x1 - x0) / rows * SIZE, wide = (z1 - z0) / columns * SIZE;
      pen.fillStyle = "#ffffff";
      pen.fillRect((high - z1) * SIZE, (x0 - front) * SIZE, (z1 - z0) * SIZE, (x1 - x0) * SIZE);
      for (let row = 0; row < rows; row += 1) for (let column = 0; column < columns; column += 1) {
        const cell = (number * rows + row) * columns + column;
        let depth = 0;
        for (const [n, weight] of cases) depth += weight * (wear * maps.wear[n][cell] + creep * maps.creep[n][cell]);
        if (depth > 0.002 * top) {
          pen.fillStyle = `rgb(${colour(depth / top)})`;
          pen.fillRect((high - z1) * SIZE + (columns - 1 - column) * wide, (x0 - front) * SIZE + row * high_, wide + 0.6, high_ + 0.6);
        }
        deepest = Math.max(deepest, depth);
      }
      pen.strokeStyle = "#8a8a86";
      pen.strokeRect((high - z1) * SIZE, (x0 - front) * SIZE, (z1 - z0) * SIZE, (x1 - x0) * SIZE);
      pen.fillStyle = "#333333";
      pen.font = "14px sans-serif";
      pen.fillText(side, (high - z1) * SIZE + 4, (x0 - front) * SIZE + 16);
    });
    const digits = (value, count) => Number(value.toPrecision(count)).toString();
    at("h").textContent = `${thickness} mm`;
    at("m").textContent = `${mass} kg`;
    at("t").textContent = `${months} months (${digits(months / 12 * data.cycles_per_year / 1e6, 3)} million cycles)`;
    at("top").textContent = `${digits(top, 2)} mm`;
    const volume = worn * mean(data.volume), pressure = mean(data.pressure);
    at("volume").textContent = `${digits(volume, 3)} mm³`;
    at("lost").textContent = `${digits(volume * data.density, 3)} mg`;
    at("deepest").textContent = `${digits(worn * mean(data.depth), 3)} mm`;
    at("pressure").textContent = `${digits(pressure, 3)} MPa${pressure > data.pressure_limit ? " (outside the validity of the material model)" : ""}`;
    at("note").textContent = cases.length === 1 ? "A computed case." : "Between computed cases: interpolated.";
    canvas.setAttribute("aria-label", `Insert from above: ${shown === "both" ? "wear and creep" : shown} of a ${thickness} mm insert, ${mass} kg, after ${months} months, at most ${digits(deepest, 2)} mm`);
  }

  const bar = at("bar").getContext("2d");
  for (let n = 0; n < 256; n += 1) {
    bar.fillStyle = `rgb(${colour(n / 255)})`;
    bar.fillRect(n, 0, 1, 12);
  }
  for (const name of ["thickness", "mass", "months", "show"]) at(name).addEventListener("input", draw);
  draw();
})();
