"""No acknowledged event is lost when the power goes, at any moment, whatever the disk kept."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

import pytest

from tests.crash.appender import Plan, Recording, record
from tests.crash.disk import Disk
from tests.crash.survivors import find_problems
from tests.crash.workload import Ack

IMAGES_PER_RECORDING = 50

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800)]


def cut_power(
    recording: Recording, cuts: Iterable[int], directory: Path, rng: Random
) -> Iterator[list[Ack]]:
    """Leaves one image after the other in `directory`, with what was acknowledged before it."""
    directory.mkdir(exist_ok=True)
    disk, applied = Disk(), 0
    for cut in sorted(cuts):
        for op in recording.ops[applied:cut]:
            disk.apply(op)
        applied = cut
        for old in directory.iterdir():
            old.unlink()
        disk.cut_power(directory, rng)
        yield [acked.ack for acked in recording.acks if acked.after <= cut]


def cut_many(
    tmp_path: Path, images: int, *, synchronous: str = "", lying: bool = False
) -> Counter[str]:
    """In how many images, over as many recordings as it takes, each kind of problem was found."""
    found: Counter[str] = Counter()
    for seed in range(-(-images // IMAGES_PER_RECORDING)):
        rng = Random(seed)
        directory = tmp_path / f"recording-{seed}"
        writers, turns = ((5, 10), (48, 2))[seed % 2]
        recording = record(
            Plan(str(directory), seed, writers, turns, synchronous=synchronous, lying=lying)
        )
        share = min(IMAGES_PER_RECORDING, images - found["images"])
        cuts = [rng.randint(0, len(recording.ops)) for _ in range(share)]
        for acks in cut_power(recording, cuts, tmp_path / "image", rng):
            found["images"] += 1
            found["acknowledged"] += len(acks)
            found.update({p.kind for p in find_problems(tmp_path / "image" / "log.db", acks)})
    control = synchronous or ("lying disk" if lying else "none")
    print(f"power cuts, control: {control}: {dict(found)}")
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
    found = cut_many(tmp_path, count(100, 500), synchronous="NORMAL")
    assert found["lost"], "the test cannot see a lost event"
    assert set(found) == {"images", "acknowledged", "lost"}


def test_the_control_with_a_lying_disk_loses_and_breaks(
    tmp_path: Path, count: Callable[[int, int], int]
) -> None:
    found = cut_many(tmp_path, count(100, 500), lying=True)
    assert found["lost"], "the test cannot see a lost event"
    assert found["unreadable"] or found["gap"], "the test cannot see a broken log"


def test_a_log_whose_making_was_cut_short_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    recording = record(Plan(str(tmp_path / "recording"), seed=1, writers=1, turns=1, lives=1))
    cuts = [cut for cut in range(len(recording.ops) + 1) for _ in range(4)]
    for acks in cut_power(recording, cuts, tmp_path / "image", Random(1)):
        assert find_problems(tmp_path / "image" / "log.db", acks) == []


@pytest.mark.parametrize(("writers", "turns"), [(5, 10), (48, 2)])
def test_the_recordings_have_checkpoints_and_reuse_their_wal(
    tmp_path: Path, writers: int, turns: int
) -> None:
    recording = record(Plan(str(tmp_path / "recording"), 7, writers, turns))
    wal = [op for op in recording.ops if op.file == "log.db-wal"]
    created = sum(op.what == "create" for op in wal)
    started = sum(op.what == "write" and op.offset == 0 for op in wal)
    assert recording.checkpoints > 3
    assert created == 3, "one WAL in each life"
    assert started > created, "no WAL was started over after a checkpoint"
