// What the page's scripts have put off: timers, frames, idle time. This one part runs in the page's own
// world, because nothing else knows of them. It is a hint about how long to wait and about nothing else:
// a page that lies here is waited for less, or up to the limit. It answers to a name that the page
// cannot guess, with what it kept from before the page's first script ran.
(() => {
  const ASKED = "/* NAME */?", TOLD = "/* NAME */!";
  const LONGEST_MS = 2000; // what is put off further follows from the clock, not from what was just done
  const RECURS = 3; // what has run so often since the last input would go on for ever
  const apply = Reflect.apply, stringify = JSON.stringify, Told = CustomEvent, sourceOf = Function.prototype.toString;
  const dispatch = EventTarget.prototype.dispatchEvent, now = performance.now.bind(performance);
  const has = Map.prototype.get, put = Map.prototype.set, drop = Map.prototype.delete, each = Map.prototype.forEach, clear = Map.prototype.clear;
  const timers = new Map(), frames = new Map(), periods = new Map(), runs = new Map();

  const keyOf = (run, ms) => {
    const source = apply(sourceOf, run, []);
    return `${ms}:${source.length}:${source.slice(0, 120)}`;
  };

  // Calls what `schedule` is given to run later, and knows until then that it is due.
  const noting = (schedule, noted, entryOf) => new Proxy(schedule, {
    apply(target, self, given) {
      const [run, ...others] = given;
      const entry = typeof run === "function" ? entryOf(run, others[0]) : null;
      if (!entry) return apply(target, self, given);
      let id = 0;
      const wrapped = function (...said) {
        if (noted !== periods) apply(drop, noted, [id]);
        if (entry.key) apply(put, runs, [entry.key, (apply(has, runs, [entry.key]) || 0) + 1]);
        return apply(run, this, said);
      };
      id = apply(target, self, [wrapped, ...others]);
      apply(put, noted, [id, entry]);
      return id;
    },
  });

  const dropping = (cancel, ...noted) => new Proxy(cancel, {
    apply(target, self, given) {
      for (const one of noted) apply(drop, one, [given[0]]);
      return apply(target, self, given);
    },
  });

  const timer = (run, ms) => {
    const delay = Number(ms) > 0 ? Number(ms) : 0;
    return delay <= LONGEST_MS ? { at: now() + delay, key: keyOf(run, delay) } : null;
  };
  const period = (_, ms) => (Number(ms) >= 20 && Number(ms) <= LONGEST_MS ? { ms: Number(ms) } : null);
  const soon = (run) => ({ at: now(), key: keyOf(run, "") });

  window.setTimeout = noting(window.setTimeout, timers, timer);
  window.setInterval = noting(window.setInterval, periods, period);
  window.clearTimeout = dropping(window.clearTimeout, timers, periods);
  window.clearInterval = dropping(window.clearInterval, timers, periods);
  window.requestAnimationFrame = noting(window.requestAnimationFrame, frames, soon);
  window.cancelAnimationFrame = dropping(window.cancelAnimationFrame, frames);
  if (window.requestIdleCallback) {
    window.requestIdleCallback = noting(window.requestIdleCallback, frames, soon);
    window.cancelIdleCallback = dropping(window.cancelIdleCallback, frames);
  }

  const recurs = ({ key }) => (apply(has, runs, [key]) || 0) >= RECURS;
  // By this name `listened.js` knows that it is not the page that listens to keys.
  const rutterInput = (event) => {
    if (event.isTrusted) apply(clear, runs, []);
  };
  for (const type of ["pointerdown", "keydown", "input"]) window.addEventListener(type, rutterInput, { capture: true, passive: true });

  document.addEventListener(ASKED, () => {
    let due = -1, frame = 0, every = 0;
    apply(each, timers, [(one) => !recurs(one) && (due = Math.max(due, one.at - now(), 0))]);
    apply(each, frames, [(one) => !recurs(one) && frame++]);
    apply(each, periods, [({ ms }) => (every = Math.max(every, ms))]);
    apply(dispatch, document, [new Told(TOLD, { detail: stringify({ due, frame, every }) })]);
  });
})();
