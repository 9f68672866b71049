// Search, where the pages are read from the disk: browsers refuse a worker from there. This one runs in a frame, which
// they allow.

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const load = (source) => new Promise((done, failed) => {
        const script = inside.document.createElement("script");
        Object.assign(script, { src: new URL(source, this.address ?? location.href).href, onload: done, onerror: failed });
        inside.document.body.append(script);
      });
      inside.importScripts = (...sources) => sources.reduce((before, next) => before.then(() => load(next)), Promise.resolve());
      this.ready = load(address);
      this.address = new URL(address, location.href).href;
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() { this.frame.remove(); }
  };
}
