"""What runs on a Dask worker: its threads have worker processes answer tasks.

These are supervised as in a run on one machine (`ltlpipe.batch.task_job`): limits are
enforced from outside, and a crash does not end the Dask worker.

Parcels and replies are bytes made by `ltlpipe.runtime.wire`.  Files of systems are kept
in the worker's folder under names made of their contents.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe._version import __version__
from ltlpipe.batch.procfs import descendants
from ltlpipe.batch.task_data import shared_bytes
from ltlpipe.batch.task_job import LOOK_SECONDS, TaskJob
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import MIB
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.runtime.wire import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Mapping

_TELL_SECONDS = 0.5  # how often progress is sent


class Input(NamedTuple):
    """A file, or a network in memory, as it travels."""

    name: str  # digest of its contents, with the suffixes of its format
    content: bytes


def answer_there(data: bytes, topic: str, *inputs: Input) -> bytes | None:
    """Answer a task with some inputs; called through the scheduler.

    `data` is the parcel, packed: `version` of ltlpipe, the `number` of the task, the
    `order` for the worker process in which names of inputs stand for files and
    networks, and `titles`, the user's names for them.  `topic` receives the progress of
    the search.  What is returned is the answer, packed; None without a subscriber.
    """
    from distributed import get_worker

    parcel = unpacked(data)
    if parcel["version"] != __version__:
        raise UnsupportedError(
            f"a Dask worker has ltlpipe {__version__}, and the driver "
            f"{parcel['version']}: install the same everywhere"
        )
    host = get_worker()
    key = host.get_current_task()
    folder = Path(host.local_directory) / "ltlpipe"
    order, share = parcel["order"], _share(host)
    if order["options"].get("memory") is None:
        order["options"]["memory"] = share
    if n_bytes := shared_bytes(order["options"]):
        order["shared"] = [str(_made(_shared_folder(host, topic))), n_bytes]
    places = _unpack(order["task"], folder, {given.name: given for given in inputs})
    titles = {place: parcel["titles"][name] for name, place in places.items()}
    job = TaskJob(parcel["number"], order, share)
    told = looked = time.monotonic()
    try:
        while True:
            answer = None
            if wait(job.waits, LOOK_SECONDS):
                answer = job.advance()
            moment = time.monotonic()
            if answer is None and moment - looked >= LOOK_SECONDS:
                looked = moment
                answer = job.end_overrun(descendants([job.pid])[job.pid])
                if answer is None and _is_unwanted(host, key):
                    return None
            if answer is not None:
                return packed(_renamed(answer, titles))
            if moment - told > _TELL_SECONDS:
                told = moment
                host.log_event(topic, tuple(job.activity()))
    finally:
        job.close()


def forget_run(topic: str) -> None:
    """Remove the shared results of a run; called on each Dask worker."""
    from distributed import get_worker

    shutil.rmtree(_shared_folder(get_worker(), topic), ignore_errors=True)


def _shared_folder(host: Any, topic: str) -> Path:
    """Return the folder in which the threads of a Dask worker share results of a run.

    Dask removes the folder of a worker that ends.
    """
    return Path(host.local_directory) / "ltlpipe" / topic


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _unpack(
    task: dict[str, Any], folder: Path, inputs: Mapping[str, Input]
) -> dict[str, str]:
    """Replace names in a task by files and networks; return the files' paths."""
    system, question = task["system"], task["question"]
    if "digest" in system:
        system["content"] = inputs[system["content"]].content
    names = [*system.get("files", ()), question.get("path")]
    places = {n: _placed(folder, inputs[n]) for n in names if n is not None}
    if "files" in system:
        system["files"] = [places[name] for name in system["files"]]
    if "path" in question:
        question["path"] = places[question["path"]]
    return places


def _placed(folder: Path, given: Input) -> str:
    """Return the path of a file, which is written if missing."""
    path = folder / given.name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        beside = folder / f"{given.name}.{os.getpid()}.{threading.get_ident()}"
        beside.write_bytes(given.content)
        beside.replace(path)
    return str(path)


def _share(host: Any) -> float | None:
    """Return the MiB that one thread of this worker may use."""
    limit = getattr(getattr(host, "memory_manager", None), "memory_limit", None)
    known = [default_memory_mib(), limit / MIB if limit else None]
    sizes = [size for size in known if size is not None]
    return min(sizes) / host.state.nthreads if sizes else None


def _is_unwanted(host: Any, key: str) -> bool:
    """Return whether the driver has gone or cancelled the task.

    Dask does not end threads, but the worker knows that the task was cancelled.
    """
    known = host.state.tasks.get(key)
    return known is None or known.state in ("cancelled", "released", "forgotten")


def _renamed(value: Any, titles: Mapping[str, str]) -> Any:
    """Return a part of an answer with the names of files that the user knows."""
    if isinstance(value, str):
        for place, title in titles.items():
            value = value.replace(place, title)
    elif isinstance(value, (list, tuple)):
        return [_renamed(item, titles) for item in value]
    elif isinstance(value, dict):
        return {key: _renamed(item, titles) for key, item in value.items()}
    return value
