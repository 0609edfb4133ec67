import torch

torch._dynamo.config.capture_scalar_outputs = True
torch._dynamo.config.capture_dynamic_output_shape_ops = True
torch.manual_seed(42)


def fuzzed_program(arg_0, arg_1, arg_2, sentinel):
    var_node_3 = arg_0  # size=(2, 3), stride=(3, 1), dtype=float32, device=cpu
    var_node_4 = arg_1  # size=(2, 3), stride=(1, 2), dtype=float32, device=cpu
    var_node_2 = torch.add(var_node_3, var_node_4)  # size=(2, 3), stride=(3, 1), dtype=float32, device=cpu
    var_node_5 = arg_2  # size=(3, 4), stride=(4, 1), dtype=float32, device=cpu
    var_node_6 = torch.matmul(var_node_2, var_node_5)  # size=(2, 4), stride=(4, 1), dtype=float32, device=cpu
    var_node_7 = torch.nn.functional.softmax(var_node_6, dim=1)  # size=(2, 4), stride=(4, 1), dtype=float32
    var_node_1 = torch.reshape(var_node_7, (4, 2))  # size=(4, 2), stride=(2, 1), dtype=float32, device=cpu
    var_node_8 = torch.full((4, 2), 0.5, dtype=torch.float32)  # size=(4, 2), stride=(2, 1), dtype=float32
    var_node_0 = torch.mul(var_node_1, var_node_8)  # size=(4, 2), stride=(2, 1), dtype=float32, device=cpu
    # Ensure gradient computation by multiplying with sentinel
    result = var_node_0 * sentinel
    return result


# Sentinel tensor to ensure gradient computation
sentinel = torch.tensor(1.0, requires_grad=True)

arg_0 = torch.as_strided(torch.randn(6).to(torch.float32), (2, 3), (3, 1))
arg_1 = torch.as_strided(torch.randn(6).to(torch.float32), (2, 3), (1, 2))
arg_2 = torch.randn((3, 4), dtype=torch.float32)

args = (arg_0, arg_1) + (arg_2,)
out_eager = fuzzed_program(*args, sentinel)
out_eager.sum().backward()
print("Eager Success! ✅")
compiled_program = torch.compile(fuzzed_program, fullgraph=True, dynamic=True)
out_compiled = compiled_program(*args, sentinel)
out_compiled.sum().backward()
print("Compile Success! ✅")
out_eager_sum = out_eager.sum()
out_compiled_sum = out_compiled.sum()
diff = (out_eager_sum - out_compiled_sum).abs().item()
rel_diff = diff / (out_eager_sum.abs().item() + 1e-12) * 100
print(f"Relative diff (sum): {rel_diff:.6f}%")
if rel_diff > 5 and diff > 1:
    print("❌ Forward output sums differ significantly!")
    import sys

    sys.exit(1)
