"""What the tests of the process layer run in children: small programs, most of them bad."""

from __future__ import annotations

import ctypes
import dataclasses
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any, Literal

from eqfuzz.run.messages.job import ChildEvent, ChildExit, ChildFinished, Emit, Job, JobTarget, StageEntered


@dataclasses.dataclass(frozen=True, kw_only=True)
class Said(ChildEvent):
    """Anything that a program of these tests reports."""

    event: Literal["said"] = "said"
    name: str
    fields: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.fields[key]


def event_of(name: str, **fields: Any) -> Said:
    return Said(name=name, fields=fields)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Do(Job[Said]):
    """Call the function of this module named ``do``."""

    TARGET = "process_targets:TARGET"
    EVENTS = (Said,)
    ANSWER = Said

    job: Literal["do"] = "do"
    do: str
    case: dict[str, Any] = dataclasses.field(default_factory=dict)


def run(job: Do, emit: Emit) -> None:
    globals()[job.do](job.case, emit)


TARGET = JobTarget({Do: run})


def good(case: dict[str, Any], emit: Emit) -> None:
    import torch

    emit(StageEntered(stage="eager", seconds=10))
    print("adding")
    emit(event_of("sum", value=torch.arange(case["n"]).sum().item(), random=random.random()))
    emit(event_of("drawn", value=torch.rand(()).item()))


def echo(case: dict[str, Any], emit: Emit) -> None:
    emit(event_of("echo", case=case))


def read_stdin(case: dict[str, Any], emit: Emit) -> None:
    emit(event_of("stdin", text=sys.stdin.read()))


def look(case: dict[str, Any], emit: Emit) -> None:
    """Report the environment of this process."""
    import torch

    preload = sys.modules.get("eqfuzz_preload")
    emit(
        event_of(
            "seen",
            pid=os.getpid(),
            group=os.getpgid(0),
            session=os.getsid(0),
            parent=os.getppid(),
            folder=str(Path.cwd()),
            variables=dict(os.environ),
            threads=torch.get_num_threads(),
            cuda=torch.cuda.is_available(),
            preload=getattr(preload, "MARK", None),
            descriptors=_descriptors(),
        )
    )


def lose_the_gpu(case: dict[str, Any], emit: Emit) -> None:
    """An index out of range on the device: its context is of no use any more."""
    import torch

    torch.zeros(3, device="cuda")[torch.tensor([7], device="cuda")]


def use_the_gpu(case: dict[str, Any], emit: Emit) -> None:
    import torch

    emit(event_of("sum", pid=os.getpid(), value=torch.ones(7, device="cuda").sum().item()))


def _descriptors():
    descriptors = {}
    for entry in list(Path("/proc/self/fd").iterdir()):
        try:
            descriptors[entry.name] = str(entry.readlink())
        except FileNotFoundError:
            continue  # the one for reading the folder
    return descriptors


def wait(case: dict[str, Any], emit: Emit) -> None:
    """Say who it is, start a program in the same group, then sleep."""
    child = subprocess.Popen(["sleep", "1000"])
    emit(StageEntered(stage="eager", seconds=case.get("seconds", 60)))
    emit(event_of("here", pid=os.getpid(), child=child.pid, server=os.getppid()))
    time.sleep(1000)


def escape(case: dict[str, Any], emit: Emit) -> None:
    """Leave behind a program that has its own session and no parent."""
    script = "import os, time\nif os.fork(): os._exit(0)\nos.setsid()\ntime.sleep(1000)"
    subprocess.run([sys.executable, "-c", script], check=True)
    emit(event_of("escaped"))
    if case.get("then") == "hang":
        emit(StageEntered(stage="eager", seconds=1))
        time.sleep(1000)


def good_after(case: dict[str, Any], emit: Emit) -> None:
    emit(event_of("begun"))
    time.sleep(case["seconds"])
    emit(event_of("well"))


def segfault(case: dict[str, Any], emit: Emit) -> None:
    emit(StageEntered(stage="compile", seconds=20))
    print("about to fall")
    ctypes.string_at(0)


def abort(case: dict[str, Any], emit: Emit) -> None:
    os.abort()


def leave(case: dict[str, Any], emit: Emit) -> None:
    os._exit(3)


def leave_with_zero(case: dict[str, Any], emit: Emit) -> None:
    os._exit(0)


