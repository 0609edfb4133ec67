"""Values of a compiler's graph that pass through another layout, through pieces, or through index operations."""

import torch
import torch.nn.functional as F

from eqfuzz.rewrite.graphs.graph_rule import graph_rule


@graph_rule(exact="bitwise")
def transposed_twice(x):
    """Transposed, and back."""
    return x.transpose(0, -1).transpose(0, -1) if x.dim() > 1 else None


@graph_rule(exact="bitwise")
def transposed_in_memory(x):
    """With the first dimension innermost in memory."""
    return x.transpose(0, -1).contiguous().transpose(0, -1) if x.dim() > 1 else None


@graph_rule(exact="bitwise")
def channels_innermost(x):
    """With the channels innermost in memory."""
    return x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else None


@graph_rule(exact="bitwise")
def row_major(x):
    """In row-major order, of which nothing is left after a copy to column-major order."""
    return x.transpose(0, -1).clone(memory_format=torch.contiguous_format).transpose(0, -1).contiguous()


@graph_rule(exact="bitwise")
def flattened(x):
    """With one dimension, and back."""
    return x.reshape(-1).reshape(x.shape)


@graph_rule(exact="bitwise")
def unsqueezed(x):
    """With one more dimension, and back."""
    return x.unsqueeze(0).squeeze(0)


@graph_rule(exact="bitwise")
def split_in_columns(x):
    """With its last dimension as rows of two, and back."""
    return x.unflatten(-1, (-1, 2)).flatten(-2) if x.dim() and x.shape[-1] % 2 == 0 else None


@graph_rule(exact="bitwise")
def expanded(x):
    """The second one of two equal values in one memory."""
    return x.unsqueeze(0).expand(2, *x.shape)[1]


@graph_rule(exact="bitwise")
def repeated(x):
    """The second one of two copies."""
    return x.unsqueeze(0).repeat(2, *[1] * x.dim())[1]


@graph_rule(exact="bitwise")
def flipped_twice(x):
    """In reverse order, and back."""
    return x.flip(0).flip(0) if x.dim() else None


@graph_rule(exact="bitwise")
def rolled_twice(x):
    """Rolled by one, and back."""
    return x.roll(1, -1).roll(-1, -1) if x.dim() else None


@graph_rule(exact="bitwise")
def padded(x):
    """With a zero before each row, which is cut off again."""
    return F.pad(x, (1, 0))[..., 1:] if x.dim() else None


@graph_rule(exact="bitwise")
def padded_rows(x):
    """With five unused elements after each row."""
    return F.pad(x, (0, 5))[..., :-5] if x.dim() else None


@graph_rule(exact="bitwise")
def interleaved(x):
    """With its elements two apart."""
    return torch.stack((x, x), -1)[..., 0]


@graph_rule(exact="bitwise")
def joined_with_itself(x):
    """The second half of two copies that are joined."""
    return torch.cat((x, x))[x.shape[0] :] if x.dim() else None


@graph_rule(exact="bitwise")
def joined_of_two(x):
    """The first row, joined with the others."""
    return torch.cat((x[:1], x[1:])) if x.dim() and x.shape[0] > 1 else None


@graph_rule(exact="bitwise")
def joined_of_uneven_columns(x):
    """The last column, cut off and joined again."""
    return torch.cat((x[..., :-1], x[..., -1:]), -1) if x.dim() and x.shape[-1] > 1 else None


@graph_rule(exact="bitwise")
def split_and_joined(x):
    """In pieces of two rows, joined."""
    return torch.cat(x.split(2)) if x.dim() and 2 < x.shape[0] < 17 else None


@graph_rule(exact="bitwise")
def unbound_and_stacked(x):
    """Row by row, stacked."""
    return torch.stack(x.unbind()) if x.dim() and 0 < x.shape[0] < 9 else None


@graph_rule(exact="bitwise")
def joined_with_nothing(x):
    """Joined with a tensor that has no rows."""
    return torch.cat((x, x[:0])) if x.dim() else None


@graph_rule(exact="bitwise")
def indexed_in_order(x):
    """Its rows by their numbers."""
    return x[torch.arange(x.shape[0], device=x.device)] if x.dim() else None


@graph_rule(exact="bitwise")
def columns_selected(x):
    """Its columns by their numbers."""
    return x.index_select(-1, torch.arange(x.shape[-1], device=x.device)) if x.dim() else None


@graph_rule(exact="bitwise")
def gathered(x):
    """Each element by the number of its column."""
    return x.gather(-1, torch.arange(x.shape[-1], device=x.device).expand(x.shape)) if x.dim() else None


@graph_rule(exact="bitwise")
def scattered(x):
    """Each element written to its own column."""
    columns = torch.arange(x.shape[-1], device=x.device).expand(x.shape) if x.dim() else None
    return torch.zeros_like(x).scatter(-1, columns, x) if columns is not None else None


@graph_rule(exact="bitwise")
def rows_put(x):
    """Its rows written to their own places."""
    return torch.zeros_like(x).index_put((torch.arange(x.shape[0], device=x.device),), x) if x.dim() else None


@graph_rule(exact="bitwise")
def first_row_replaced(x):
    """Its first row written to its own place."""
    return x.select_scatter(x[0], 0, 0) if x.dim() and x.shape[0] else None


@graph_rule(exact="bitwise")
def rows_replaced(x):
    """Its rows from the second on written to their own places."""
    return x.slice_scatter(x[1:], 0, 1) if x.dim() else None


@graph_rule(exact="bitwise")
def triangles(x):
    """The part below its diagonal, and the part above."""
    if x.dim() != 2:
        return None
    return torch.where(torch.ones_like(x, dtype=torch.bool).tril(), x.tril(), x.triu(1))


@graph_rule(exact="bitwise", gradients=False)
def strided_by_hand(x):
    """A view of a row-major copy whose strides are given in numbers."""
    copy = x.clone(memory_format=torch.contiguous_format)
    return copy.as_strided(x.shape, copy.stride())


@graph_rule(exact="bitwise")
def as_pairs(x):
    """A complex value as pairs of real ones, and back."""
    return torch.view_as_complex(torch.view_as_real(x)) if x.is_complex() else None
