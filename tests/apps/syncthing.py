"""Syncthing's own page: a shared folder and its settings, kept in config.xml."""

import xml.etree.ElementTree as ET
from contextlib import AbstractContextManager

import httpx

from tests.apps.app import App, Place, Values, once, pick
from tests.apps.forgetting import withdrawn
from tests.apps.installing import debian

ALONE = {  # it speaks to nobody
    "urAccepted": "-1",
    "globalAnnounceEnabled": "false",
    "localAnnounceEnabled": "false",
    "relaysEnabled": "false",
    "natEnabled": "false",
    "crashReportingEnabled": "false",
    "autoUpgradeIntervalH": "0",
}


def prepare(place: Place) -> None:
    home = str(place.home / "sync")
    place.run("syncthing", "generate", "--home", home, "--no-default-folder")
    config = place.home / "sync" / "config.xml"
    tree = ET.parse(config)
    options = tree.getroot().find("options")
    assert options is not None
    for name, value in ALONE.items():
        found = options.find(name)
        assert found is not None, name
        found.text = value
    listen = options.find("listenAddress")
    assert listen is not None
    listen.text = "tcp://127.0.0.1:0"
    tree.write(config)


def values(run: int) -> Values:
    return {
        "label": pick(run, "Charts", "Logbooks", "Manifests", "Crew papers") + f" {run}",
        "folder": f"folder-{run:03}",
        "days": str(20 + run),
    }


def judge(place: Place, values: Values) -> str:
    root = ET.parse(place.home / "sync" / "config.xml").getroot()
    found = [each for each in root.findall("folder") if each.get("id") == values["folder"]]
    if len(found) != 1:
        return once(len(found), "folder")
    [folder] = found
    versioning = folder.find("versioning")
    assert versioning is not None
    params = {each.get("key"): each.get("val") for each in versioning.findall("param")}
    got = (
        folder.get("label"),
        folder.get("type"),
        versioning.get("type"),
        params.get("cleanoutDays"),
    )
    wanted = (values["label"], "sendonly", "trashcan", values["days"])
    return "" if got == wanted else f"it has {got}"


def forgets(place: Place) -> AbstractContextManager[None]:
    key = ET.parse(place.home / "sync" / "config.xml").findtext("gui/apikey", "")
    door = httpx.Client(base_url=place.base, headers={"X-API-Key": key})

    def names() -> set[str]:
        return {folder["id"] for folder in door.get("/rest/config/folders").json()}

    return withdrawn(names, lambda name: door.delete(f"/rest/config/folders/{name}"))


APP = App(
    name="syncthing",
    title="Syncthing",
    framework="AngularJS, Bootstrap",
    covers=("dialog with tabs", "lists of choices"),
    packages=debian("syncthing=1.19.2~ds1-1+b4"),
    command=lambda place: (
        "syncthing",
        "serve",
        "--home",
        str(place.home / "sync"),
        "--no-browser",
        f"--gui-address=127.0.0.1:{place.port}",
        "--no-restart",
        "--no-upgrade",
    ),
    values=values,
    judge=judge,
    forgets=forgets,
    prepare=prepare,
)
