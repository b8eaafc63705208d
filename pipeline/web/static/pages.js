// Every page has this one script: what moves, what is sent, and how long ago things were.
import { follow } from "./live.js";
import { sendForms } from "./forms.js";

const MINUTE = 60, HOUR = 3600, DAY = 86400;

// "3 minutes ago" beside the time of day: by the clock of whoever looks.
export function tellAges(root) {
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  for (const each of root.querySelectorAll("time[datetime]")) {
    const seconds = (Date.parse(each.dateTime) - Date.now()) / 1000, size = Math.abs(seconds);
    if (size > 7 * DAY) continue;
    const [unit, of] = size < MINUTE ? ["second", 1] : size < HOUR ? ["minute", MINUTE]
      : size < DAY ? ["hour", HOUR] : ["day", DAY];
    each.title ||= each.textContent;
    each.textContent = words.format(Math.round(seconds / of), unit);
  }
}

sendForms(document);
follow(document.querySelector("main[data-live]"), tellAges);
tellAges(document);

document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// A slider shows what it is moved to without a button.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-at-once]")) event.target.form.requestSubmit();
});
