"""Django's admin as it is shipped: users with their dates, permissions and groups."""

import sqlite3

from tests.apps.app import App, Place, Values, once, pick
from tests.apps.forgetting import undone
from tests.apps.installing import pip

PASSWORD = "Halyard-42-brass"

UNCHANGED = (
    "AFTER UPDATE OF first_name ON auth_user BEGIN UPDATE auth_user SET first_name ="
    " OLD.first_name, last_name = OLD.last_name, email = OLD.email WHERE id = OLD.id; END"
)


def prepare(place: Place) -> None:
    place.run("django-admin", "startproject", "harbour", ".")
    settings = place.home / "harbour" / "settings.py"
    settings.write_text(settings.read_text() + "\nALLOWED_HOSTS = ['*']\n")
    place.run("python", "manage.py", "migrate")
    place.run(
        "python", "manage.py", "createsuperuser", "--noinput", "--username=mate",
        "--email=mate@harbour.example", DJANGO_SUPERUSER_PASSWORD=PASSWORD,
    )  # fmt: skip
    crew = (
        "from django.contrib.auth.models import Group, User\n"
        "Group.objects.bulk_create(Group(name=n) for n in ('Deck', 'Engine', 'Galley'))\n"
        "User.objects.bulk_create(User(username=f'hand{n:03}') for n in range(60))"
    )
    place.run("python", "manage.py", "shell", "-c", crew)


def values(run: int) -> Values:
    return {
        "username": f"bosun{run}",
        "first": pick(run, "Anneke", "Piet", "Ilse", "Joost"),
        "last": pick(run, "van Dam", "de Wit", "Bakker", "O'Neill"),
        "email": f"crew{run}@harbour.example",
    }


def judge(place: Place, values: Values) -> str:
    wanted = "username = ? AND first_name = ? AND last_name = ? AND email = ?"
    staff = "is_staff = 1 AND date(date_joined) = date('now') AND time(date_joined) = '00:00:00'"
    group = (
        "id IN (SELECT user_id FROM auth_user_groups JOIN auth_group g ON g.id = group_id"
        " WHERE g.name = 'Engine')"
    )
    with sqlite3.connect(place.home / "db.sqlite3") as store:
        rows = store.execute(
            f"SELECT COUNT(*) FROM auth_user WHERE {wanted} AND {staff} AND {group}",
            tuple(values.values()),
        )
        return once(rows.fetchone()[0], "user")


APP = App(
    name="django_admin",
    title="Django admin",
    framework="Django templates",
    covers=("date and time shortcuts", "lists of choices"),
    packages=pip("django==5.2.19"),
    command=lambda place: ("python", "manage.py", "runserver", "--noreload", str(place.port)),
    values=values,
    judge=judge,
    forgets=lambda place: undone(place.home / "db.sqlite3", UNCHANGED),
    prepare=prepare,
    secret=PASSWORD,
    opens="/admin/",
)
