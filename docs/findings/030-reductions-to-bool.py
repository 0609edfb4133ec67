"""`sum` and `prod` with `dtype=torch.bool` do not compile.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch

failures = 0
for x, reduce in ((torch.ones(17, dtype=torch.uint8), torch.sum), (torch.ones(20), torch.prod)):
    torch._dynamo.reset()
    print("eager:   ", reduce(x, dtype=torch.bool))
    try:
        print("compiled:", torch.compile(lambda x, reduce=reduce: reduce(x, dtype=torch.bool))(x))
    except Exception as error:
        print("compiled:", str(error).splitlines()[0])
        failures += 1
raise SystemExit(failures > 0)
