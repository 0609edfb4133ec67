"""Whatever a program does to its process, the parent gets one exit event and the next job is unharmed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import uuid
from pathlib import Path

import psutil
import pytest
from process_targets import Do, Said, event_of

from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import MIB, Limits
from eqfuzz.run.messages.channel import Channel
from eqfuzz.run.messages.codec import Decoder, MessageLines, encode
from eqfuzz.run.messages.job import ChildExit, StageEntered
from eqfuzz.run.messages.process_messages import ChildEnded, ChildForked, ForkRequest, ProcessReady, StartupMessage
from eqfuzz.run.processes.pool import Pool
from eqfuzz.run.protocol import BadMessage, RunnerFailed

pytestmark = pytest.mark.slow

TARGET = Do.TARGET
LIMITS = Limits(load_s=3, output_bytes=MIB)
MARK = f"eqfuzzTEST_{uuid.uuid4().hex}"


@pytest.fixture(scope="session")
def out():
    """A run's folder for all tests: Inductor's precompiled header in it takes 150 MB and seven seconds."""
    folder = Path(tempfile.mkdtemp(prefix="eqfuzz-test-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True, scope="module")
def marked():
    """Mark every process that the tests start, at whatever remove."""
    os.environ[MARK] = "1"
    yield
    del os.environ[MARK]


@pytest.fixture(scope="module")
def pools(out):
    """One pool of each kind for all tests that leave it usable, whatever they do."""
    pools_by_runner: dict[str, Pool] = {}

    def get(runner: str) -> Pool:
        if runner not in pools_by_runner:
            pools_by_runner[runner] = Pool(Environment(out), LIMITS, runner=runner, jobs=2, target=TARGET)
        return pools_by_runner[runner]

    yield get
    for pool in pools_by_runner.values():
        pool.close()


# Both runners, where each test costs the second one a new process with a new import of torch.
LONG = ["fork", pytest.param("spawn", marks=[pytest.mark.slow, pytest.mark.long])]
COSTLY = ["fork", pytest.param("spawn", marks=pytest.mark.long)]


@pytest.fixture(params=["fork", "spawn"])
def pool(request, pools):
    return pools(request.param)


def stream(pool, do, **case):
    return pool.stream(Do(do=do, case=case))


def names(events):
    return [event.name if isinstance(event, Said) else event.message_name for event in events]


def events_of(pool, do, **case):
    """All events of one job; the last is the exit."""
    events = list(stream(pool, do, **case))
    assert names(events).index("exit") == len(events) - 1
    assert "\n" not in events[-1].detail
    return events


def exit_of(pool, do, **case):
    return events_of(pool, do, **case)[-1]


def reported(pool, do, **case):
    """The events of a job that must succeed, without the exit."""
    *events, end = events_of(pool, do, **case)
    assert end.reason == "done", end
    return events


def marked_processes():
    """Processes alive that were started below this test, whatever has become of their parents."""
    processes = []
    for process in psutil.process_iter():
        try:
            if MARK in process.environ() and process.status() != psutil.STATUS_ZOMBIE:
                processes.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return processes


def all_end(pids, seconds=5.0):
    """Whether all of these processes end in time."""
    patience = time.monotonic() + seconds
    while time.monotonic() < patience:
        alive = [pid for pid in pids if psutil.pid_exists(pid) and not _is_zombie(pid)]
        if not alive:
            return True
        time.sleep(0.05)
    return False


def _is_zombie(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_job_streams_its_events_and_the_same_random_numbers_each_time(pool):
    stage, total, drawn, end = events_of(pool, "good", n=5)
    assert stage == StageEntered(stage="eager", seconds=10)
    assert total["value"] == 10
    assert (end.reason, end.stage, end.output) == ("done", "eager", "adding\n")
    assert 0 <= end.cpu_seconds < 60
    assert reported(pool, "good", n=5) == [stage, total, drawn], "every case draws the same random numbers"


def garbage(text):
    return {"do": "write_garbage", "garbage": text}


# id: (case, reason, start of detail, part of output)
BAD = {
    "segfault": ({"do": "segfault"}, "crash", "killed by SIGSEGV", "string_at"),
    "abort": ({"do": "abort"}, "crash", "killed by SIGABRT", "in abort"),
    "exit 3": ({"do": "leave"}, "crash", "exited with code 3 on its own", ""),
    "exit 0": ({"do": "leave_with_zero"}, "crash", "exited with code 0 on its own", ""),
    "own group": ({"do": "kill_group"}, "crash", "killed by SIGTERM", ""),
    "sigkill": ({"do": "kill_itself"}, "memory", "killed by SIGKILL", ""),
    "loop": ({"do": "loop"}, "hang", "no end of stage eager after 1 seconds", "in loop"),
    "loop in C": ({"do": "loop_in_c"}, "hang", "no end of stage compile after 1 seconds", "in loop_in_c"),
    "deaf loop": ({"do": "loop_deaf"}, "hang", "no end of stage eager after 1 seconds", ""),
    "no stage": ({"do": "loop_before_any_stage"}, "hang", "no end of loading, before the first stage after 3", ""),
    "cpu": ({"do": "burn_cpu"}, "hang", "used up its CPU seconds in stage eager", "in burn_cpu"),
    "event flood": ({"do": "flood_events"}, "hang", "no end of stage eager after 1 seconds", ""),
    "sleeping program": ({"do": "wait", "seconds": 1}, "hang", "no end of stage eager", "in wait"),
    "endless print": ({"do": "print_forever"}, "output", "printed more than 1048576 bytes", "xxx\nxxx"),
    "allocation": ({"do": "allocate"}, "error", "RuntimeError: ", "can't allocate memory"),
    "exception": ({"do": "raise_error"}, "error", "ValueError: no such luck", "before\nTraceback (most recent call"),
    "SystemExit": ({"do": "system_exit"}, "error", "SystemExit: 4", "Traceback"),
    "garbage line": (garbage("hello\n"), "error", "on the event pipe: not an event: b'hello'", ""),
    "garbage half": (garbage("half"), "error", "on the event pipe: not an event: b'half{", ""),
    "garbage long": (garbage("\0" * 9999 + "\n"), "error", "on the event pipe: not an event: b'", ""),
    "forged exit": (garbage('{"event": "exit"}\n'), "error", "on the event pipe: no event of this job: 'exit'", ""),
    "forged stage": (
        garbage('{"event": "stage"}\n'),
        "error",
        "on the event pipe: a malformed stage event: ",
        "",
    ),
    "closed": ({"do": "close_everything"}, "error", "the program closed the event pipe", ""),
    "closed, looping": ({"do": "close_everything", "then": "stay"}, "hang", "no end of loading", ""),
}


def check_bad(pool, name):
    alone = reported(pool, "good", n=7)
    case, reason, detail, output = BAD[name]
    end = exit_of(pool, **case)
    assert end.reason == reason, end
    assert end.detail.startswith(detail), end
    assert output in end.output
    assert reported(pool, "good", n=7) == alone


@pytest.mark.parametrize("name", BAD)
def test_bad_job_in_a_fork_has_its_exit_reason(pools, name):
    check_bad(pools("fork"), name)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", BAD)
def test_bad_job_in_a_worker_has_its_exit_reason(pools, name):
    check_bad(pools("spawn"), name)


def test_worker_survives_an_error_and_is_replaced_after_a_crash(pools):
    pool = pools("spawn")
    (first,) = reported(pool, "who")
    assert exit_of(pool, "raise_error").reason == "error"
    (second,) = reported(pool, "who")
    assert second == first
    assert exit_of(pool, "segfault").reason == "crash"
    (third,) = reported(pool, "who")
    assert third["pid"] != first["pid"]
    assert third["server"] == first["server"]


def test_a_consumer_that_stops_at_the_exit_leaves_the_worker_usable(pools):
    pool = pools("spawn")

    def first_who():
        first = None
        for event in stream(pool, "who"):
            first = event if first is None else first
            if isinstance(event, ChildExit):
                return first
        raise AssertionError("no exit")

    assert first_who() == first_who()


def test_worker_restores_its_state_after_a_job(pools):
    pool = pools("spawn")
    (before,) = reported(pool, "state")
    (first,) = reported(pool, "who")
    reported(pool, "disturb")
    (after,) = reported(pool, "state")
    assert after == before
    assert reported(pool, "who") == [first], "and it is still the same process"


def test_worker_with_a_straggling_thread_is_replaced(pools):
    pool = pools("spawn")
    (first,) = reported(pool, "who")
    reported(pool, "leave_thread")
    (second,) = reported(pool, "who")
    assert second["pid"] != first["pid"]


def test_programs_can_handle_their_memory_errors(pool):
    caught = reported(pool, "catch_allocation")
    assert [event["by"] for event in caught] == ["torch", "python"]


def test_the_end_of_the_output_is_kept(pool):
    end = exit_of(pool, "print_and_finish")
    assert end.reason == "done"
    assert len(end.output) <= 4096
    assert "y\nlast line" in end.output
    assert "raw \ufffd" in end.output
    assert "from a program\n" in end.output


def test_jobs_may_close_their_streams(pool):
    assert reported(pool, "close_streams") == [event_of("quiet")]


def test_forks_of_the_program_cannot_report(pool):
    assert reported(pool, "fork_and_return") == [event_of("one of us")]


def test_invalid_events_are_refused_in_the_child(pool):
    (refused,) = reported(pool, "bad_event")
    assert refused["errors"] == ["ValueError"] * 3 + ["TypeError"]


def test_stdin_is_empty(pool):
    assert reported(pool, "read_stdin") == [event_of("stdin", text="")]


def test_a_large_job_arrives_whole(pool):
    case = {"text": "ä\n\x00" * 500_000, "number": 1e300, "deep": [[[None, True]]]}
    (echo,) = reported(pool, "echo", **case)
    assert echo["case"] == case


def test_job_runs_in_its_own_session_and_folder_with_the_declared_variables(pool, out):
    (seen,) = reported(pool, "look")
    assert seen["pid"] == seen["group"] == seen["session"]
    assert seen["threads"] == 1
    assert seen["cuda"] is False
    assert seen["preload"] is None
    assert Path(seen["folder"]).parent == out / "tmp"
    assert not Path(seen["folder"]).exists(), "the folder of a case goes with it"
    variables = Environment(out).variables(cuda=False)
    for name in ("OMP_NUM_THREADS", "TORCHINDUCTOR_CACHE_DIR", "TMPDIR", "CUDA_VISIBLE_DEVICES", "PATH", MARK):
        assert seen["variables"][name] == variables[name]
    pipes = [number for number, target in seen["descriptors"].items() if target.startswith(("pipe:", "socket:"))]
    assert all(int(number) < 3 or int(number) >= 200 for number in pipes), "nothing of ours is easily hit"


def test_workers_that_fill_the_machine_have_a_core_each(out):
    cores = os.sched_getaffinity(0)
    with Pool(Environment(out), LIMITS, jobs=len(cores), target=TARGET, warm=False) as pool:
        running = [stream(pool, "wait") for _ in cores]
        heres = [next(event for event in events if isinstance(event, Said)) for events in running]
        pinned = [psutil.Process(here[who]).cpu_affinity() for here in heres for who in ("pid", "child")]
        assert sorted(pinned) == sorted([core] for core in cores for _ in range(2))
        assert set(psutil.Process(heres[0]["server"]).cpu_affinity()) == cores
        for events in running:
            events.close()


@pytest.mark.parametrize("pool", COSTLY, indirect=True)
def test_several_threads_share_a_pool(pool):
    ends: dict[int, list] = {}

    def work(n):
        ends[n] = reported(pool, "good", n=n) if n % 3 else [exit_of(pool, "raise_error")]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == list(range(12))
    for n, events in ends.items():
        if n % 3:
            assert events[1]["value"] == n * (n - 1) // 2
        else:
            assert events[0].detail == "ValueError: no such luck"


def test_parent_releases_descriptors_and_folders_of_a_job(pool, out):
    exit_of(pool, "raise_error")

    def held():
        return len(list(Path("/proc/self/fd").iterdir())), len(list((out / "tmp").iterdir()))

    before = held()
    for _ in range(5):
        exit_of(pool, "good", n=2)
        exit_of(pool, "raise_error")
        exit_of(pool, "catch_allocation")
    for _ in range(2):
        events = stream(pool, "good", n=2)
        next(events)
        events.close()
    exit_of(pool, "raise_error")
    # There may be one idle worker less.
    assert all(now <= then for now, then in zip(held(), before, strict=True))


def test_the_server_has_one_thread(pool):
    """A fork copies only the thread that forks; locks that others hold would stay locked."""
    (who,) = reported(pool, "who")
    assert psutil.Process(who["server"]).num_threads() == 1


def test_a_worker_that_dies_between_two_jobs_is_replaced(pools):
    pool = pools("spawn")
    (first,) = reported(pool, "who")
    os.kill(first["pid"], signal.SIGKILL)
    events = events_of(pool, "who")
    assert names(events) in (["who", "exit"], ["exit"])
    (second,) = reported(pool, "who")
    assert second["pid"] != first["pid"]


@pytest.mark.long
def test_a_job_that_kills_the_server_restarts_its_neighbours(pools):
    pool = pools("fork")
    neighbour = stream(pool, "good_after", seconds=1.0)
    assert next(neighbour).name == "begun"
    assert exit_of(pool, "kill_parent").reason == "error"
    assert names(neighbour) == ["restart", "begun", "well", "exit"]


@pytest.mark.parametrize("pool", COSTLY, indirect=True)
def test_closing_the_stream_kills_the_child(pool):
    events = stream(pool, "wait")
    next(events)
    here = next(events)
    events.close()
    assert all_end([here["pid"], here["child"]])
    assert not Path("/proc", str(here["pid"])).exists()
    reported(pool, "good", n=3)


@pytest.mark.parametrize("pool", COSTLY, indirect=True)
@pytest.mark.parametrize("then", ["finish", "hang"])
def test_programs_that_leave_the_group_are_killed_too(pool, then):
    before = {process.pid for process in marked_processes() if "time.sleep(1000)" in " ".join(process.cmdline())}
    events_of(pool, "escape", then=then)
    reported(pool, "good", n=3)
    patience = time.monotonic() + 5
    while time.monotonic() < patience:
        left = [
            process
            for process in marked_processes()
            if process.pid not in before and "time.sleep(1000)" in " ".join(process.cmdline())
        ]
        if not left:
            break
        time.sleep(0.05)
    assert not left


@pytest.mark.parametrize("pool", COSTLY, indirect=True)
def test_killed_child_has_a_reason_and_leaves_no_process(pool):
    events = stream(pool, "wait")
    next(events)
    here = next(events)
    os.kill(here["pid"], signal.SIGKILL)
    (end,) = events
    assert end.reason == "memory"
    assert all_end([here["child"]])
    reported(pool, "good", n=3)


@pytest.mark.parametrize("pool", LONG, indirect=True)
def test_kill_9_of_the_server_runs_the_job_again(pool, tmp_path):
    events = events_of(pool, "kill_parent_once", mark=str(tmp_path / "mark"))
    assert names(events) == ["killing", "restart", "second", "exit"]
    assert events[-1].reason == "done"
    reported(pool, "good", n=3)


@pytest.mark.parametrize("pool", COSTLY, indirect=True)
def test_a_job_that_always_kills_the_server_is_an_error(pool):
    events = events_of(pool, "kill_parent")
    assert names(events) == ["killing", "restart", "killing", "exit"]
    assert events[-1].reason == "error"
    assert "lost twice" in events[-1].detail
    reported(pool, "good", n=3)


@pytest.mark.parametrize("runner", COSTLY)
def test_close_ends_every_job_and_process(out, runner):
    before = {process.pid for process in marked_processes()}
    ends = []
    started = threading.Barrier(3)

    def work():
        for event in stream(pool, "wait"):
            if isinstance(event, Said):
                started.wait()
            ends.append(event)

    with Pool(Environment(out), LIMITS, runner=runner, jobs=2, target=TARGET) as pool:
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        started.wait()
    for thread in threads:
        thread.join()
    assert [end.detail for end in ends if isinstance(end, ChildExit)] == ["the pool was closed while the job ran"] * 2
    assert all_end({process.pid for process in marked_processes()} - before)
    with pytest.raises(RunnerFailed, match="closed"):
        next(stream(pool, "good", n=1))
    pool.close()


PARENT = """
import sys, threading, time
sys.path.insert(0, {tests!r})
from pathlib import Path
from eqfuzz.run.environment import Environment
from eqfuzz.run.limits import Limits
from eqfuzz.run.processes.pool import Pool
from process_targets import Do

