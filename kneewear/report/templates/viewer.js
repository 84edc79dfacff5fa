"use strict";
// The 3-D viewer of every page: a view of kneewear.report.viewer, drawn by WebGL 2.
(() => {
  const find = (name) => document.getElementById(`viewer-${name}`);
  const view = JSON.parse(find("data").textContent);
  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
  const STILL = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const SHADOW = 1024;

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

  // ---- vectors and matrices; matrices are row by row ----
  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => a.map((value) => value / Math.hypot(...a));
  const moved = (m, x, y, z) => [0, 4, 8].map((row) => m[row] * x + m[row + 1] * y + m[row + 2] * z + m[row + 3]);
  function turned(a, axis, angle) {
    const [c, s, along] = [Math.cos(angle), Math.sin(angle), dot(a, axis)];
    const side = cross(axis, a);
    return a.map((value, i) => value * c + side[i] * s + axis[i] * along * (1 - c));
  }

  // Normals of vertices: sums of those of their triangles, which are as long as these are large.
  function normalsOf(points, triangles) {
    const normals = new Float32Array(points.length);
    for (let i = 0; i < triangles.length; i += 3) {
      const [a, b, c] = [3 * triangles[i], 3 * triangles[i + 1], 3 * triangles[i + 2]];
      const [ux, uy, uz] = [points[b] - points[a], points[b + 1] - points[a + 1], points[b + 2] - points[a + 2]];
      const [vx, vy, vz] = [points[c] - points[a], points[c + 1] - points[a + 1], points[c + 2] - points[a + 2]];
      for (const at of [a, b, c]) {
        normals[at] += uy * vz - uz * vy;
        normals[at + 1] += uz * vx - ux * vz;
        normals[at + 2] += ux * vy - uy * vx;
      }
    }
    return normals;
  }

  // ---- shaders; the colours of kneewear.report.picture ----
  const VERTEX = `#version 300 es
    layout(location=0) in vec3 point; layout(location=1) in vec3 normal; layout(location=2) in float step;
    uniform mat4 model, camera, lamp;
    out vec3 place, facing, lit; out float value;
    void main() {
      vec4 at = vec4(point, 1.0) * model;
      place = at.xyz; facing = normal * mat3(model); value = step;
      lit = (at * lamp).xyz * 0.5 + 0.5;
      gl_Position = at * camera;
    }`;
  const FRAGMENT = `#version 300 es
    precision highp float; precision highp sampler2DShadow;
    in vec3 place, facing, lit; in float value; out vec4 colour;
    uniform vec3 eye, light, plain, zero; uniform float opacity, metal, painted, steps; uniform sampler2D palette;
    uniform sampler2DShadow shadow;
    float seen() {
      float sum = 0.0;
      for (int i = -1; i <= 1; i++) for (int j = -1; j <= 1; j++)
        sum += texture(shadow, vec3(lit.xy + vec2(i, j) * 1.2 / ${SHADOW}.0, lit.z - 0.004));
      return sum / 9.0;
    }
    void main() {
      vec3 V = normalize(eye - place), N = normalize(facing);
      if (dot(N, V) < 0.0) N = -N;
      bool shown = painted > 0.5 && value >= 0.5;
      vec3 base = shown ? texture(palette, vec2((value - 1.0) / (steps - 1.0) * 0.9961 + 0.002, 0.5)).rgb
        : painted > 0.5 ? zero : plain;
      float diffuse = max(dot(N, light), 0.0) * mix(0.35, 1.0, seen());
      float fill = max(dot(N, V), 0.0);
      // Colours that stand for values keep within a fifth of the colour bar.
      float shade = shown ? 0.82 + 0.12 * diffuse + 0.06 * fill : 0.42 + 0.42 * diffuse + 0.20 * fill;
      vec3 H = normalize(V + light);
      float shine = pow(max(dot(N, H), 0.0), mix(30.0, 70.0, metal)) * mix(0.05, 0.35, metal) * (shown ? 0.0 : 1.0);
      float edge = pow(1.0 - fill, 3.0) * 0.25 * metal;
      colour = vec4(base * shade + shine + edge, 1.0) * opacity;
    }`;
  const DEPTH = `#version 300 es
    precision highp float; void main() {}`;
  const LINE_VERTEX = `#version 300 es
    layout(location=0) in vec3 point; layout(location=1) in vec3 other; layout(location=2) in float side;
    uniform mat4 camera; uniform vec2 size;
    void main() {
      vec4 a = vec4(point, 1.0) * camera, b = vec4(other, 1.0) * camera;
      vec2 along = (b.xy / b.w - a.xy / a.w) * size;
      vec2 across = length(along) > 1e-6 ? normalize(vec2(-along.y, along.x)) : vec2(0.0);
      gl_Position = a + vec4(across * side * 2.5 / size * a.w, 0.0, 0.0);
    }`;
  const LINE_FRAGMENT = `#version 300 es
    precision highp float; uniform vec3 plain; out vec4 colour; void main() { colour = vec4(plain, 1.0); }`;

  function program(gl, vertex, fragment) {
    const made = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    const at = {};
    for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i += 1) {
      const { name } = gl.getActiveUniform(made, i);
      at[name] = gl.getUniformLocation(made, name);
    }
    return { made, at };
  }

  function texture(gl, slot, width, height, [inner, format, kind], data, filter) {
    const made = gl.createTexture();
    gl.activeTexture(gl.TEXTURE0 + slot);
    gl.bindTexture(gl.TEXTURE_2D, made);
    gl.texImage2D(gl.TEXTURE_2D, 0, inner, width, height, 0, format, kind, data);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, filter);
    for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
    return made;
  }

  function drawScale(scene) {
    const scale = view.scales[scene.scale];
    find("scale").hidden = !scale;
    if (!scale) return;
    find("unit").textContent = `${scale.label} (${scale.unit})`;
    find("colours").style.setProperty("--stops", scale.stops.join(", "));
    // Round values, at most six.
    const power = 10 ** Math.floor(Math.log10(scale.top / 5));
    const step = power * [1, 2, 5, 10].find((one) => one * power * 5 >= scale.top);
    const count = Math.floor(scale.top / step + 1e-9) + 1;
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    find("ticks").replaceChildren(...Array.from({ length: count }, (_, i) => {
      const tick = document.createElement("li");
      tick.textContent = (i * step).toFixed(decimals);
      tick.style.setProperty("--at", `${(100 * i * step) / scale.top}%`);
      return tick;
    }));
  }

  async function pane(number, follow) {
    const target = find(`canvas-${number}`);
    const canvas = target.querySelector("canvas");
    const gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
    const [surface, depth, ribbon] = [[VERTEX, FRAGMENT], [VERTEX, DEPTH], [LINE_VERTEX, LINE_FRAGMENT]].map((pair) => program(gl, ...pair));
    const palettes = {};
    for (const [name, scale] of Object.entries(view.scales)) {
      const colours = new Uint8Array(scale.stops.flatMap((stop) => rgb(stop).map((value) => Math.round(255 * value))));
      gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
      palettes[name] = texture(gl, 0, scale.stops.length, 1, [gl.RGB, gl.RGB, gl.UNSIGNED_BYTE], colours, gl.LINEAR);
    }
    texture(gl, 1, SHADOW, SHADOW, [gl.DEPTH_COMPONENT24, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT], null, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    const lamp = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, lamp);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, gl.getParameter(gl.TEXTURE_BINDING_2D), 0);

    function fill(buffer, kind, data, place, size) {
      gl.bindBuffer(kind, buffer);
      gl.bufferData(kind, data, gl.DYNAMIC_DRAW);
      if (place === undefined) return;
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 0, 0);
    }
    const objects = {};
    for (const [name, one] of Object.entries(view.bodies)) {
      const points = await unpack(one.points, Float32Array);
      const triangles = await unpack(one.triangles, Uint32Array);
      const object = { points, triangles, array: gl.createVertexArray(), colour: rgb(one.colour), model: STILL, visible: false, opacity: one.opacity,
        metal: one.metal ? 1 : 0, painted: false, group: one.group, buffers: [0, 1, 2, 3].map(() => gl.createBuffer()) };
      gl.bindVertexArray(object.array);
      fill(object.buffers[0], gl.ARRAY_BUFFER, points, 0, 3);
      fill(object.buffers[1], gl.ARRAY_BUFFER, normalsOf(points, triangles), 1, 3);
      fill(object.buffers[2], gl.ARRAY_BUFFER, new Float32Array(points.length / 3), 2, 1);
      fill(object.buffers[3], gl.ELEMENT_ARRAY_BUFFER, triangles);
      objects[name] = object;
    }
    const lines = { array: gl.createVertexArray(), buffers: [0, 1, 2, 3].map(() => gl.createBuffer()), count: 0, visible: false };
    // Segments of polylines as ribbons; displacements from the first frame are enlarged.
    function setLines(scene, frame, factor) {
      const [points, others, sides, corners] = [[], [], [], []];
      scene.lines[frame].forEach((line, i) => {
        const own = line.map((point, j) => point.map((value, k) => {
          const start = factor > 1 ? scene.lines[0][i][j][k] : value;
          return start + factor * (value - start);
        }));
        for (let j = 1; j < own.length; j += 1) {
          const first = points.length / 3;
          for (const [at, to, side] of [[j - 1, j, 1], [j - 1, j, -1], [j, j - 1, -1], [j, j - 1, 1]]) {
            points.push(...own[at]);
            others.push(...own[to]);
            sides.push(side);
          }
          corners.push(first, first + 1, first + 2, first + 1, first + 3, first + 2);
        }
      });
      gl.bindVertexArray(lines.array);
      [[points, 3], [others, 3], [sides, 1]].forEach(([data, size], place) => fill(lines.buffers[place], gl.ARRAY_BUFFER, new Float32Array(data), place, size));
      fill(lines.buffers[3], gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(corners));
      lines.count = corners.length;
    }

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

    // ---- camera: a direction, what is up, a zoom, and what has to be inside the picture ----
    const FOCUS = view.focus;
    const camera = { direction: [0, 1, 0], up: [-1, 0, 0], zoom: 1 };
    let [middle, shown, matrix, eye] = [[0, 0, 0], [], STILL, [0, 0, 1]];
    const light = unit(view.light);
    function axes() {
      const z = unit(camera.direction);
      const x = unit(cross(camera.up, z));
      return [x, cross(z, x), z];
    }
    // The camera stands as far away as the visible points need.
    function aim() {
      const [x, y, z] = axes();
      const [width, height] = [target.clientWidth || 1, target.clientHeight || 1];
      const ratio = [FOCUS * height / width, FOCUS];
      const reach = [[Infinity, -Infinity], [Infinity, -Infinity]];
      for (const point of shown) [x, y].forEach((axis, i) => {
        const value = dot(axis, point);
        reach[i] = [Math.min(reach[i][0], value), Math.max(reach[i][1], value)];
      });
      const centre = reach.map(([low, high]) => (low + high) / 2);
      const deep = (Math.max(...shown.map((point) => dot(z, point))) + Math.min(...shown.map((point) => dot(z, point)))) / 2;
      middle = [0, 1, 2].map((i) => centre[0] * x[i] + centre[1] * y[i] + deep * z[i]);
      let away = 1;
      for (const point of shown) {
        const from = point.map((value, i) => value - middle[i]);
        [x, y].forEach((axis, i) => { away = Math.max(away, dot(z, from) + Math.abs(dot(axis, from)) * ratio[i] * view.margin); });
      }
      away *= camera.zoom;
      eye = middle.map((value, i) => value + away * z[i]);
      const [near, far] = [0.2 * away, 4 * away];
      const [a, b] = [(far + near) / (near - far), (2 * far * near) / (near - far)];
      const rows = [x.map((value) => value * ratio[0]), y.map((value) => value * ratio[1])];
      matrix = [...rows[0], -dot(rows[0], eye), ...rows[1], -dot(rows[1], eye),
        ...z.map((value) => value * a), -a * dot(z, eye) + b, ...z.map((value) => -value), dot(z, eye)];
    }
    // Pixels from the left and top of the canvas, and depth.
    function project([x, y, z]) {
      const w = matrix[12] * x + matrix[13] * y + matrix[14] * z + matrix[15];
      const at = moved(matrix, x, y, z).map((value) => value / w);
      return [(1 + at[0]) * target.clientWidth / 2, (1 - at[1]) * target.clientHeight / 2, at[2]];
    }
    function place({ word, point }, taken = []) {
      const [x, y] = project(point);
      const [half, tall] = [word.offsetWidth / 2, word.offsetHeight / 2];
      let left = Math.min(Math.max(x, half), target.clientWidth - half);
      const top = Math.min(Math.max(y, 9), target.clientHeight - 9);
      for (const box of taken) {
        if (left + half > box.left && left - half < box.right && top + tall > box.top && top - tall < box.bottom) left = box.left - half - 4;
      }
      word.style.left = `${left}px`;
      word.style.top = `${top}px`;
    }
    // Boxes of the colour bar and of its heading, where they lie on the picture.
    function takenByScale() {
      if (find("scale").hidden) return [];
      const bounds = target.getBoundingClientRect();
      return [[find("colours"), ...find("ticks").children], [find("unit")]].map((parts) => {
        const boxes = parts.map((one) => one.getBoundingClientRect());
        return { left: Math.min(...boxes.map((one) => one.left)) - bounds.left, right: Math.max(...boxes.map((one) => one.right)) - bounds.left,
          top: Math.min(...boxes.map((one) => one.top)) - bounds.top, bottom: Math.max(...boxes.map((one) => one.bottom)) - bounds.top };
      });
    }

    let [waiting, scene] = [false, null];
    function render() {
      if (!waiting) requestAnimationFrame(draw);
      waiting = true;
    }
    function draw() {
      waiting = false;
      const pixels = Math.min(2, window.devicePixelRatio || 1);
      const [width, height] = [target.clientWidth * pixels, target.clientHeight * pixels].map(Math.round);
      if (!width || !height || !shown.length) return;
      if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
      aim();
      // The lamp sees the same points without perspective.
      const up = Math.abs(light[1]) > 0.9 ? [1, 0, 0] : [0, 1, 0];
      const x = unit(cross(up, light));
      const frame = [x, cross(light, x), light.map((value) => -value)].map((axis) => {
        const own = shown.map((point) => dot(axis, point));
        const [low, high] = [Math.min(...own), Math.max(...own)];
        const scale = 1.9 / Math.max(high - low, 1e-6);
        return [...axis.map((value) => value * scale), -scale * (low + high) / 2];
      });
      const seenByLamp = [...frame.flat(), 0, 0, 0, 1];
      const visible = Object.values(objects).filter((one) => one.visible);
      // What is seen through comes last.
      visible.sort((a, b) => b.opacity - a.opacity);
      gl.enable(gl.DEPTH_TEST);
      gl.depthFunc(gl.LEQUAL);
      gl.disable(gl.BLEND);
      gl.bindFramebuffer(gl.FRAMEBUFFER, lamp);
      gl.viewport(0, 0, SHADOW, SHADOW);
      gl.clear(gl.DEPTH_BUFFER_BIT);
      gl.useProgram(depth.made);
      gl.uniformMatrix4fv(depth.at.camera, false, seenByLamp);
      for (const one of visible) {
        if (one.opacity < 1) continue;
        gl.bindVertexArray(one.array);
        gl.uniformMatrix4fv(depth.at.model, false, one.model);
        gl.drawElements(gl.TRIANGLES, one.triangles.length, gl.UNSIGNED_INT, 0);
      }
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      gl.viewport(0, 0, width, height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      gl.useProgram(surface.made);
      const at = surface.at;
      gl.uniformMatrix4fv(at.camera, false, matrix);
      gl.uniformMatrix4fv(at.lamp, false, seenByLamp);
      gl.uniform3fv(at.eye, eye);
      gl.uniform3fv(at.light, light);
      gl.uniform1i(at.palette, 0);
      gl.uniform1i(at.shadow, 1);
      const scale = view.scales[scene.scale];
      gl.activeTexture(gl.TEXTURE0);
      gl.bindTexture(gl.TEXTURE_2D, palettes[scene.scale] || null);
      gl.uniform1f(at.steps, scale ? scale.steps : 2);
      gl.uniform3fv(at.zero, rgb(scale ? scale.zero : "#ffffff"));
      for (const one of visible) {
        gl.bindVertexArray(one.array);
        gl.uniformMatrix4fv(at.model, false, one.model);
        gl.uniform3fv(at.plain, one.colour);
        gl.uniform1f(at.opacity, one.opacity);
        gl.uniform1f(at.metal, one.metal);
        gl.uniform1f(at.painted, one.painted ? 1 : 0);
        // A painted sheet lies on the solid that it is a part of.
        if (one.painted) gl.enable(gl.POLYGON_OFFSET_FILL);
        gl.polygonOffset(-2, -4);
        if (one.opacity < 1) {
          gl.colorMask(false, false, false, false);
          gl.drawElements(gl.TRIANGLES, one.triangles.length, gl.UNSIGNED_INT, 0);
          gl.colorMask(true, true, true, true);
        }
        gl.drawElements(gl.TRIANGLES, one.triangles.length, gl.UNSIGNED_INT, 0);
        gl.disable(gl.POLYGON_OFFSET_FILL);
      }
      if (lines.visible && lines.count) {
        gl.useProgram(ribbon.made);
        gl.uniformMatrix4fv(ribbon.at.camera, false, matrix);
        gl.uniform2f(ribbon.at.size, width, height);
        gl.uniform3fv(ribbon.at.plain, rgb(view.line_colour));
        gl.bindVertexArray(lines.array);
        gl.drawElements(gl.TRIANGLES, lines.count, gl.UNSIGNED_INT, 0);
      }
      const taken = takenByScale();
      ends.forEach((one) => place(one, taken));
      largest.forEach((one) => place(one));
    }
    new ResizeObserver(render).observe(target);

    function turn(right, down) {
      const [x] = axes();
      const before = [camera.direction, camera.up];
      [camera.direction, camera.up] = before.map((one) => turned(one, x, -down));
      // The picture is not turned upside down.
      if (axes()[1][1] < -0.001) [camera.direction, camera.up] = before;
      camera.direction = turned(camera.direction, [0, 1, 0], -right);
      camera.up = turned(camera.up, [0, 1, 0], -right);
      changed();
    }
    function changed() {
      render();
      follow(number, camera);
    }
    let grabbed = null;
    canvas.addEventListener("pointerdown", (event) => {
      grabbed = [event.clientX, event.clientY];
      canvas.setPointerCapture(event.pointerId);
    });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { grabbed = null; });
    canvas.addEventListener("wheel", (event) => {
      // The page scrolls unless the picture was chosen.
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      zoomBy(Math.exp(event.deltaY * 0.001));
    }, { passive: false });
    function zoomBy(factor) {
      camera.zoom = Math.min(2, Math.max(0.25, camera.zoom * factor));
      changed();
    }
    canvas.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
      if (steps[event.key]) turn(...steps[event.key]);
      else if (event.key === "+" || event.key === "=") zoomBy(0.9);
      else if (event.key === "-") zoomBy(1.1);
      else return;
      event.preventDefault();
    });

    let points = new Float32Array(0);
    let values = new Float32Array(0);
    const vertex = (i) => [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
    function look(name) {
      const direction = view.directions[name];
      [camera.direction, camera.up, camera.zoom] = [direction.slice(0, 3), direction.slice(3), 1];
      changed();
    }
    canvas.addEventListener("pointermove", (event) => {
      if (grabbed) {
        turn((event.clientX - grabbed[0]) * 0.008, (event.clientY - grabbed[1]) * 0.008);
        grabbed = [event.clientX, event.clientY];
        return;
      }
      const bounds = target.getBoundingClientRect();
      const [left, top] = [event.clientX - bounds.left, event.clientY - bounds.top];
      let [found, nearest] = [-1, Infinity];
      for (let i = 0; view.ends.length && i < values.length; i += 1) {
        const [x, y, away] = project(vertex(i));
        if (Math.hypot(x - left, y - top) < 5 && away < nearest) [found, nearest] = [i, away];
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
    canvas.addEventListener("pointerleave", () => { pointed.word.hidden = true; });

    // Corners of the boxes of visible bodies: what the camera and the lamp look at.
    function cornersOf(names) {
      const corners = [];
      for (const name of names) {
        const one = objects[name];
        const box = [0, 1, 2].map(() => [Infinity, -Infinity]);
        one.points.forEach((value, i) => {
          box[i % 3][0] = Math.min(box[i % 3][0], value);
          box[i % 3][1] = Math.max(box[i % 3][1], value);
        });
        for (let i = 0; i < 8; i += 1) corners.push(moved(one.model, box[0][i & 1], box[1][(i >> 1) & 1], box[2][i >> 2]));
      }
      return corners;
    }
    const isShown = (group) => !group || document.querySelector(`[data-group="${group}"]`)?.checked !== false;
    let framed = null;
    async function show() {
      scene = sceneOf(number);
      const frame = scene.frames ? Math.min(Number(find("frame").value), scene.frames.length - 1) : 0;
      const factor = Number(find("enlarge")?.value || 1);
      for (const [name, object] of Object.entries(objects)) {
        object.visible = scene.bodies.includes(name) && isShown(object.group);
        if (!object.visible) continue;
        const poses = scene.poses?.[name] || scene.poses?.[object.group];
        object.model = poses ? poses[Math.min(frame, poses.length - 1)] : STILL;
        object.opacity = scene.opacity?.[object.group] ?? view.bodies[name].opacity;
        object.painted = scene.coloured === name;
        gl.bindVertexArray(object.array);
        if (scene.points?.[name]) {
          const [start, now] = await Promise.all([0, frame].map((i) => unpack(scene.points[name][i], Float32Array)));
          object.points = now.map((value, i) => start[i] + factor * (value - start[i]));
          gl.bindVertexArray(object.array);
          fill(object.buffers[0], gl.ARRAY_BUFFER, object.points, 0, 3);
          fill(object.buffers[1], gl.ARRAY_BUFFER, normalsOf(object.points, object.triangles), 1, 3);
        }
        if (object.painted) {
          const all = await unpack(scene.colours, Uint8Array);
          points = object.points;
          values = Float32Array.from(all.subarray(frame * points.length / 3, (frame + 1) * points.length / 3));
          gl.bindVertexArray(object.array);
          fill(object.buffers[2], gl.ARRAY_BUFFER, values, 2, 1);
        }
      }
      lines.visible = Boolean(scene.lines) && isShown("lines");
      if (lines.visible) setLines(scene, frame, factor);
      const present = Object.keys(objects).filter((name) => objects[name].visible);
      const key = `${view.scenes.indexOf(scene)} ${present}`;
      if (key !== framed) {
        framed = key;
        shown = cornersOf(present);
      }
      const painted = scene.coloured ? cornersOf([scene.coloured]) : shown;
      const range = [0, 1, 2].map((i) => [Math.min(...painted.map((one) => one[i])), Math.max(...painted.map((one) => one[i]))]);
      const width = Math.max(...range.map(([low, high]) => high - low));
      for (const one of ends) {
        one.point = range.map((pair, i) => (i === one.axis ? pair[one.end] + (one.end ? 0.05 : -0.05) * width : i === 1 ? pair[0] : (pair[0] + pair[1]) / 2));
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
      render();
      find(`title-${number}`).textContent = [scene.title, scene.frames?.[frame], scene.texts?.[frame],
        scene.outside ? "outside validity" : ""].filter(Boolean).join(", ");
      return { scene, frame, sum: values.reduce((sum, value) => sum + value, 0) };
    }
    return { show, look, render, camera };
  }

  const CURVE = { width: 300, height: 96, left: 6, right: 6, top: 8, bottom: 8 };
  function part(name, attributes, parent, text) {
    const one = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
    if (text !== undefined) one.textContent = text;
    parent.append(one);
    return one;
  }
  // Curves over the frames; the frame of the view is marked, and one that is pointed at is shown.
  function drawCurves(place, scene, choose) {
    const curves = scene.curves || [];
    place.hidden = !curves.length;
    place.replaceChildren();
    return curves.map((curve) => {
      const known = curve.lines.flatMap((line) => line.values.filter((value) => value !== null));
      const [low, high] = [Math.min(0, ...known), Math.max(0, ...known)];
      const count = curve.lines[0].values.length;
      const inner = [CURVE.width - CURVE.left - CURVE.right, CURVE.height - CURVE.top - CURVE.bottom];
      const across = (i) => CURVE.left + (i / Math.max(count - 1, 1)) * inner[0];
      const up = (value) => CURVE.top + (1 - (value - low) / (high - low || 1)) * inner[1];
      const figure = document.createElement("figure");
      const words = document.createElement("figcaption");
      const svg = part("svg", { viewBox: `0 0 ${CURVE.width} ${CURVE.height}`, role: "img", "aria-label": `${curve.label} (${curve.unit}) over the cycle` }, figure);
      part("line", { x1: CURVE.left, x2: CURVE.width - CURVE.right, y1: up(0), y2: up(0), class: "zero" }, svg);
      for (const line of curve.lines) {
        let [path, pen] = ["", "M"];
        line.values.forEach((value, i) => {
          if (value !== null) path += `${pen}${across(i).toFixed(1)} ${up(value).toFixed(1)}`;
          pen = value === null ? "M" : "L";
        });
        part("path", { d: path, stroke: line.colour, fill: "none" }, svg);
      }
      const mark = part("line", { y1: CURVE.top, y2: CURVE.height - CURVE.bottom, class: "now" }, svg);
      svg.addEventListener("pointerdown", (event) => {
        const box = svg.getBoundingClientRect();
        const at = ((event.clientX - box.left) / box.width * CURVE.width - CURVE.left) / inner[0];
        choose(Math.round(Math.min(Math.max(at, 0), 1) * (count - 1)));
      });
      figure.prepend(words);
      place.append(figure);
      return (frame) => {
        for (const end of ["x1", "x2"]) mark.setAttribute(end, across(frame));
        words.replaceChildren(`${curve.label} (${curve.unit}) `);
        for (const line of curve.lines) {
          const one = document.createElement("span");
          const value = line.values[frame];
          one.textContent = `${curve.lines.length > 1 ? `${line.name} ` : ""}${value === null ? "–" : String(Number(value.toPrecision(3))).replace("-", "\u2212")} `;
          one.style.borderColor = line.colour;
          words.append(one);
        }
      };
    });
  }

  async function start() {
    const main = document.getElementById("viewer");
    main.hidden = false;
    const panes = [];
    // A turn of one camera turns the other one.
    const follow = (from, camera) => panes.forEach((one, i) => {
      if (i === from) return;
      Object.assign(one.camera, { direction: camera.direction, up: camera.up, zoom: camera.zoom });
      one.render();
    });
    for (const number of view.panes ? [0, 1] : [0]) panes.push(await pane(number, follow));
    let [busy, again, scene, marks] = [false, false, null, []];
    const choose = (frame) => {
      find("frame").value = frame;
      show();
    };
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
      if (next !== scene) marks = drawCurves(find("curves"), next, choose);
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
      marks.forEach((mark) => mark(shown[0].frame));
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
    panes.forEach((one) => one.look(view.first_direction));
    document.body.dataset.viewer = "ready";
  }

  function hasWebGL() {
    try {
      return Boolean(window.DecompressionStream && document.createElement("canvas").getContext("webgl2"));
    } catch {
      return false;
    }
  }
  // The page is read and its still picture painted first: without a graphics card, WebGL takes a
  // second to begin.
  document.addEventListener("DOMContentLoaded", () => requestAnimationFrame(() => setTimeout(() => {
    if (!hasWebGL()) return;
    start().catch((reason) => {
      document.getElementById("viewer").hidden = true;
      delete document.body.dataset.viewer;
      console.error(reason);
    });
  })));
})();
