"""No acknowledged event is lost when the power goes, at any moment, whatever the disk kept."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from tests.crash.appender import Plan, Recording
from tests.crash.disk import Disk
from tests.crash.survivors import find_problems
from tests.crash.workload import Ack

ROOT = Path(__file__).parents[2]
IMAGES_PER_RECORDING = 50

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800)]


def record(directory: Path, seed: int, **options: Any) -> Recording:
    """Appends in a child process under the recording VFS."""
    directory.mkdir()
    plan = Plan(str(directory), seed, **options)
    command = [sys.executable, "-m", "tests.crash.appender", msgspec.json.encode(plan).decode()]
    subprocess.run(command, cwd=ROOT, check=True, timeout=60)
    body = (directory / "recording").read_bytes()
    return msgspec.msgpack.decode(body, type=Recording)


def cut_power(recording: Recording, images: int, directory: Path, rng: Random) -> Iterator[list[Ack]]:
    """Leaves one image after the other in `directory`, with what was acknowledged before it."""
    disk, applied = Disk(), 0
    for cut in sorted(rng.randint(0, len(recording.ops)) for _ in range(images)):
        for op in recording.ops[applied:cut]:
            disk.apply(op)
        applied = cut
        for old in directory.iterdir():
            old.unlink()
        disk.cut_power(directory, rng)
        yield [acked.ack for acked in recording.acks if acked.after <= cut]


def cut_many(tmp_path: Path, images: int, **options: Any) -> Counter[str]:
    """In how many images, over as many recordings as it takes, each kind of problem was found."""
    found: Counter[str] = Counter()
    image = tmp_path / "image"
    image.mkdir()
    for seed in range(-(-images // IMAGES_PER_RECORDING)):
        recording = record(tmp_path / f"recording-{seed}", seed, **options)
        share = min(IMAGES_PER_RECORDING, images - found["images"])
        for acks in cut_power(recording, share, image, Random(seed)):
            found["images"] += 1
            found["acknowledged"] += len(acks)
            found.update({problem.kind for problem in find_problems(image / "log.db", acks)})
    print(f"power cuts {options or 'FULL'}: {dict(found)}")
    return found


def test_no_acknowledged_event_is_lost_and_every_image_is_a_whole_log(
    tmp_path: Path, count: Callable[[int, int], int]
) -> None:
    images = count(150, 2_000)
    found = cut_many(tmp_path, images)
    acknowledged = found.pop("acknowledged")
    assert found == {"images": images}
    assert acknowledged > 10 * images, "the cuts came before there was anything to lose"


def test_the_control_with_synchronous_normal_loses_but_never_breaks(
    tmp_path: Path, count: Callable[[int, int], int]
) -> None:
    images = count(50, 200)
    found = cut_many(tmp_path, images, synchronous="NORMAL")
    assert found["lost"] > images // 4
    assert set(found) == {"images", "acknowledged", "lost"}


def test_the_control_with_a_lying_disk_loses(
    tmp_path: Path, count: Callable[[int, int], int]
) -> None:
    images = count(50, 200)
    found = cut_many(tmp_path, images, lying=True)
    assert found["lost"] + found["unreadable"] > images // 4
    assert found["lost"]


def test_the_recording_has_checkpoints_and_reuses_its_wal(tmp_path: Path) -> None:
    recording = record(tmp_path / "recording", seed=7)
    recycled = sum(
        op.what == "write" and op.file == "log.db-wal" and op.offset == 0 for op in recording.ops
    )
    created = sum(op.what == "create" and op.file == "log.db-wal" for op in recording.ops)
    assert recording.checkpoints > 5
    assert created == 3, "one WAL in each life"
    assert recycled > created, "no WAL was started over after a checkpoint"
