// A page that moves is told that something happened, asks for itself again, and takes over what is
// new: the server alone says what there is. The stream goes on behind the last position.

const CALM_MS = 250;
const asSent = new WeakMap(); // what the server sent, before ages and the like were written in

export function follow(main, changed) {
  if (!main) return;
  remember(main);
  let stream, timer, last = 0;
  const open = () => {
    if (stream || document.hidden) return;
    const address = new URL(main.dataset.live, location);
    if (last) address.searchParams.set("after", last);
    stream = new EventSource(address);
    stream.onmessage = (event) => {
      last = event.lastEventId;
      timer ??= setTimeout(() => { timer = undefined; refresh(main, changed); }, CALM_MS);
    };
  };
  const close = () => { stream?.close(); stream = undefined; };
  // A browser has few connections to one host: a page that nobody sees holds none.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close(); else open();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
}

function refresh(main, changed) {
  const asking = new XMLHttpRequest();
  asking.open("GET", location.href);
  asking.setRequestHeader("Accept", "text/html");
  asking.responseType = "document"; // parsed, and nothing in it runs
  asking.onload = () => {
    const fresh = asking.response?.querySelector("main");
    if (asking.status === 401) location.reload();
    if (asking.status !== 200 || !fresh) return;
    take(main, fresh);
    const nav = asking.response.querySelector("nav");
    if (nav) document.querySelector("nav").replaceChildren(...nav.childNodes);
    remember(main);
    changed(document);
  };
  asking.send();
}

function remember(main) {
  for (const each of main.querySelectorAll("[id]")) {
    if (!asSent.has(each)) asSent.set(each, each.cloneNode(true));
  }
}

// What is as it was stays, with its focus, its scroll and what was unfolded; the rest is replaced.
function take(old, fresh) {
  const known = new Map([...old.children].filter((each) => each.id).map((each) => [each.id, each]));
  const wanted = [...fresh.children].map((next) => {
    const now = known.get(next.id);
    if (!now) return next;
    if (next.matches("[data-parts]")) { take(now, next); return now; }
    if (asSent.get(now)?.isEqualNode(next)) return now;
    if (now.contains(document.activeElement) && now.querySelector("input, textarea")) return now;
    for (const opened of now.querySelectorAll("details[id][open]")) {
      next.querySelector(`#${CSS.escape(opened.id)}`)?.setAttribute("open", "");
    }
    return next;
  });
  if (wanted.length !== old.children.length || wanted.some((each, n) => each !== old.children[n])) {
    old.replaceChildren(...wanted);
  }
}
