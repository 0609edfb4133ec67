"""The gradient of the mean loss of an empty batch cannot be compiled.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch
import torch.nn.functional as F

failures = 0
for loss in (F.mse_loss, F.smooth_l1_loss, F.huber_loss):
    boxes, targets = torch.zeros(0, 4, requires_grad=True), torch.zeros(0, 4)
    loss(boxes, targets).backward()
    print("eager:   ", loss.__name__, "has a gradient of shape", tuple(boxes.grad.shape))
    torch._dynamo.reset()
    try:
        torch.compile(lambda x, y, loss=loss: loss(x, y))(boxes, targets).backward()
    except Exception as error:
        print("compiled:", str(error).splitlines()[1])
        failures += "ZeroDivisionError" in str(error)
raise SystemExit(failures > 0)
