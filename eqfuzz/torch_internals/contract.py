"""Every private name of torch that eqfuzz relies on, what for, and what is lost without it."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import os
import types
from collections.abc import Callable
from typing import Any
from unittest import mock


@dataclasses.dataclass(frozen=True)
class PrivateName:
    """A private name of torch.

    Attributes:
        path: ``module:attribute``, or a module alone.
        use: What eqfuzz uses it for: a verb with its object.
        lost: What a torch without it costs; empty: eqfuzz does not run without it.
        releases: The PEP 440 range that has it.
        elsewhere: Its names in other releases, of which one is enough.
        parameters: Those that eqfuzz passes by name or, of a function that it replaces, takes.
        attributes: Those that methods of a class set.
    """

    path: str
    use: str
    lost: str = ""
    releases: str = ">=2.6"
    elsewhere: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """The module that has it."""
        return self.path.partition(":")[0]

    @property
    def dotted(self) -> str:
        """The name as in Python."""
        return self.path.replace(":", ".")


@dataclasses.dataclass(frozen=True)
class MissingName:
    """A name of the contract, and the part of it that the torch of this process lacks, in words."""

    name: PrivateName
    what: str

    def __str__(self) -> str:
        import torch

        return f"torch {torch.__version__.partition('+')[0]} lacks {self.what} ({self.name.use})"


_DYNAMO = (
    PrivateName("torch._dynamo:reset", "drops compiled code between cells"),
    PrivateName("torch._dynamo.utils:counters", "counts graphs and graph breaks, and gets its feedback from counters"),
    PrivateName("torch._dynamo.utils:get_compilation_metrics", "counts recompilations"),
    PrivateName("torch._dynamo.utils:clear_compilation_metrics", "counts the recompilations of one cell"),
    PrivateName("torch._dynamo.utils:CompilationMetrics.compile_id", "counts recompilations"),
    PrivateName(
        "torch._dynamo.output_graph:OutputGraph.call_user_compiler",
        "counts graphs with unbacked symbols",
        parameters=("gm",),
    ),
    PrivateName(
        "torch._dynamo.eval_frame:OptimizedModule",
        "checks the model in what torch.compile returns",
        attributes=("_orig_mod",),
    ),
    PrivateName("torch._dynamo.eval_frame:innermost_fn", "checks the function in what torch.compile returns"),
    PrivateName("torch._dynamo.trace_rules:add", "keeps the tracer of lines out of compiled programs"),
    PrivateName(
        "torch._dynamo.utils:same",
        "asks PyTorch's own closeness check for its opinion of a finding",
        parameters=("fp64_ref", "equal_nan", "log_error"),
    ),
    PrivateName(
        "torch._dynamo.guards:profile_guard_manager",
        "leaves out a measurement of guards while compiling",
        lost="26 ms for each graph",
    ),
)

_INDUCTOR = (
    PrivateName(
        "torch._inductor.compile_fx:compile_fx",
        "puts itself between AOTAutograd and Inductor",
        parameters=("inner_compile", "config_patches"),
    ),
    PrivateName(
        "torch._inductor.compile_fx:compile_fx_inner",
        "puts itself between AOTAutograd and Inductor",
        parameters=("gm", "example_inputs"),
    ),
    PrivateName("torch._inductor:list_mode_options", "audits a mode of torch.compile", parameters=("mode", "dynamic")),
    PrivateName("torch._inductor.graph:GraphLowering.save_output_code", "reads generated code"),
    PrivateName("torch._inductor.graph:GraphLowering.run", "reads graphs that are about to be lowered"),
    PrivateName("torch._inductor.metrics:reset", "forgets Inductor's counts between cases"),
    PrivateName(
        "torch._inductor.codecache:PyCodeCache.load_by_key_path",
        "notices cells that generate code that was judged already",
        parameters=("key", "path"),
    ),
    PrivateName(
        "torch._inductor.sizevars:simplify_index_in_vec_range",
        "does not simplify linear index expressions",
        lost="5 to 40 ms for each index that is vectorised",
        elsewhere=("torch._inductor.codegen.cpp:simplify_index_in_vec_range",),
        parameters=("index", "var", "vec_length"),
    ),
    PrivateName("torch._guards:TracingContext.try_get", "hides added outputs of a graph from AOTAutograd"),
    PrivateName(
        "torch._guards:TracingContext",
        "hides added outputs of a graph from AOTAutograd",
        attributes=("output_strides",),
    ),
)

_CPP_KERNELS = (
    PrivateName(
        "torch._inductor.async_compile:AsyncCompile.cpp_pybinding",
        "builds the kernels of many cells in one run of the compiler",
        parameters=("argtypes", "source_code"),
    ),
    PrivateName(
        "torch._inductor.codecache:CppPythonBindingsCodeCache.load_pybinding",
        "builds a kernel alone as torch does",
    ),
    PrivateName(
        "torch._inductor.codecache:CppPythonBindingsCodeCache.load_pybinding_async",
        "gives kernels that are built together torch's Python bindings",
        parameters=("argtypes",),
    ),
    PrivateName(
        "torch._inductor.codecache:CppPythonBindingsCodeCache.load_async",
        "gives kernels that are built together torch's Python bindings",
    ),
    PrivateName("torch._inductor.codecache:CppPythonBindingsCodeCache.load", "builds kernels with torch's own flags"),
    PrivateName(
        "torch._inductor.codecache:CppPythonBindingsCodeCache._load_library",
        "loads kernels that were built together",
        parameters=("path", "key"),
    ),
    PrivateName(
        "torch._inductor.codecache:CppPythonBindingsCodeCache._load_library_inner",
        "builds kernels without loading them",
        parameters=("path", "key"),
    ),
    PrivateName(
        "torch._inductor.codecache:CppPythonBindingsCodeCache.entry_function",
        "loads kernels that were built together",
    ),
    PrivateName(
        "torch._inductor.cpp_builder:CppBuilder.build",
        "puts what the compiler builds in place when it is complete",
        parameters=("self",),
    ),
    PrivateName(
        "torch._inductor.cpp_builder:CppBuilder",
        "puts what the compiler builds in place when it is complete",
        attributes=("_target_file",),
    ),
    PrivateName(
        "torch._inductor.codecache:_HEADER_DIR",
        "keeps precompiled headers in the toolchain folder",
        lost="there are no precompiled headers: each run of the compiler parses torch's",
        releases=">=2.8",
    ),
    PrivateName(
        "torch._inductor.codecache:_HEADER_LOCK_DIR",
        "keeps precompiled headers in the toolchain folder",
        lost="there are no precompiled headers: each run of the compiler parses torch's",
        releases=">=2.8",
    ),
)

_BISECTOR = (
    PrivateName("torch._inductor.compiler_bisector:CompilerBisector.do_bisect", "places findings", parameters=("fn",)),
    PrivateName(
        "torch._inductor.compiler_bisector:CompilerBisector.disable_subsystem",
        "switches parts of the compiler off",
        parameters=("backend", "subsystem", "debug_info"),
    ),
    PrivateName("torch._inductor.compiler_bisector:command_line_usage", "places findings that crash"),
    PrivateName("torch._inductor.compiler_bisector:BACKENDS", "knows the parts of the compiler that can be blamed"),
    PrivateName(
        "torch._inductor.compiler_bisector:ConfigChange",
        "switches options off that can be blamed",
        parameters=("config_name", "config_field", "config_value"),
    ),
    PrivateName(
        "torch._inductor.compiler_bisector:BisectionResult",
        "places findings",
        parameters=("backend", "subsystem", "bisect_number", "debug_info"),
    ),
)

_EXPORTING = tuple(
    PrivateName(
        f"torch.{path}", "exports graphs", lost="no configurations export and aot_inductor, none of other compilers"
    )
    for path in (
        "_decomp:core_aten_decompositions",
        "_dynamo.backends.common:aot_autograd",
        "_dynamo.backends.registry:_COMPILER_FNS",
        "_dynamo.backends.registry:register_backend",
        "_guards:tracing",
        "_subclasses.fake_tensor:unset_fake_temporarily",
        "_inductor:aoti_compile_and_package",
        "_inductor:aoti_load_package",
    )
)

_GRAPH_REWRITES = (
    *(
        PrivateName(path, "rewrites graphs in the compiler", lost="no configuration inductor-graphs")
        for path in (
            "torch._inductor.custom_graph_pass:CustomGraphPass.uuid",
            "torch._inductor.decomposition:select_decomp_table",
            "torch._inductor.config:pre_grad_custom_pass",
            "torch._inductor.config:post_grad_custom_pre_pass",
        )
    ),
    PrivateName(
        "torch._inductor.custom_graph_pass:CustomGraphPass.__call__",
        "rewrites graphs in the compiler",
        lost="no configuration inductor-graphs",
        parameters=("graph",),
    ),
)

GRAPH_PASSES = tuple(
    PrivateName(
        f"torch.{path}",
        "names what of a pass makes the difference",
        lost="a pass is blamed as a whole",
        parameters=parameters,
        attributes=attributes,
    )
    for path, parameters, attributes in (
        ("fx.passes.graph_transform_observer:GraphTransformObserver", (), ("gm", "passname")),
        ("fx.passes.graph_transform_observer:GraphTransformObserver.apply_graph_pass", ("pass_fn",), ()),
        ("fx.passes.graph_transform_observer:GraphTransformObserver.apply_gm_pass", ("pass_fn",), ()),
        ("fx.passes.graph_transform_observer:GraphTransformObserver.__enter__", (), ()),
        ("fx.passes.graph_transform_observer:GraphTransformObserver.__exit__", (), ()),
        ("_inductor.pattern_matcher:LoweringPatternEntry.apply", ("match", "graph", "node"), ()),
        ("_inductor.pattern_matcher:GraphPatternEntry.apply", ("match", "graph", "node"), ()),
        ("_inductor.pattern_matcher:ReplacementPatternEntry.apply", ("match", "graph", "node"), ()),
        ("_inductor.pattern_matcher:Match", (), ("replacement_graph",)),
    )
)

BORDERS = tuple(
    PrivateName(
        f"torch.{path}",
        "runs graphs between the passes of the compiler",
        lost="a faulty part is searched by compiling again, and slowly",
        parameters=parameters,
        attributes=attributes,
    )
    for path, parameters, attributes in (
        ("_inductor.compile_fx:run_pre_grad_passes", ("model_", "example_inputs_"), ()),
        ("_inductor.compile_fx:_recursive_joint_graph_passes", ("gm",), ()),
        ("_inductor.compile_fx:partition_fn", ("gm", "joint_inputs"), ()),
        ("_inductor.decomposition:decompositions", (), ()),
        ("fx:Interpreter.fetch_attr", ("target",), ()),
        ("fx:Graph.output_node", (), ()),
    )
)

_CONFIG = "eqfuzz config does not run"

_FUZZER = tuple(
    PrivateName(f"torch._inductor.fuzzer:{name}", use, lost=_CONFIG, releases=">=2.7", parameters=parameters)
    for name, use, parameters in (
        (
            "ConfigFuzzer",
            "tries configurations as torch's fuzzer does",
            ("config_module", "test_model_fn_factory", "seed", "default", "sm", "test_timeout"),
        ),
        ("ConfigFuzzer.test_config", "tries each configuration once", ("results", "config")),
        ("ConfigFuzzer._set_config", "puts options back that it has tried", ("field_name", "value")),
        ("ConfigFuzzer.fuzz_n_tuple", "tries options together", ("n", "max_combinations")),
        ("ConfigFuzzer.bisect", "finds the options that make the difference", ("num_attempts", "p")),
        ("ConfigFuzzer.reproduce", "tries configurations again", ("configs",)),
        ("SamplingMethod.dispatch", "draws values of options", ("sm",)),
        ("MODULE_DEFAULTS", "leaves options out that torch's fuzzer leaves out", ()),
        ("DEFAULT", "leaves options at their defaults", ()),
        ("ResultType.set", "keeps results with their values", ("combo", "status")),
        ("ResultType.lookup", "looks results up", ("combo",)),
        ("Status", "keeps results with their values", ()),
        ("ConfigType", "keeps results with their values", ()),
        ("FactoryType", "tries configurations as torch's fuzzer does", ()),
        ("FactoryOutputType", "tries configurations as torch's fuzzer does", ()),
        ("SamplingType", "draws values of options", ()),
        ("visualize_results", "shows results as torch's fuzzer does", ("n", "results")),
    )
)

_OPTIONS = (
    *(
        PrivateName(f"{module}:{name}", use)
        for module in (
            "torch._dynamo.config",
            "torch._inductor.config",
            "torch._functorch.config",
            "torch.fx.experimental._config",
            "torch.compiler.config",
        )
        for name, use in (
            ("patch", "runs a cell under options"),
            ("get_config_copy", "puts options back after a case"),
            ("_config", "knows the options that there are"),
        )
    ),
    *(
        PrivateName(f"torch._dynamo.config:{name}", use, lost=lost)
        for name, use, lost in (
            ("capture_scalar_outputs", "has a configuration", "no configuration inductor-scalar-outputs"),
            ("capture_dynamic_output_shape_ops", "has a configuration", "no configuration inductor-scalar-outputs"),
        )
    ),
    *(
        PrivateName(f"torch._inductor.config:{name}", use, lost=lost)
        for name, use, lost in (
            ("fallback_random", "has compiled programs draw the random numbers of eager", ""),
            ("fx_graph_cache", "compiles where a cache would have the graph", "a cache may hide passes"),
            ("fx_graph_remote_cache", "compiles where a cache would have the graph", "a cache may hide passes"),
            ("force_disable_caches", "follows a rewriting through the compiler", ""),
            ("compile_threads", "follows a rewriting through the compiler", ""),
            ("joint_custom_pre_pass", "follows a rewriting through the compiler", ""),
            ("post_grad_custom_post_pass", "follows a rewriting through the compiler", ""),
            ("emulate_precision_casts", "excuses half-precision numbers that fusion keeps wider", ""),
            ("cpp_wrapper", "has a configuration", "no configuration inductor-cpp-wrapper"),
            ("cpp.threads", "compiles for several threads", "no configuration with several threads"),
            ("cpp.min_chunk_size", "splits small loops", "no configuration with several threads"),
        )
    ),
    PrivateName("torch._functorch.config:enable_autograd_cache", "compiles where a cache would have the graph"),
    PrivateName(
        "torch._functorch.config:enable_remote_autograd_cache",
        "compiles where a cache would have the graph",
        lost="a cache may hide passes",
    ),
)

_OPERATORS = (
    PrivateName("torch._ops:OpOverload", "knows operators from other functions"),
    PrivateName("torch._ops:OpOverloadPacket.overloads", "knows an operator's forms"),
    PrivateName("torch._ops:HigherOrderOperator", "knows operators that take functions"),
    PrivateName("torch._ops:OperatorBase.name", "names operators that take functions"),
    PrivateName("torch.ops:aten.add.Tensor._schema", "reads the schemas of operators"),
    PrivateName("torch.ops:aten.add.Tensor._overloadname", "knows the forms of an operator that are exact"),
    PrivateName("torch.ops:aten._to_copy.default", "judges casts alone"),
    PrivateName("torch.ops:aten._neg_view", "reads the rows of a negated view"),
    PrivateName("torch.ops:prims.convert_element_type.default", "judges casts alone"),
    PrivateName("torch._jit_internal:boolean_dispatched", "knows the parameters of pooling functions"),
    PrivateName(
        "torch._higher_order_ops.cond:cond",
        "runs torch.cond as plain Python for the reference",
        parameters=("pred", "true_fn", "false_fn", "operands"),
    ),
    PrivateName(
        "torch._higher_order_ops.while_loop:while_loop",
        "runs while_loop as plain Python for the reference",
        parameters=("cond_fn", "body_fn", "carried_inputs"),
    ),
    PrivateName("torch._higher_order_ops:cond", "runs torch.cond as plain Python for the reference"),
    PrivateName("torch._higher_order_ops:while_loop", "runs while_loop as plain Python for the reference"),
    PrivateName("torch.utils._python_dispatch:TorchDispatchMode", "watches the operators of a program"),
    PrivateName("torch.utils._pytree:tree_flatten", "finds tensors in nested containers"),
    PrivateName("torch.utils._pytree:tree_leaves", "finds tensors in nested containers"),
    PrivateName("torch.utils._pytree:tree_map", "finds tensors in nested containers"),
    PrivateName("torch.utils._pytree:tree_map_only", "finds tensors in nested containers"),
    PrivateName("torch.utils._pytree:tree_unflatten", "calls exported programs with nested arguments"),
)

_TENSORS = (
    PrivateName("torch:Tensor._is_zerotensor", "does not read tensors that have no memory"),
    PrivateName("torch:Tensor._base", "distinguishes views without a history from other leaves"),
    PrivateName("torch:Tensor._version", "knows what was written to after a probe saw it"),
    PrivateName("torch:UntypedStorage._cdata", "knows tensors that share memory"),
    PrivateName("torch:UntypedStorage._weak_ref", "frees what it keeps beside a tensor when the tensor is freed"),
    PrivateName("torch:UntypedStorage._expired", "frees what it keeps beside a tensor when the tensor is freed"),
    PrivateName("torch:UntypedStorage._new_with_weak_ptr", "finds the memory that an array shares"),
    PrivateName("torch:UntypedStorage._free_weak_ref", "frees what it keeps beside a tensor when the tensor is freed"),
    PrivateName("torch._C:_functorch.is_functorch_wrapped_tensor", "does not read values inside vmap and grad"),
    PrivateName("torch._C:_functorch.peek_interpreter_stack", "notices transforms that a program has not left"),
    PrivateName("torch._C:_len_torch_function_stack", "notices modes that a program has not left"),
    PrivateName("torch._C:_len_torch_dispatch_stack", "notices modes that a program has not left"),
    PrivateName("torch._C:DisableTorchFunction", "frees each gradient of a reference when it is complete"),
    PrivateName("torch._C:_DisableTorchDispatch", "frees each gradient of a reference when it is complete"),
    *(
        PrivateName(f"torch.nn.modules.module:_global{hooks}", "leaves modules with hooks as they are")
        for hooks in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    ),
    PrivateName(
        "torch.nn:Module",
        "leaves modules with hooks as they are",
        attributes=("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"),
    ),
)

_SOURCES = (
    PrivateName("torch._inductor.fx_passes", "shows passes to a language model", lost="no prompts about passes"),
    PrivateName(
        "torch._inductor.lowering:register_lowering",
        "shows lowerings to a language model",
        lost="no prompts about lowerings",
    ),
    PrivateName("torch._dynamo.variables", "shows trackers to a language model", lost="no prompts about trackers"),
    *(
        PrivateName(
            f"torch._inductor.pattern_matcher:{name}",
            "knows a pass that changed the program's graph from one that is being registered",
            lost="parts count as reached while patterns are registered",
        )
        for name in ("init_once_fakemode", "gen_register_replacement", "fwd_only", "joint_fwd_bwd")
    ),
)

_OP_CATALOGUE = tuple(
    PrivateName(
        f"torch.testing._internal.{path}",
        "writes samples of torch's own tests as seeds",
        lost="no eqfuzz generate opinfo, modules and optimizers, which need expecttest too",
        parameters=parameters,
    )
    for path, parameters in (
        ("common_methods_invocations:op_db", ()),
        ("opinfo.core:OpInfo.sample_inputs", ("device", "dtype", "requires_grad")),
        ("opinfo.core:OpInfo.supports_dtype", ("dtype", "device_type")),
        ("opinfo.core:OpInfo.supported_backward_dtypes", ("device_type",)),
        ("opinfo.core:OpInfo.formatted_name", ()),
        ("opinfo.core:OpInfo.error_inputs", ("device",)),
        ("common_modules:module_db", ()),
        ("common_optimizers:optim_db", ()),
    )
)

CONTRACT = (
    *_DYNAMO,
    *_INDUCTOR,
    *_CPP_KERNELS,
    *_BISECTOR,
    *_EXPORTING,
    *_GRAPH_REWRITES,
    *GRAPH_PASSES,
    *BORDERS,
    *_FUZZER,
    *_OPTIONS,
    *_OPERATORS,
    *_TENSORS,
    *_SOURCES,
    *_OP_CATALOGUE,
)


def missing() -> list[MissingName]:
    """Names that the torch of this process lacks, in the order of the contract. Imports their modules."""
    return [MissingName(name, what) for name in CONTRACT if (what := lacks(name))]


def lacks(name: PrivateName) -> str:
    """The part of ``name`` that the torch of this process lacks, in words; empty where it lacks nothing."""
    values = [value for path in (name.path, *name.elsewhere) for value in _values(path)]
    if not values:
        return name.dotted if _values(name.module) else name.module
    for kind, wanted, names_of in (
        ("parameter", name.parameters, _parameters),
        ("attribute", name.attributes, _attributes),
    ):
        absent = set(wanted) - names_of(values[0]) if wanted else ()
        if absent:
            return f"the {kind} {min(absent)} of {name.dotted}"
    return ""


def _values(path: str) -> list[Any]:
    """The value at the path, in a list; an empty list where there is none."""
    module, _, attributes = path.partition(":")
    try:
        # Importing Inductor would start processes that compile kernels.
        with mock.patch.dict(os.environ, {"TORCH_WARM_POOL": "0"}):
            value = importlib.import_module(module)
        return [functools.reduce(getattr, filter(None, attributes.split(".")), value)]
    except (ImportError, AttributeError):
        return []


def _parameters(function: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(function).parameters)


def _attributes(owner: type) -> set[str]:
    """The names that methods of a class use."""
    methods = (value for base in owner.__mro__ for value in vars(base).values())
    codes = (method.__code__ for method in methods if isinstance(method, types.FunctionType))
    return {name for code in codes for name in code.co_names}
