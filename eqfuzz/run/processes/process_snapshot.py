"""Snapshot of a worker: restores what a job has changed in the process before the next one runs."""

from __future__ import annotations

import builtins
import contextlib
import faulthandler
import fcntl
import gc
import importlib
import json
import math
import operator
import os
import random
import resource
import signal
import sys
import sysconfig
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from eqfuzz.run.limits import GIB, mapped_bytes
from eqfuzz.run.processes.child import HIGH_DESCRIPTOR
from eqfuzz.run.processes.process_tree import children_of, kill
from eqfuzz.torch_internals.options import MODULES, config_module, values_of

# A worker that maps this much more than at its start, or has this many more files open, is replaced.
_TOLERATED_GROWTH = 8 * GIB
_TOLERATED_FILES = 200
_PATIENCE_WITH_THREADS = 0.5

_PATCHABLE = ("torch", "torch.nn", "torch.nn.functional", "torch.Tensor", "torch.nn.Module", "torch.linalg")

Undo = Callable[[], object]


class Snapshot:
    """The state of this process before the first job.

    Restored: Dynamo's caches and every compiler configuration, torch's global switches, random generators,
    functions replaced in ``torch`` and ``builtins``, modules, environment variables, folder, standard streams,
    signal handlers, warnings, and Python's own settings. State that cannot be restored is reported as damage.
    """

    def __init__(self, undo: list[Undo]) -> None:
        self._undo = undo
        self._threads = set(threading.enumerate())
        self._helpers = children_of(os.getpid())
        self._mapped = mapped_bytes()
        self._files = _open_files()
        self._signals = {number: signal.getsignal(number) for number in signal.valid_signals()}

    @classmethod
    def take(cls) -> Snapshot:
        """Save the state. Torch and its compiler must be imported."""
        # So that the garbage collection after each job visits only the job's objects.
        gc.collect()
        gc.freeze()
        # Python's state first: a program may have turned warnings into errors.
        return cls([*_python(), _streams(), _modules(), *_patched_names(), *_configurations(), *_torch_switches()])

    def put_back(self) -> str | None:
        """Restore the state. Returns in one line why this process must be replaced, or None."""
        faulthandler.disable()
        for child in children_of(os.getpid()) - self._helpers:
            kill(child)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)
        problems = []
        for undo in self._undo:
            try:
                undo()
            except Exception as error:  # a program can break anything; then this process must be replaced
                problems.append(f"{type(error).__name__} while putting things back: {error}")
        for number, handler in self._signals.items():
            if handler is not None and signal.getsignal(number) != handler:
                signal.signal(number, handler)
        gc.collect()
        problems += self._left_over()
        return "; ".join(problems) or None

    def _left_over(self) -> Iterator[str]:
        # Here, not above: this module is loaded before torch, in the process that workers fork from.
        from eqfuzz.torch_internals.modes import modes_are_active

        torch: Any = sys.modules["torch"]
        for thread in set(threading.enumerate()) - self._threads:
            thread.join(_PATIENCE_WITH_THREADS)
            if thread.is_alive():
                yield f"the thread {thread.name} is still running"
        if torch.cuda.is_initialized():
            try:
                torch.cuda.synchronize()
                torch.cuda.empty_cache()
            except RuntimeError as error:
                yield f"the CUDA context is lost: {error}"
        if torch.is_inference_mode_enabled():
            yield "inference mode is still on"
        if modes_are_active():
            yield "a torch mode or function transform is still active"
        grown = mapped_bytes() - self._mapped
        if grown > _TOLERATED_GROWTH and not torch.cuda.is_initialized():
            yield f"{grown / GIB:.1f} GiB were not given back"
        if _open_files() - self._files > _TOLERATED_FILES:
            yield "files were left open"


def _configurations() -> Iterator[Undo]:
    for name in MODULES:
        yield _keep_config(config_module(name))


