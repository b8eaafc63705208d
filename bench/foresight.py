"""The foresight bench holds our model against the seeds', back-off and Kneser-Ney on recorded data.

The data and the scoring are not ours: sequences of people's actions, and `score.py` beside them.
Every model replays each file from nothing: at every position it predicts, then learns what came.
`RUTTER_SEQUENCES` says where they are.
"""

import gc
import hashlib
import importlib.util
import os
import random
import tracemalloc
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from time import process_time_ns
from types import ModuleType
from typing import Any

from bench.guessing import BackOff, Guesses, KneserNey
from bench.tables import Cell, middle, p90, print_table
from rutter.actors.predictor.model.foresight import Foresight
from rutter.actors.predictor.model.markov2 import Markov2
from rutter.events.run_settings import MILLION

BESIDE = Path(__file__).parents[2] / "shared" / "data" / "predict"
EVENTS = 8_000
ASKED = 10
THRESHOLDS = (0.5, 0.7, 0.9)
SIMULATED = 20
TRANSITIONS = 1_000_000
VOCABULARY = 2_000
JOURNEY = 20

Files = Mapping[str, list[list[str]]]
Makers = Mapping[str, Callable[[], Guesses]]


class Asked:
    """A model of ours answers the scoring, and counts what each question and lesson cost."""

    def __init__(self, model: Guesses, told: "Told") -> None:
        self.model = model
        self.told = told

    def predict(self, prefix: list[str], k: int) -> list[tuple[str, float]]:
        began = process_time_ns()
        found = self.model.predict(prefix, k)
        self.told.predicting.append((process_time_ns() - began) / 1_000)
        self.told.best.append(found[0][1] if found else None)
        self.told.digest.update(repr(found).encode())
        return found

    def observe(self, prefix: list[str], token: str) -> None:
        began = process_time_ns()
        self.model.observe(prefix, token)
        self.told.observing.append((process_time_ns() - began) / 1_000)


class Told:
    """A model said this over one or more files."""

    def __init__(self) -> None:
        self.predicting: list[float] = []
        self.observing: list[float] = []
        self.best: list[float | None] = []
        self.digest = hashlib.sha256()


class Ours:
    """Our model gives probabilities as integers; the scoring wants these."""

    def __init__(self, *, measured: bool = True) -> None:
        self.model = Foresight()
        self.measured = measured

    def predict(self, prefix: Sequence[str], k: int) -> list[tuple[str, float]]:
        return [(token, share / MILLION) for token, share in self.model.predict(prefix, k)]

    def observe(self, prefix: Sequence[str], token: str) -> None:
        self.model.observe(prefix, token, measured=self.measured)


class Seeds:
    """The seeds' model, as the scoring asks."""

    def __init__(self) -> None:
        self.model = Markov2()

    def predict(self, prefix: Sequence[str], k: int) -> list[tuple[str, float]]:
        found = self.model.predict(prefix)
        told = [] if found is None else found[1][:k]
        return [(token, share / MILLION) for token, share in told]

    def observe(self, prefix: Sequence[str], token: str) -> None:
        self.model.observe(prefix, token)


MAKERS: Makers = {
    "ours": Ours,
    "markov2": Seeds,
    "back-off": BackOff,
    "kneser-ney": KneserNey,
}
# What is held is the same whether or not anything is learned about how right it was.
FOR_MEMORY: Makers = {
    **MAKERS,
    "ours": lambda: Ours(measured=False),
}


def scoring(folder: Path) -> ModuleType | None:
    """`score.py` of the data, by its path: it is no module of ours."""
    path = folder / "score.py"
    found = importlib.util.spec_from_file_location("sequence_score", path)
    if not path.is_file() or found is None or found.loader is None:
        return None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def floor_of(best: Sequence[float | None], rounds: int = SIMULATED) -> float:
    """The calibration error by chance alone: if every best probability were exactly true."""
    dice = random.Random(8)
    said = [share for share in best if share is not None]
    total = 0.0
    for _ in range(rounds):
        bins = [0.0] * 10
        for share in said:
            bins[min(9, int(share * 10))] += (dice.random() < share) - share
        total += sum(abs(each) for each in bins) / max(1, len(said))
    return total / rounds


def _mean(figures: Iterator[float]) -> float:
    kept = list(figures)
    return sum(kept) / len(kept)


Results = dict[str, dict[str, dict[str, Any]]]  # by model and file, as the scoring gives them


def run(score: ModuleType, files: Files, makers: Makers) -> tuple[Results, dict[str, Told], float]:
    results: Results = {name: {} for name in makers}
    told = {name: Told() for name in makers}
    floors = []
    for file, sequences in files.items():
        for name, make in makers.items():
            before = len(told[name].best)
            results[name][file] = score.online(
                lambda make=make, name=name: Asked(make(), told[name]), sequences, ASKED
            )[0]
            if name == "ours":
                results[name][file]["floor"] = floor_of(told[name].best[before:])
                floors.append(results[name][file]["floor"])
    return results, told, _mean(iter(floors))


