// A form that changes something is sent as JSON, with the secret that stands in our pages alone.

export function sendForms(root) {
  root.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.dataset.path) return;
    event.preventDefault();
    if (form.dataset.ask && !confirm(form.dataset.ask)) return;
    const body = bodyOf(form, event.submitter);
    if (body) send(form, body);
  });
}

function say(text, bad = false) {
  const place = document.getElementById("said");
  place.className = bad ? "bad" : "";
  place.textContent = text;
}

function bodyOf(form, button) {
  const answers = form.matches(".answer");
  const body = form.dataset.body ? JSON.parse(form.dataset.body) : {};
  for (const field of form.elements) {
    if (!field.name || field.type === "submit") continue;
    const value = field.type === "checkbox" ? field.checked : field.value;
    if (field.dataset.of) (body[field.dataset.of] ??= {})[field.name] = value;
    else if (value !== "") body[field.name] = value;
  }
  if (!answers) return body;
  body.approved = button.value === "yes";
  if (button.dataset.choice) body.choice = Number(button.dataset.choice);
  if (button.dataset.myself) body.myself = true;
  const phrase = form.elements.phrase;
  if (body.approved && phrase && phrase.value !== phrase.dataset.wanted) {
    say(`To say yes, type ${phrase.dataset.wanted} as it stands.`, true);
    phrase.focus();
    return undefined;
  }
  return body;
}

async function send(form, body) {
  const buttons = [...form.querySelectorAll("button")];
  for (const each of buttons) each.disabled = true;
  say("Sending ...");
  try {
    const { method, path, then, said } = form.dataset;
    const csrf = document.querySelector("meta[name=csrf]").content;
    const headers = { "X-Rutter-CSRF": csrf, "Accept": "application/json" };
    const bare = !Object.keys(body).length;
    if (!bare) headers["Content-Type"] = "application/json";
    const answer = await fetch(path, { method, headers, body: bare ? undefined : JSON.stringify(body) });
    const told = answer.status === 204 ? {} : await answer.json();
    if (!answer.ok) throw new Error(told.message);
    say(said || "Done.");
    if (then) location.assign(then.replace(/\{(\w+)\}/, (_, name) => encodeURIComponent(told[name])));
    else if (!document.querySelector("main[data-live]")) location.reload();
    form.dispatchEvent(new CustomEvent("sent", { bubbles: true, detail: told }));
  } catch (error) {
    say(error.message || "The daemon does not answer.", true);
    for (const each of buttons) each.disabled = false;
  }
}