def _keep_config(config: Any) -> Undo:
    saved = values_of(config)
    # Values such as lists and dicts may be changed in place, so keep their JSON text.
    mutable = {key: json.dumps(value) for key, value in saved.items() if _is_plain_container(value)}

    def undo() -> None:
        for key, value in values_of(config).items():
            if key in mutable:
                if not _is_plain_container(value) or json.dumps(value) != mutable[key]:
                    setattr(config, key, json.loads(mutable[key]))
            elif key in saved and value is not saved[key]:
                setattr(config, key, saved[key])

    return undo


def _is_plain_container(value: object) -> bool:
    """Whether JSON preserves it: a list, or a dict with string keys, of such or of plain values."""
    if isinstance(value, (list, dict)):
        try:
            return json.loads(json.dumps(value)) == value
        except (TypeError, ValueError):
            return False
    return False


def _torch_switches() -> Iterator[Undo]:
    """Torch's global state."""
    from eqfuzz.torch_internals.inductor import forget_compiles

    torch: Any = importlib.import_module("torch")

    def keep(read: Callable[[], Any], write: Callable[[Any], Any]) -> Undo:
        value = read()

        def undo() -> None:
            if read() != value:
                write(value)

        return undo

    yield forget_compiles
    yield keep(torch.get_default_dtype, torch.set_default_dtype)
    # An explicit set_default_device pushes a mode; None takes it away again.
    yield lambda: torch.set_default_device(None)
    yield keep(torch.is_grad_enabled, torch.set_grad_enabled)
    yield keep(
        lambda: (torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()),
        lambda value: torch.use_deterministic_algorithms(value[0], warn_only=value[1]),
    )
    yield _keep_attribute(torch.utils.deterministic, "fill_uninitialized_memory")
    for device in ("cpu", "cuda"):
        yield keep(
            lambda device=device: torch.is_autocast_enabled(device),
            lambda on, device=device: torch.set_autocast_enabled(device, on),
        )
        yield keep(
            lambda device=device: torch.get_autocast_dtype(device),
            lambda dtype, device=device: torch.set_autocast_dtype(device, dtype),
        )
    yield keep(torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled)
    yield torch.clear_autocast_cache
    yield keep(
        lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        lambda value: torch.set_anomaly_enabled(*value),
    )
    yield keep(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision)
    yield keep(torch.get_num_threads, torch.set_num_threads)
    yield lambda: torch.set_flush_denormal(False)
    yield lambda: torch.set_printoptions(profile="default")
    yield lambda: torch.manual_seed(0)
    for holder, name in (
        (torch.backends.cudnn, "enabled"),
        (torch.backends.cudnn, "benchmark"),
        (torch.backends.cudnn, "deterministic"),
        (torch.backends.cudnn, "allow_tf32"),
        (torch.backends.cuda.matmul, "allow_tf32"),
        (torch.backends.cuda.matmul, "allow_fp16_reduced_precision_reduction"),
        (torch.backends.cuda.matmul, "allow_bf16_reduced_precision_reduction"),
        (torch.backends.mkldnn, "enabled"),
    ):
        yield _keep_attribute(holder, name)
    for name in ("flash", "mem_efficient", "math", "cudnn"):
        yield keep(
            getattr(torch.backends.cuda, f"{name}_sdp_enabled"), getattr(torch.backends.cuda, f"enable_{name}_sdp")
        )


def _keep_attribute(holder: Any, name: str) -> Undo:
    value = getattr(holder, name)

    def undo() -> None:
        if getattr(holder, name) != value:
            setattr(holder, name, value)

    return undo


def _patched_names() -> Iterator[Undo]:
    """Functions that programs may replace, in modules where they do."""
    for name in _PATCHABLE:
        holder: Any = importlib.import_module("torch")
        for part in name.split(".")[1:]:
            holder = getattr(holder, part)
        yield _keep_names(holder)
    for module in (builtins, math, operator, random, os, os.path, sys.modules["json"]):
        yield _keep_names(module)