pool = Pool(Environment(Path({out!r})), Limits(), runner={runner!r}, jobs=2, target="process_targets:TARGET")

def work():
    for event in pool.stream(Do(do="wait")):
        print(event.message_name, flush=True)

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(1000)
"""


@pytest.mark.parametrize("runner", COSTLY)
@pytest.mark.parametrize("moment", ["starting", "running"])
def test_killed_parent_leaves_no_process(out, runner, moment):
    before = {process.pid for process in marked_processes()}
    script = PARENT.format(tests=str(Path(__file__).parent), out=str(out), runner=runner)
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    if moment == "running":
        lines = [parent.stdout.readline().strip() for _ in range(4)]
        assert sorted(lines) == ["said", "said", "stage", "stage"]
    else:
        while not psutil.Process(parent.pid).children():
            time.sleep(0.01)
        time.sleep(0.3)
    below = {process.pid for process in marked_processes()} - before
    assert len(below) > (4 if moment == "running" else 1)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert all_end(below)
    assert not {process.pid for process in marked_processes()} - before


def test_a_server_whose_parent_dies_before_the_first_packet_is_read_ends(tmp_path):
    """``getppid`` does not change then; only the closed channel shows it."""
    ours, theirs = Channel.pair()
    hello = StartupMessage(target=TARGET, path=tuple(sys.path), folder=str(tmp_path))
    ours.send(hello)
    ours.close()
    starting = subprocess.Popen(
        [sys.executable, "-m", "eqfuzz.run.processes.zygote", str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    theirs.close()
    _, errors = starting.communicate(timeout=60)
    assert (starting.returncode, errors) == (-signal.SIGKILL, "")


SERVER = """
import os, sys
from eqfuzz.run.messages.channel import Channel
from eqfuzz.run.processes.fork_server import ForkServer

