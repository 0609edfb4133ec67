"""Options of torch's config modules that sampled configurations do not change, with the reason."""

from __future__ import annotations

import fnmatch

LEFT_OUT: dict[str, dict[str, tuple[str, ...]]] = {
    "inductor": {
        "not a setting, or one for torch's own tests": tuple(
            "_* TYPE_CHECKING *_TESTING_ONLY test_configs.* is_nightly_or_source".split()
        ),
        "for devices other than the CPU, or for backends that are not installed": tuple(
            "triton.* triton_* cuda.* cutlass.* xpu.* rocm.* halide.* mtia.* eager_numerics.* *_backend *triton* "
            "*cudagraph* *nvgemm* *cutedsl* use_static_* strict_static_* keep_static_* static_launch_* "
            "use_launch_metadata_schema dynamic_scale_rblock combo_kernel* partitioned_scatter_* fx_wrapper "
            "b2b_gemm_pass auto_chunker.*".split()
        ),
        "for distributed programs": tuple(
            "aten_distributed_optimizations.* bucket_* dedup_reduce_scatters reorder_for_compute_comm_overlap* "
            "reorder_prefetch_limit int*_node_bw cpu_gpu_bw distributed_* collective_* *estimat*".split()
        ),
        "for export ahead of time": ("aot_inductor.*", "aot_inductor_mode.*", "enable_autograd_for_aot"),
        "prints, dumps, profiles or measures": tuple(
            "debug debug_fusion debug_ir_traceback reorder_for_peak_memory_debug *progress log_* *log_path *logpath "
            "trace.* profile* save_args developer_warnings annotate_training *report* *displayed* benchmark_* warn_* "
            "generate_intermediate_hooks run_jit_post_compile_hook cpp.enable_kernel_profile "
            "fx_passes_numeric_check".split()
        ),
        "a cache": ("*cache*",),
        "chooses by the clock (autotuning)": tuple(
            "*autotune* autoheuristic_* coordinate_descent_* *benchmarker lookup_table.* multi_kernel_hints "
            "search_*".split()
        ),
        "worker processes, threads and how long to wait for them": tuple(
            "compile_threads quiesce_* worker_* *_timeout* cpp.threads cpp.dynamic_threads".split()
        ),
        "describes the machine or the toolchain": ("cpp.vec_isa_ok", "cpp.march", "cpp.cxx"),
        "other random numbers are drawn": ("fallback_random", "align_random_eager", "apply_gumbel_max_trick"),
        "other rounding is asked for": tuple(
            "use_fast_math emulate_precision_casts* cpp.enable_unsafe_math_opt_flag cpp.use_decompose_tanh "
            "cpp.enable_floating_point_contract_flag".split()
        ),
        "other strides are allowed for": ("keep_output_stride", "pad_outputs", "bw_outputs_user_visible"),
        "a check is left out that eager makes, or one made that eager does not": tuple(
            "nan_asserts scalar_asserts assert_indirect_indexing do_not_emit_runtime_assertions".split()
        ),
        "a promise about the inputs, or about parameters that never change": tuple(
            "assume_aligned_inputs assume_32bit_indexing unsafe_* freezing* enable_linear_binary_folding".split()
        ),
        "the compiler fails on many programs with it (torch 2.13)": ("selective_decompose", "cpp.force_inline_kernel"),
        "refuses what it has no kernel for": ("implicit_fallbacks", "disable_cpp_codegen"),
        "numbers that the option does not take, or that g++ needs minutes for": tuple(
            "padding_alignment_bytes unroll_reductions_threshold post_grad_fusion_options".split()
        ),
    },
    "dynamo": {
        "not a setting, or one for torch's own tests": ("_*", "TYPE_CHECKING", "*_TESTING_ONLY", "base_dir"),
        "the compiler fails on many programs with it (torch 2.13)": ("generate_pycode",),
        "switches compiling off, now or after some calls": tuple(
            "disable minimum_call_count *recompile_limit* dont_skip_tracing skipfiles_* allowed_functions_* "
            "*traceable_tensor_subclasses".split()
        ),
        "makes the compiler raise where it would continue, or continue where it would raise": tuple(
            "suppress_errors fail_on_* error_on_* raise_on_* only_allow_pt2_compliant_ops strict_precompile "
            "do_not_emit_runtime_asserts prefer_deferred_runtime_asserts_over_guards "
            "automatic_dynamic_shapes_mark_as graph_deduplication_lint rewrite_assert_with_torch_assert".split()
        ),
        "prints, dumps, profiles or measures": tuple(
            "verbose verify_correctness log_* debug_* *profile* cprofile repro_* same_two_models_use_fp64 "
            "replay_record_* report_* record_* issue_* leaf_function_* *_logging_functions ignore_logger_methods "
            "fake_tensor_cache_crosscheck_enabled pt2_compile_id_prefix".split()
        ),
        "for distributed programs": tuple(
            "optimize_ddp* skip_torchrec *torchrec* *fsdp* enable_compiler_collectives enable_p2p_compilation".split()
        ),
        "for export ahead of time": ("install_free_tensors*", "enable_aot_compile", "prepare_freezing"),
        "a cache that outlives the process": ("caching_precompile", "automatic_dynamic_*_pgo"),
        "for devices other than the CPU": ("cudagraph_*",),
        "side effects or guards are left out": tuple(
            "replay_side_effects side_effect_replay_policy guard_nn_modules skip_guards_on_constant_func_defaults "
            "use_recursive_dict_tags_for_guards skip_fwd_side_effects_in_bwd_under_checkpoint "
            "enable_faithful_generator_behavior".split()
        ),
        "other random numbers are drawn": ("use_numpy_random_stream",),
        "other dtypes are asked for": ("numpy_default_*",),
        "its values are a compiler's own": ("compiled_autograd_kwargs_override",),
    },
}


def why_left_out(module: str, name: str) -> str:
    """The reason; empty for an option that no pattern fits. ``module`` is ``inductor`` or ``dynamo``."""
    for reason, patterns in LEFT_OUT[module].items():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            return reason
    return ""