def _keep_names(holder: Any) -> Undo:
    # Counters and caches of a module are left alone: only callables are restored.
    saved = {name: value for name, value in vars(holder).items() if callable(value) or isinstance(value, property)}

    every = frozenset(vars(holder))

    def undo() -> None:
        now = vars(holder)
        for name, value in saved.items():
            if now.get(name) is not value:
                setattr(holder, name, value)
        if isinstance(holder, type):
            for name in now.keys() - every:
                if any(name in vars(base) for base in holder.__mro__[1:]):
                    delattr(holder, name)

    return undo


def _modules() -> Undo:
    saved = dict(sys.modules)
    installed = tuple({str(Path(path).resolve()) for path in sysconfig.get_paths().values()})
    ours = str(Path(__file__).resolve().parents[2])

    def undo() -> None:
        for name, module in list(sys.modules.items()):
            if name not in saved and not _is_installed(module, (*installed, ours)):
                del sys.modules[name]
        for name, module in saved.items():
            if sys.modules.get(name) is not module:
                sys.modules[name] = module

    return undo


def _is_installed(module: types.ModuleType, folders: tuple[str, ...]) -> bool:
    """Whether a module belongs to Python, a package or eqfuzz.

    Those stay, even if a program imported them first: an extension module or a torch library cannot be loaded twice.
    """
    spec = getattr(module, "__spec__", None)
    if spec is not None and spec.origin in ("built-in", "frozen"):
        return True
    file = getattr(module, "__file__", None) or getattr(spec, "origin", None)
    if not isinstance(file, str):
        # torch.ops, torch.classes and the like; a program's own module that has no file stays too if it has
        # a parent that is kept.
        return getattr(module, "__name__", "").partition(".")[0] in {"torch", "numpy", "sympy", "triton"}
    return str(Path(file).resolve()).startswith(folders)


def _python() -> Iterator[Undo]:
    environ, folder, umask = dict(os.environ), Path.cwd(), os.umask(0o022)
    os.umask(umask)
    path, arguments, meta_path = list(sys.path), list(sys.argv), list(sys.meta_path)
    path_hooks, filters = list(sys.path_hooks), list(warnings.filters)
    recursion, switch, digits = sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()
    hooks = (sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook)
    show = warnings.showwarning
    collecting = gc.isenabled()
    limits = {kind: resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE)}

    def environment() -> None:
        if dict(os.environ) != environ:
            os.environ.clear()
            os.environ.update(environ)
        os.chdir(folder)
        os.umask(umask)

    def interpreter() -> None:
        sys.settrace(None)
        sys.setprofile(None)
        threading.settrace(None)  # pyright: ignore[reportArgumentType]
        threading.setprofile(None)
        sys.path[:], sys.argv[:], sys.meta_path[:], sys.path_hooks[:] = path, arguments, meta_path, path_hooks
        sys.path_importer_cache.clear()
        warnings.filters[:] = filters  # pyright: ignore[reportIndexIssue]
        warnings.showwarning = show
        sys.setrecursionlimit(recursion)
        sys.setswitchinterval(switch)
        sys.set_int_max_str_digits(digits)
        sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook = hooks
        if collecting:
            gc.enable()
        else:
            gc.disable()

    def kernel_limits() -> None:
        for kind, soft in limits.items():
            hard = resource.getrlimit(kind)[1]
            resource.setrlimit(kind, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))

    yield environment
    yield interpreter
    yield kernel_limits
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.0)
    yield lambda: signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _streams() -> Undo:
    objects = (sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__)
    descriptors = [_copy(number) for number in range(3)]

    def undo() -> None:
        for number, copy in enumerate(descriptors):
            os.dup2(copy, number)
        sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__ = objects  # pyright: ignore

    return undo


def _copy(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR)


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
