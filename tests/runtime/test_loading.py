"""First questions: of several threads, in copies of a process, and what they cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.processes import SOON

BEGIN = """
import asyncio, json, multiprocessing, os, random, sys, threading, time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import ltlpipe

def asked(seed):
    lts = ltlpipe.LTS.from_transitions
    net = ltlpipe.Network([
        lts([(0, "a", 1), (1, "b", 0)]), lts([(0, "c", 1), (1, "d", 0)])
    ])
    return ltlpipe.check(net, "G F c", seed=seed, timeout=600, emptiness="se05").verdict

def forked(seed):
    number = os.fork()
    if not number:
        os._exit(0 if asked(seed) == "violated" else 1)
    return number
"""

THREADS = """
with ThreadPoolExecutor({n}) as pool:
    print(json.dumps(list(pool.map(asked, range(16)))))
"""

EVENT_LOOP = """
async def main():
    return await asyncio.gather(*(asyncio.to_thread(asked, k) for k in range(8)))

print(json.dumps(asyncio.run(main())))
"""

PROCESSES = """
if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    thread = threading.Thread(target=asked, args=[0])
    thread.start()
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        print(json.dumps(list(pool.map(asked, range(4)))))
    thread.join()
"""

FORKS = """
random.seed({seed})
threads = [threading.Thread(target=asked, args=[k], daemon=True) for k in range(3)]
for thread in threads:
    thread.start()
numbers = []
for k in range(6):
    time.sleep(random.random() / 4)
    numbers.append(forked(k))
found = [os.waitpid(number, 0)[1] for number in numbers]
print(json.dumps(["violated" if status == 0 else status for status in found]))
"""


def answers(tmp_path, work):
    """Run a new Python; it is killed if it does not end."""
    script = tmp_path / "script.py"
    script.write_text(BEGIN + work)
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, start_new_session=True
    ) as program:
        try:
            out, _ = program.communicate(timeout=15 * SOON)
        finally:
            if program.poll() is None:
                os.killpg(program.pid, 9)
    return json.loads(out)


@pytest.mark.parametrize("n", [2, 4, 16])
def test_first_questions_of_threads(n, tmp_path):
    """None trusts a module that another one is still importing."""
    assert answers(tmp_path, THREADS.format(n=n)) == ["violated"] * 16


def test_first_questions_of_an_event_loop(tmp_path):
    assert answers(tmp_path, EVENT_LOOP) == ["violated"] * 8


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_first_questions_of_processes(method, tmp_path):
    """Which are made while a thread asks its first one."""
    found = answers(tmp_path, PROCESSES.format(method=method))
    assert found == ["violated"] * 4


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 40))]
)
def test_forks_while_threads_ask(seed, tmp_path):
    """A copy of a lock that a thread holds would never be released."""
    assert answers(tmp_path, FORKS.format(seed=seed)) == ["violated"] * 6


COSTS = """
lts = ltlpipe.LTS.from_transitions([(0, "a", 1), (1, "b", 0)])
net = ltlpipe.Network([lts])
found = [ltlpipe.check(net, "G F a", emptiness="se05") for _ in range(2)]
loaded = [verdict.stats.load_seconds for verdict in found]
print(json.dumps([*loaded, found[0].to_dict()["load_seconds"]]))
"""


def test_what_a_first_question_costs(tmp_path):
    """Modules and machine code are loaded for it, and not for the second."""
    first, second, told = answers(tmp_path, COSTS)
    assert first > second
    assert told == round(first, 6)