def _by_file(results: Results) -> None:
    ours, seeds = results["ours"], results["markov2"]
    columns = ["file", *(f"top-1 {name}" for name in results), "against markov2"]
    columns += ["ece", "floor", "ece kn", "bits", "bits kn"]
    kneser = results["kneser-ney"]
    rows: list[list[Cell]] = []
    for file in ours:
        row: list[Cell] = [file, *(f"{100 * results[name][file]['top1']:.2f}" for name in results)]
        row.append(f"{100 * (ours[file]['top1'] - seeds[file]['top1']):+.2f}")
        row += [f"{each[file][what]:.4f}" for each, what in (
            (ours, "ece"), (ours, "floor"), (kneser, "ece"))]  # fmt: skip
        row += [f"{each[file]['logloss']:.3f}" for each in (ours, kneser)]
        rows.append(row)
    print_table("by file, all positions", columns, rows)


def _overall(results: Results, told: Mapping[str, Told], floor: float) -> None:
    rows: list[list[Cell]] = []
    for name, files in results.items():
        macro = {
            what: _mean(each[what] for each in files.values())
            for what in ("top1", "top3", "ece", "logloss", "brier")
        }
        worst = max(each["ece"] for each in files.values())
        row: list[Cell] = [name, f"{100 * macro['top1']:.2f}", f"{100 * macro['top3']:.2f}"]
        row += [f"{macro['ece']:.4f}", f"{worst:.4f}", f"{macro['logloss']:.3f}"]
        row += [f"{macro['brier']:.4f}", told[name].digest.hexdigest()[:12]]
        rows.append(row)
    columns = ("model", "top-1", "top-3", "ece", "worst ece", "bits", "brier", "digest")
    print_table("mean over files", columns, rows)
    print(f"  aims: top-1 {2.5} above markov2 and never 0.5 below, ece 0.015 and 0.02 at worst;")
    print(f"  by chance alone a perfectly calibrated model has an ece of {floor:.4f} here")


def _at_thresholds(results: Results) -> None:
    rows: list[list[Cell]] = []
    for name, files in results.items():
        row: list[Cell] = [name]
        asked = sum(each["n"] for each in files.values())
        for threshold in THRESHOLDS:
            said = sum(each[f"cov@{threshold}"] * each["n"] for each in files.values())
            right = sum(
                each[f"cov@{threshold}"] * each["n"] * (each[f"prec@{threshold}"] or 0.0)
                for each in files.values()
            )
            row += [f"{right / max(1.0, said):.3f}", f"{said / asked:.3f}"]
        rows.append(row)
    columns = ["model"]
    for threshold in THRESHOLDS:
        columns += [f"right at {threshold}", "said"]
    print_table(
        "how often it was right, and how often it said so; aims 0.75 0.83 0.92", columns, rows
    )


def zipf_journeys(transitions: int) -> Iterator[tuple[list[str], str]]:
    """A stream in which nearly every long context is new: the worst there is for memory."""
    dice = random.Random(1)
    reach = list(accumulate(1 / (rank + 1) for rank in range(VOCABULARY)))
    tokens = [f'{{"type":"click","target":"element {rank}"}}' for rank in range(VOCABULARY)]
    history: list[str] = []
    for number in range(transitions):
        if number % JOURNEY == 0:
            history = []
        token = tokens[bisect(reach, dice.random() * reach[-1])]
        yield history, token
        history.append(token)


def _megabytes(make: Callable[[], Guesses]) -> float:
    gc.collect()
    tracemalloc.start()
    model = make()
    for history, token in zipf_journeys(TRANSITIONS):
        if history:  # the scoring asks nobody for the first token
            model.observe(history, token)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held / 1_000_000


def _costs(told: Mapping[str, Told]) -> None:
    rows: list[list[Cell]] = []
    for name, each in told.items():
        row: list[Cell] = [name, middle(each.predicting), p90(each.predicting)]
        row += [middle(each.observing), p90(each.observing)]
        row.append(f"{_megabytes(FOR_MEMORY[name]):,.0f}")
        rows.append(row)
    columns = ("model", "predict us p50", "p90", "observe us p50", "p90", "MB per million")
    print_table("CPU in this run, and memory; aims 50 us, 50 us, 200 MB", columns, rows)


def _asked_more(files: Files) -> bool:
    """Whether a model that is asked more often comes to say the same."""
    quiet, busy = Foresight(), Foresight()
    same = True
    for sequences in files.values():
        for sequence in sequences[:100]:
            for place in range(1, len(sequence)):
                history = sequence[:place]
                busy.predict(history[::-1], 3)
                same = same and busy.predict(history, ASKED) == quiet.predict(history, ASKED)
                quiet.observe(history, sequence[place])
                busy.predict(history, 1)
                busy.observe(history, sequence[place])
    return same


def main() -> None:
    folder = Path(os.environ.get("RUTTER_SEQUENCES") or BESIDE)
    score = scoring(folder)
    if score is None:
        print(f"  skipped: no score.py in {folder}; RUTTER_SEQUENCES says where it is")
        return
    files = {path.stem: score.load(str(path), EVENTS) for path in sorted(folder.glob("*.seq"))}
    if not files:
        print(f"  skipped: no .seq file in {folder}")
        return
    results, told, floor = run(score, files, MAKERS)
    _by_file(results)
    _overall(results, told, floor)
    _at_thresholds(results)
    print(f"  asked more often it says the same: {'yes' if _asked_more(files) else 'NO'}")
    print(f"  hash seed {os.environ.get('PYTHONHASHSEED', 'by chance')}: compare the digests")
    _costs(told)
