// Draw MOTION on the canvas: bars between link frames, a floor, arrows for contact forces.
(() => {
  const canvas = document.getElementById('animation');
  const slider = document.getElementById('time');
  const button = document.getElementById('play');
  const clock = document.getElementById('clock');
  const pen = canvas.getContext('2d');
  const frames = MOTION.points.map(row => {
    const points = [];
    for (let i = 0; i < row.length; i += 3) {
      points.push([row[i] * MOTION.unit, row[i + 1] * MOTION.unit, row[i + 2] * MOTION.unit]);
    }
    return points;
  });
  // The box around everything that the robot reaches.
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (const points of frames) for (const p of points) for (let k = 0; k < 3; k++) {
    low[k] = Math.min(low[k], p[k]);
    high[k] = Math.max(high[k], p[k]);
  }
  if (MOTION.ground !== null) {
    low[2] = Math.min(low[2], MOTION.ground);
    high[2] = Math.max(high[2], MOTION.ground);
  }
  const middle = low.map((x, k) => (x + high[k]) / 2);
  const size = Math.max(0.2, Math.hypot(...low.map((x, k) => high[k] - x)));
  let yaw = -0.7, pitch = 0.35, zoom = 1, frame = 0, playing = true, began = performance.now();
  slider.max = frames.length - 1;

  function project(p) {
    const x = p[0] - middle[0], y = p[1] - middle[1], z = p[2] - middle[2];
    const across = Math.cos(yaw) * x + Math.sin(yaw) * y;
    const depth = -Math.sin(yaw) * x + Math.cos(yaw) * y;
    const up = Math.cos(pitch) * z + Math.sin(pitch) * depth;
    const scale = zoom * 0.85 * Math.min(canvas.width, canvas.height) / size;
    return [canvas.width / 2 + scale * across, canvas.height / 2 - scale * up];
  }

  function line(a, b, colour, width) {
    const [x0, y0] = project(a), [x1, y1] = project(b);
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * ratio;
    canvas.height = 520 * ratio;
    pen.lineCap = 'round';
    if (MOTION.ground !== null) {
      const step = size / 8;
      for (let i = -6; i <= 6; i++) {
        const z = MOTION.ground, x = middle[0], y = middle[1];
        line([x + i * step, y - 6 * step, z], [x + i * step, y + 6 * step, z], '#e3e8ee', ratio);
        line([x - 6 * step, y + i * step, z], [x + 6 * step, y + i * step, z], '#e3e8ee', ratio);
      }
    }
    const points = frames[frame];
    for (const [a, b] of MOTION.bars) line(points[a], points[b], '#22303c', 6 * ratio);
    for (const p of points) {
      const [x, y] = project(p);
      pen.fillStyle = '#2e86ab';
      pen.beginPath();
      pen.arc(x, y, 5 * ratio, 0, 7);
      pen.fill();
    }
    for (const [x, y, z, fx, fy, fz] of (MOTION.contacts ? MOTION.contacts[frame] : [])) {
      const scale = 0.3 * size / MOTION.largest_force;
      line([x, y, z], [x + scale * fx, y + scale * fy, z + scale * fz], '#e4572e', 3 * ratio);
    }
    slider.value = frame;
    clock.textContent = MOTION.times[frame].toFixed(2) + ' s';
  }

  function tick(now) {
    if (playing) {
      const end = MOTION.times[MOTION.times.length - 1];
      const at = ((now - began) / 1000) % (end + 0.5);
      frame = MOTION.times.findIndex(time => time >= at);
      if (frame < 0) frame = frames.length - 1;
    }
    draw();
    requestAnimationFrame(tick);
  }

  button.onclick = () => {
    playing = !playing;
    began = performance.now() - 1000 * MOTION.times[frame];
    button.textContent = playing ? 'pause' : 'play';
  };
  slider.oninput = () => {
    playing = false;
    button.textContent = 'play';
    frame = Number(slider.value);
  };
  canvas.onpointermove = event => {
    if (event.buttons) {
      yaw -= 0.01 * event.movementX;
      pitch = Math.max(-1.5, Math.min(1.5, pitch + 0.01 * event.movementY));
    }
  };
  canvas.onwheel = event => {
    event.preventDefault();
    zoom *= Math.exp(-0.001 * event.deltaY);
  };
  requestAnimationFrame(tick);
})();
