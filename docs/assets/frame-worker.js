// Pages opened from disk may not start a Worker, which the search runs in: give it a frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      const script = inside.document.createElement("script");
      // What the script posts is heard here; what is posted here waits until the script listens.
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = new Promise(listening => { script.onload = () => listening(inside); });
      script.src = url;
      inside.document.body.append(script);
    }
    postMessage(data) {
      this.ready.then(inside => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