def system_exit(case: dict[str, Any], emit: Emit) -> None:
    sys.exit(4)


def loop(case: dict[str, Any], emit: Emit) -> None:
    emit(StageEntered(stage="eager", seconds=1))
    while True:
        pass


def loop_in_c(case: dict[str, Any], emit: Emit) -> None:
    """Sleep with the GIL held: no Python code can run meanwhile."""
    emit(StageEntered(stage="compile", seconds=1))
    ctypes.PyDLL(None).sleep(1000)


def loop_deaf(case: dict[str, Any], emit: Emit) -> None:
    """Ignore every signal that can be ignored."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    emit(StageEntered(stage="eager", seconds=1))
    while True:
        time.sleep(1)


def loop_before_any_stage(case: dict[str, Any], emit: Emit) -> None:
    time.sleep(1000)


def burn_cpu(case: dict[str, Any], emit: Emit) -> None:
    """Meet the limit of CPU seconds, which in a real case takes longer than the wall limit."""
    import resource

    emit(StageEntered(stage="eager", seconds=30))
    used = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime) + 1
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    emit(event_of("cpu", soft=soft, used=used))
    resource.setrlimit(resource.RLIMIT_CPU, (used + 1, hard))
    while True:
        pass


def flood_events(case: dict[str, Any], emit: Emit) -> None:
    emit(StageEntered(stage="eager", seconds=1))
    while True:
        emit(event_of("tick"))


def print_forever(case: dict[str, Any], emit: Emit) -> None:
    emit(StageEntered(stage="eager", seconds=60))
    while True:
        print("x" * 1000)


def print_and_finish(case: dict[str, Any], emit: Emit) -> None:
    sys.stdout.write("out-" + "y" * 10_000 + "\nlast line")
    os.write(2, b"\nraw \xff")
    subprocess.run(["echo", "from a program"], check=True)


def allocate(case: dict[str, Any], emit: Emit) -> None:
    import torch

    emit(StageEntered(stage="eager", seconds=20))
    torch.empty(100 * 2**30, dtype=torch.uint8).fill_(1)


def catch_allocation(case: dict[str, Any], emit: Emit) -> None:
    """Ask for more than the limit of 8 GiB, though less than a machine may have, and for what no machine has."""
    import torch

    try:
        torch.empty(9 * 2**30, dtype=torch.uint8)
    except RuntimeError:
        emit(event_of("caught", by="torch"))
    try:
        bytearray(100 * 2**30)
    except MemoryError:
        emit(event_of("caught", by="python"))
    torch.empty(2**30, dtype=torch.uint8)


def kill_itself(case: dict[str, Any], emit: Emit) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_group(case: dict[str, Any], emit: Emit) -> None:
    os.killpg(0, signal.SIGTERM)
    time.sleep(1000)


def kill_parent(case: dict[str, Any], emit: Emit) -> None:
    emit(event_of("killing"))
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(1000)


def kill_parent_once(case: dict[str, Any], emit: Emit) -> None:
    mark = Path(case["mark"])
    if mark.exists():
        emit(event_of("second"))
        return
    mark.touch()
    kill_parent(case, emit)


def raise_error(case: dict[str, Any], emit: Emit) -> None:
    print("before")
    raise ValueError("no such\nluck")


def write_garbage(case: dict[str, Any], emit: Emit) -> None:
    _write_everywhere(case["garbage"].encode())
    emit(event_of("after"))


def _write_everywhere(data: bytes) -> None:
    for entry in list(Path("/proc/self/fd").iterdir()):
        try:
            if int(entry.name) > 2 and str(entry.readlink()).startswith("pipe:"):
                os.write(int(entry.name), data)
        except OSError:
            continue


def close_everything(case: dict[str, Any], emit: Emit) -> None:
    os.closerange(0, 4096)
    if case.get("then") == "stay":
        time.sleep(1000)


def close_streams(case: dict[str, Any], emit: Emit) -> None:
    sys.stdout.close()
    os.close(2)
    os.close(1)
    emit(event_of("quiet"))


def fork_and_return(case: dict[str, Any], emit: Emit) -> None:
    """A program that forks: both processes come back here."""
    os.fork()
    emit(event_of("one of us"))


def bad_event(case: dict[str, Any], emit: Emit) -> None:
    refused = []
    for make in (
        lambda: StageEntered(stage="eager", seconds=0),
        ChildFinished,
        lambda: ChildExit(reason="done"),
        lambda: event_of("x", value=object()),
    ):
        try:
            emit(make())
        except (TypeError, ValueError) as error:
            refused.append(type(error).__name__)
    emit(event_of("refused", errors=refused))


def compile_program(case: dict[str, Any], emit: Emit) -> None:
    """Really compile, forward and backward, something that the warm-up has not compiled."""
    import torch

    emit(StageEntered(stage="compile", seconds=case["seconds"]))
    constant = case["constant"]

    def program(x):
        return torch.tanh(x * constant).sum(0) + x.cos().mean()

    x = torch.linspace(-2, 2, 400_000, dtype=torch.float64).reshape(400, 1000).requires_grad_()
    outcomes = []
    for function in (program, torch.compile(program)):
        value = function(x)
        (gradient,) = torch.autograd.grad(value.sum(), x)
        outcomes.append((value.detach(), gradient))
    from torch._inductor import metrics

    equal = all(torch.allclose(a, b) for a, b in zip(*outcomes, strict=True))
    emit(event_of("compiled", equal=equal, kernels=metrics.generated_kernel_count))


def disturb(case: dict[str, Any], emit: Emit) -> None:
    """Change everything that a process keeps between two cases."""
    import torch

    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.set_grad_enabled(False)
    torch.use_deterministic_algorithms(True)
    torch.autograd.set_detect_anomaly(True)
    torch.set_autocast_enabled("cpu", True)
    torch.set_num_threads(2)
    torch.set_float32_matmul_precision("medium")
    torch.manual_seed(77)
    random.seed(77)
    torch._dynamo.config.cache_size_limit = 1
    torch._inductor.config.max_fusion_size = 1
    torch._inductor.config.cpp.simdlen = 1
    torch._inductor.config.aggressive_fusion = True
    torch.sin = torch.cos
    torch.Tensor.relu = torch.Tensor.sin
    os.environ["DISTURBED"] = "yes"
    os.environ.pop("OMP_NUM_THREADS", None)
    os.chdir("/")
    sys.modules["disturber"] = type(sys)("disturber")
    sys.path.insert(0, "/nowhere")
    sys.setrecursionlimit(5000)
    sys.stdout = None
    warnings.simplefilter("error")
    signal.signal(signal.SIGUSR1, lambda *_: None)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    gc.disable()


def state(case: dict[str, Any], emit: Emit) -> None:
    """Report what ``disturb`` changes."""
    import torch

    emit(
        event_of(
            "state",
            dtype=str(torch.get_default_dtype()),
            device=str(torch.empty(0).device),
            grad=torch.is_grad_enabled(),
            deterministic=torch.are_deterministic_algorithms_enabled(),
            anomaly=torch.is_anomaly_enabled(),
            autocast=torch.is_autocast_enabled("cpu"),
            threads=torch.get_num_threads(),
            precision=torch.get_float32_matmul_precision(),
            rand=torch.rand(()).item(),
            random=random.random(),
            cache_size_limit=torch._dynamo.config.cache_size_limit,
            max_fusion_size=torch._inductor.config.max_fusion_size,
            simdlen=torch._inductor.config.cpp.simdlen,
            aggressive_fusion=torch._inductor.config.aggressive_fusion,
            sin=torch.sin(torch.tensor(0.0)).item(),
            relu=torch.tensor(-1.0).relu().item(),
            disturbed=os.environ.get("DISTURBED"),
            omp=os.environ.get("OMP_NUM_THREADS"),
            folder=Path.cwd().name.split("-")[0],
            module="disturber" in sys.modules,
            path="/nowhere" in sys.path,
            recursion=sys.getrecursionlimit(),
            stdout=sys.stdout is not None,
            filters=warnings.filters[0][0] if warnings.filters else None,
            usr1=signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL,
            term=signal.getsignal(signal.SIGTERM) == signal.SIG_DFL,
            gc=gc.isenabled(),
        )
    )


def leave_thread(case: dict[str, Any], emit: Emit) -> None:
    threading.Thread(target=time.sleep, args=(1000,), daemon=True, name="straggler").start()


def who(case: dict[str, Any], emit: Emit) -> None:
    emit(event_of("who", pid=os.getpid(), server=os.getppid()))
