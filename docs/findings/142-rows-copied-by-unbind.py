"""`unbind_copy` gives views of one tensor.

Exit status: 1 while the defect is there, 0 once it is fixed.
"""

import torch


def f(x):
    return torch.unbind_copy(x * 2)


def storages(function):
    return len({row.untyped_storage().data_ptr() for row in function(torch.ones(3, 2))})


right, wrong = storages(f), storages(torch.compile(f))
print("storages of three rows in eager:   ", right)
print("storages of three rows in compiled:", wrong)
raise SystemExit(right != wrong)
