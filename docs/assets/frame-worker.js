// Words of a question that every page has, or that begin the titles of other pages ("the", Theory): the
// search compares beginnings of words, and titles first.
const COMMON = new Set(
  ("a about all am an and any are as at be been but by can could do does for from get had has have how i if in into is " +
    "it its may me mine must my no not of on or our own should so than that the their them then there these they this " +
    "to up was we were what when where which while who why will with would you your").split(" "),
);
function withoutCommonWords(message) {
  if (message?.type !== 2 || typeof message.data !== "string") return message;
  const words = message.data.split(/\s+/);
  const left = words.filter(word => !COMMON.has(word.toLowerCase().replace(/[?.,!"]/g, "")));
  return left.join("") ? { ...message, data: left.join(" ").replace(/[?!]/g, "") } : message;
}
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
      const message = { data: withoutCommonWords(data) };
      this.ready.then(inside => inside.dispatchEvent(new MessageEvent("message", message)));
    }
  };
} else {
  window.Worker = class extends window.Worker {
    postMessage(data, ...rest) {
      super.postMessage(withoutCommonWords(data), ...rest);
    }
  };
}
