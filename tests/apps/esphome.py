"""ESPHome's dashboard: a wizard for a new device, all of it in shadow roots; one file for each."""

from tests.apps.app import App, Place, Values, pick
from tests.apps.forgetting import taken_away
from tests.apps.installing import pip


def values(run: int) -> Values:
    return {"name": pick(run, "Quay lamp", "Tide gauge", "Fog horn", "Buoy light") + f" {run}"}


def judge(place: Place, values: Values) -> str:
    slug = values["name"].lower().replace(" ", "-")
    kept = place.home / "devices" / f"{slug}.yaml"
    if not kept.exists():
        return f"no {kept.name} among {sorted(p.name for p in kept.parent.glob('*.yaml'))}"
    text = kept.read_text()
    wanted = (f"  name: {slug}\n", f"  friendly_name: {values['name']}\n", "board: esp32-c3")
    return "".join(f"no {each!r} in {kept.name}" for each in wanted if text.count(each) != 1)


def prepare(place: Place) -> None:
    """A house that has its first device behind it: the wizard asks for the network only once."""
    (place.home / "devices").mkdir()
    network = 'wifi_ssid: "harbour"\nwifi_password: "anchor and chain"\n'
    (place.home / "devices" / "secrets.yaml").write_text(network)
    first = "esphome:\n  name: hall-lamp\nesp32:\n  board: esp32-c3-devkitm-1\n"
    (place.home / "devices" / "hall-lamp.yaml").write_text(first)


APP = App(
    name="esphome",
    title="ESPHome dashboard",
    framework="Lit, Material web components",
    covers=("components with shadow roots", "wizard"),
    packages=pip("esphome==2026.6.5"),
    command=lambda place: (
        "esphome",
        "dashboard",
        "devices",
        "--port",
        str(place.port),
        "--address",
        "127.0.0.1",
    ),
    values=values,
    judge=judge,
    forgets=lambda place: taken_away(place.home / "devices", "*.yaml"),
    prepare=prepare,
)