class Supervisor:
    def check(self, children): return None
    def end(self, children): pass
    def clean(self): return sys.argv[2] == "clean"

ForkServer(Channel.of(int(sys.argv[1])), lambda message, descriptors: os._exit(0), Supervisor()).serve()
"""


@pytest.mark.parametrize(("after", "retired"), [("clean", False), ("dirty", True)])
def test_a_server_that_cannot_clean_up_reports_it_with_the_end_of_the_child(after, retired):
    """The parent may send it the next job as soon as it knows of the end."""
    ours, theirs = Channel.pair()
    command = [sys.executable, "-c", SERVER, str(theirs.fileno()), after]
    serving = subprocess.Popen(command, pass_fds=[theirs.fileno()], start_new_session=True)
    theirs.close()
    for _ in range(1 if retired else 3):
        fate, theirs_of_fate = os.pipe()
        ours.send(ForkRequest(), [theirs_of_fate])
        os.close(theirs_of_fate)
        with os.fdopen(fate, "rb") as lines:
            forked, ended = map(Decoder(ChildForked, ChildEnded).decode, lines)
        assert isinstance(forked, ChildForked)
        assert (ended.status, ended.retired) == (0, retired)
    if retired:
        serving.wait(10)
    assert serving.poll() == (0 if retired else None)
    ours.close()
    serving.wait(10)


@pytest.mark.parametrize(("retired", "free"), [(False, 1), (True, 0)])
def test_a_retired_sandbox_gets_no_further_job(out, retired, free):
    class Sandbox:
        alive, closed = True, False

        def close(self):
            self.closed = True

    sandbox = Sandbox()
    sandbox.retired = retired
    with Pool(Environment(out), LIMITS, jobs=1, target=TARGET) as pool:
        pool._give_back(sandbox)
        assert (len(pool._free_sandboxes), sandbox.closed) == (free, retired)


def test_a_channel_is_abandoned_even_with_packets_to_read():
    ours, theirs = Channel.pair()
    ours.send(ProcessReady(cpu_total=7.0))
    assert not theirs.is_abandoned()
    ours.close()
    assert theirs.is_abandoned()
    assert theirs.receive(Decoder(ProcessReady)) == (ProcessReady(cpu_total=7.0), [])
    theirs.close()


def write_preload(folder, text):
    path = folder / "plant.py"
    path.write_text(textwrap.dedent(text))
    return path


@pytest.mark.parametrize("runner", COSTLY)
def test_the_preload_runs_where_torch_is_imported(out, tmp_path, runner):
    preload = write_preload(
        tmp_path,
        """
        import inspect, sys
        assert "torch" in sys.modules and "torch._inductor.compile_fx" not in sys.modules
        def marked(): return "text"
        MARK = [__name__, __file__, inspect.getsource(marked).strip()]
        """,
    )
    environment = Environment(out, preload)
    assert environment.cache_dir() != Environment(out).cache_dir()
    with Pool(environment, LIMITS, runner=runner, jobs=1, target=TARGET) as pool:
        (seen,) = reported(pool, "look")
    assert seen["preload"] == ["eqfuzz_preload", str(preload), 'def marked(): return "text"']
    assert seen["variables"]["TORCHINDUCTOR_CACHE_DIR"] == str(environment.cache_dir())


BROKEN = {
    "raises": (
        "import torch\n\ndef f():\n    raise ValueError('not\\ntoday')\nf()\n",
        r"plant\.py:4: ValueError: not today",
    ),
    "syntax": ("x = 1\ny = (\n", r"plant\.py:2: SyntaxError"),
    "exits": (
        "import os\nprint('so long')\nimport sys; sys.stdout.flush(); os._exit(9)",
        r"exited with code 9 .*so long",
    ),
    "compile": (
        "import torch._inductor.graph as g\ndef run(*_, **__):\n    raise KeyError('planted')\n"
        "g.GraphLowering.run = run\n",
        r"plant\.py:3: .*planted",
    ),
}


@pytest.mark.parametrize("runner", COSTLY)
@pytest.mark.parametrize("name", BROKEN)
def test_broken_preload_is_one_clear_failure(out, tmp_path, runner, name):
    text, message = BROKEN[name]
    before = {process.pid for process in marked_processes()}
    environment = Environment(out, write_preload(tmp_path, text))
    with (
        Pool(environment, LIMITS, runner=runner, jobs=1, target=TARGET) as pool,
        pytest.raises(RunnerFailed, match=message) as failure,
    ):
        next(stream(pool, "good", n=1))
    assert "\n" not in str(failure.value)
    assert all_end({process.pid for process in marked_processes()} - before)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("no_such_module:TARGET", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("process_targets:no_such", "AttributeError: .*no_such"),
        ("process_targets:__name__", "TypeError: process_targets:__name__ is a str, not a JobTarget"),
    ],
)
def test_unusable_target_is_one_clear_failure(out, target, message):
    with (
        Pool(Environment(out), LIMITS, jobs=1, target=target) as pool,
        pytest.raises(RunnerFailed, match=message),
    ):
        next(stream(pool, "good"))


def test_process_that_does_not_get_ready_in_time_is_a_failure(out):
    with (
        Pool(Environment(out), Limits(start_s=0.5), jobs=1, target=TARGET) as pool,
        pytest.raises(RunnerFailed, match=r"not ready after 0\.5 seconds"),
    ):
        next(stream(pool, "good", n=1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runner": "thread", "jobs": 1}, "'fork' or 'spawn'"),
        ({"runner": "fork", "jobs": 1, "cuda": True}, "CUDA"),
        ({"runner": "fork", "jobs": 0}, "at least 1"),
    ],
)
def test_pool_options_are_checked(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        Pool(Environment(tmp_path), Limits(), **options)


def test_a_job_that_json_cannot_express_is_refused(pool):
    with pytest.raises(TypeError):
        next(stream(pool, "good", n=object()))
    reported(pool, "good", n=3)


@pytest.mark.slow
@pytest.mark.parametrize("runner", COSTLY)
def test_child_compiles_from_an_empty_kernel_cache(out, runner):
    """A warm cache would hide a child that hangs in g++'s or OpenMP's threads."""
    environment = Environment(out)
    with Pool(environment, Limits(), runner=runner, jobs=2, target=TARGET) as pool:
        reported(pool, "good", n=3)
        shutil.rmtree(environment.cache_dir())
        (stage, compiled) = reported(pool, "compile_program", seconds=120, constant=time.time() % 7)
        assert stage.stage == "compile"
        assert compiled["equal"] is True
        assert compiled["kernels"] >= 2
        assert list(environment.cache_dir().rglob("*.so")), "and the kernels went where they belong"


def test_environment_variables_depend_on_the_device_and_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    environment = Environment(Path(os.path.relpath(tmp_path)))
    assert environment.variables(cuda=True)["CUDA_VISIBLE_DEVICES"] == "3"
    variables = environment.variables(cuda=False, cache=tmp_path / "mine")
    assert variables["CUDA_VISIBLE_DEVICES"] == ""
    assert variables["OMP_NUM_THREADS"] == variables["TORCHINDUCTOR_COMPILE_THREADS"] == "1"
    assert variables["TORCHINDUCTOR_CACHE_DIR"] == str(tmp_path / "mine")
    assert variables["TMPDIR"] == os.path.normpath(tmp_path / "tmp") or Path(variables["TMPDIR"]).is_absolute()


def test_events_are_decoded_from_lines_that_arrive_in_pieces():
    events = [event_of("a", text="x\ny"), event_of("b")]
    data = b"".join(encode(event) for event in events)
    for size in (1, 3, len(data)):
        lines = MessageLines(Decoder(Said))
        pieces = [data[i : i + size] for i in range(0, len(data), size)]
        assert [event for piece in pieces for event in lines.feed(piece)] == events


@pytest.mark.parametrize("line", [b"x", b"[]", b"1", b"{}", b'{"event": 1}', b"\xff", b"[" * 100_000])
def test_line_that_is_no_event_is_refused(line):
    decoder = Do.decoder()
    assert next(MessageLines(decoder).feed(encode(event_of("fine")) + line + b"\n")) == event_of("fine")
    with pytest.raises(BadMessage):
        list(MessageLines(decoder).feed(line + b"\n"))
