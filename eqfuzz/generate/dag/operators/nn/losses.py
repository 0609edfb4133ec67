"""Losses, reduced and per element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from eqfuzz.generate.dag.catalogue.operator import Needs, operator
from eqfuzz.generate.dag.values.draw import Draw
from eqfuzz.generate.dag.values.spec import FLOATS, WIDE, Range, Spec, UnsatisfiableSpec, index

_SIGNS = "torch.where({{{hole}}}, 1.0, -1.0).to(torch.{{dtype}})"
"""Targets that are 1 or -1, of booleans."""


def _batch(draw: Draw, out: Spec, least: int = 1, most: int = 3) -> Spec:
    """The spec of the predictions."""
    return out.of(*(draw.size(9) for _ in range(draw.integer(least, most))))


def _reduced(
    draw: Draw,
    count: int,
    form: str,
    *inputs: Spec,
    bound: Callable[..., float],
    means: tuple[str, ...] = ("", ', reduction="mean"'),
    **params: Any,
) -> Needs:
    """Needs of a reduced loss of ``count`` terms, each within ``bound``; keyword arguments fill the hole ``{more}``."""
    adds = draw.chance(0.3)
    times = count if adds else 1

    def values(*ranges: Range) -> Range:
        most = bound(*ranges) * times
        return Range(-most, most, nonfinite=any(r.nonfinite for r in ranges))

    more = ', reduction="sum"' if adds else draw.choice(means)
    return Needs(*inputs, values=values, forms=(form,), more=more, **params)


def _largest_difference(x: Range, y: Range) -> float:
    return x.most + y.most


_OF_PAIRS: dict[str, tuple[tuple[str, ...], Callable[[float], float]]] = {
    "mse_loss": (("",), lambda d: d * d),
    "l1_loss": (("",), lambda d: d),
    "smooth_l1_loss": (("", ", beta=0.5", ", beta=2.0"), lambda d: d),
    "huber_loss": (("", ", delta=0.5", ", delta=2.0"), lambda d: 2 * d),
}

for _name, (_keywords, _each) in _OF_PAIRS.items():
    _dtypes = FLOATS if _name != "huber_loss" else WIDE

    @operator(f"torch.nn.functional.{_name}", dtypes=_dtypes, rank=(0, 0), name_hint="loss")
    def pair_loss(
        draw: Draw,
        out: Spec,
        _name: str = _name,
        _keywords: tuple[str, ...] = _keywords,
        _each: Callable[[float], float] = _each,
    ) -> Needs:
        """Mean or sum over all elements."""
        operand = _batch(draw, out)
        form = f"F.{_name}({{0}}, {{1}}{draw.choice(_keywords)}{{more}})"
        return _reduced(
            draw, operand.numel, form, operand, operand, bound=lambda x, y: _each(_largest_difference(x, y))
        )

    @operator(
        f"torch.nn.functional.{_name}.none",
        f'F.{_name}({{0}}, {{1}}{{more}}, reduction="none")',
        dtypes=_dtypes,
        rank=(1, 5),
        name_hint="errors",
    )
    def pair_losses(
        draw: Draw, out: Spec, _keywords: tuple[str, ...] = _keywords, _each: Callable[[float], float] = _each
    ) -> Needs:
        """Element by element."""

        def values(x: Range, y: Range) -> Range:
            return Range(0, _each(_largest_difference(x, y)), nonfinite=x.nonfinite or y.nonfinite)

        return Needs(out.free(), out.free(), values=values, more=draw.choice(_keywords))


# Classes


def _classes(draw: Draw, out: Spec) -> tuple[int, tuple[int, ...], Spec]:
    """The number of classes, the size of the targets, and the spec of the scores."""
    count, batch = draw.choice((2, 3, 5, 10)), (draw.size(9),)
    further = tuple(draw.size(4) for _ in range(draw.choice((0, 0, 0, 1, 2))))
    scores = out.of(*batch, count, *further)
    return count, (*batch, *further), scores.dense() if further else scores


@operator("torch.nn.functional.cross_entropy", dtypes=FLOATS, rank=(0, 0), name_hint="loss", weight=2)
def cross_entropy(draw: Draw, out: Spec) -> Needs:
    """With class indices; sometimes with class weights or label smoothing."""
    count, size, scores = _classes(draw, out)
    bound = lambda x, *_: 2 * x.most + 3  # noqa: E731
    smooth = draw.choice(("", "", ", label_smoothing=0.1"))
    inputs = [scores, index(size, count)]
    form = "F.cross_entropy({0}, {1}{more})"
    if draw.chance(0.3):
        inputs.append(out.of(count).within(0.1, 1.0))
        form = "F.cross_entropy({0}, {1}, weight={2}.detach(){more})"
    form = form.replace("{more}", smooth + "{more}")
    return _reduced(draw, math.prod(size), form, *inputs, bound=bound)


@operator("torch.nn.functional.cross_entropy.ignored", dtypes=WIDE, rank=(0, 0), name_hint="loss")
def cross_entropy_without_class(draw: Draw, out: Spec) -> Needs:
    """With an ignored class, summed."""
    count, size, scores = _classes(draw, out)
    most = math.prod(size)
    form = 'F.cross_entropy({0}, {1}, ignore_index={class_}, reduction="sum")'
    values = lambda x, _: Range(0, (2 * x.most + 3) * most, nonfinite=x.nonfinite)  # noqa: E731
    return Needs(scores, index(size, count), values=values, forms=(form,), class_=draw.integer(0, count - 1))


@operator("torch.nn.functional.cross_entropy.probabilities", dtypes=WIDE, rank=(0, 0), name_hint="loss")
def cross_entropy_of_probabilities(draw: Draw, out: Spec) -> Needs:
    """With probabilities as targets, whose sum need not be 1."""
    count, size, scores = _classes(draw, out)
    form = f"F.cross_entropy({{0}}, {{1}}{draw.choice(('', ', label_smoothing=0.1'))}{{more}})"
    bound = lambda x, _: (2 * x.most + 3) * count  # noqa: E731
    return _reduced(draw, math.prod(size), form, scores, scores.within(0.0, 1.0), bound=bound)


@operator(
    "torch.nn.functional.cross_entropy.none",
    'F.cross_entropy({0}, {1}, reduction="none")',
    dtypes=FLOATS,
    rank=(1, 3),
    name_hint="losses",
)
def cross_entropies(draw: Draw, out: Spec) -> Needs:
    """One per target."""
    if out.numel == 0:
        raise UnsatisfiableSpec("empty")
    count = draw.choice((2, 3, 5, 10))
    scores = out.of(out.shape[0], count, *out.shape[1:]).dense()
    values = lambda x, _: Range(0, 2 * x.most + 3, nonfinite=x.nonfinite)  # noqa: E731
    return Needs(scores, index(out.shape, count), values=values)


@operator("torch.nn.functional.nll_loss", dtypes=FLOATS, rank=(0, 0), name_hint="loss")
def nll_loss(draw: Draw, out: Spec) -> Needs:
    """Of log-probabilities, or other negative scores."""
    count, size, scores = _classes(draw, out)
    inputs = [scores.within(-8.0, 0.0), index(size, count)]
    form = "F.nll_loss({0}, {1}{more})"
    if draw.chance(0.3):
        inputs.append(out.of(count).within(0.1, 1.0))
        form = "F.nll_loss({0}, {1}, weight={2}.detach(){more})"
    return _reduced(draw, math.prod(size), form, *inputs, bound=lambda x, *_: x.most)


@operator("torch.nn.functional.nll_loss.log_softmax", dtypes=WIDE, rank=(0, 0), name_hint="loss")
def nll_of_log_softmax(draw: Draw, out: Spec) -> Needs:
    """Cross entropy written out."""
    count, size, scores = _classes(draw, out)
    form = "F.nll_loss(F.log_softmax({0}, dim=1), {1}{more})"
    return _reduced(draw, math.prod(size), form, scores, index(size, count), bound=lambda x, _: 2 * x.most + 3)


@operator(
    "torch.nn.functional.multi_margin_loss",
    dtypes=WIDE,
    rank=(0, 0),
    name_hint="loss",
    weight=0.7,
)
def multi_margin_loss(draw: Draw, out: Spec) -> Needs:
    """The margin of the target class."""
    count, batch = draw.choice((2, 3, 5)), draw.size(9)
    keywords = draw.choice(("", ", margin=0.5", ", p=2"))
    bound = lambda x, _: (2 * x.most + 1) ** 2  # noqa: E731
    form = f"F.multi_margin_loss({{0}}, {{1}}{keywords}{{more}})"
    return _reduced(draw, batch, form, out.of(batch, count), index((batch,), count), bound=bound)


@operator("torch.nn.functional.multilabel_soft_margin_loss", dtypes=FLOATS, rank=(0, 0), name_hint="loss", weight=0.7)
def multilabel_soft_margin_loss(draw: Draw, out: Spec) -> Needs:
    """Of independent labels."""
    batch, count = draw.size(9), draw.size(6)
    operand = out.of(batch, count)
    form = "F.multilabel_soft_margin_loss({0}, {1}{more})"
    return _reduced(draw, batch, form, operand, operand.within(0.0, 1.0), bound=lambda x, y: 2 * x.most + 2)


# Probabilities


@operator("torch.nn.functional.binary_cross_entropy", dtypes=FLOATS, rank=(0, 0), name_hint="loss")
def binary_cross_entropy(draw: Draw, out: Spec) -> Needs:
    """Of probabilities away from 0 and 1."""
    operand = _batch(draw, out)
    inputs = [operand.within(0.05, 0.95), operand.within(0.0, 1.0)]
    form = "F.binary_cross_entropy({0}, {1}{more})"
    if draw.chance(0.25):
        inputs.append(operand.within(0.1, 2.0))
        form = "F.binary_cross_entropy({0}, {1}, weight={2}.detach(){more})"
    return _reduced(draw, operand.numel, form, *inputs, bound=lambda *_: 6.2)


@operator(
    "torch.nn.functional.binary_cross_entropy.none",
    'F.binary_cross_entropy({0}, {1}, reduction="none")',
    'nn.BCELoss(reduction="none")({0}, {1})',
    dtypes=FLOATS,
    rank=(1, 5),
    name_hint="losses",
)
def binary_cross_entropies(draw: Draw, out: Spec) -> Needs:
    """Element by element."""
    return Needs(out.free().within(0.05, 0.95), out.free().within(0.0, 1.0), values=Range(0, 3.1))


@operator(
    "torch.nn.functional.binary_cross_entropy_with_logits", dtypes=FLOATS, rank=(0, 0), name_hint="loss", weight=1.5
)
def binary_cross_entropy_with_logits(draw: Draw, out: Spec) -> Needs:
    """Of unbounded scores, sometimes with ``pos_weight``."""
    operand = _batch(draw, out)
    inputs = [operand, operand.within(0.0, 1.0)]
    form = "F.binary_cross_entropy_with_logits({0}, {1}{more})"
    if draw.chance(0.3):
        inputs.append(out.of(operand.shape[-1]).within(0.5, 2.0))
        form = "F.binary_cross_entropy_with_logits({0}, {1}, pos_weight={2}.detach(){more})"
    return _reduced(draw, operand.numel, form, *inputs, bound=lambda x, *_: 2 * x.most + 2)


@operator(
    "torch.nn.functional.binary_cross_entropy_with_logits.none",
    'F.binary_cross_entropy_with_logits({0}, {1}, reduction="none")',
    'nn.BCEWithLogitsLoss(reduction="none")({0}, {1})',
    dtypes=FLOATS,
    rank=(1, 5),
    name_hint="losses",
)
def binary_cross_entropies_with_logits(draw: Draw, out: Spec) -> Needs:
    """Element by element."""
    values = lambda x, y: Range(0, 2 * x.most + 1, nonfinite=x.nonfinite)  # noqa: E731
    return Needs(out.free(), out.free().within(0.0, 1.0), values=values)


@operator("torch.nn.functional.kl_div", dtypes=FLOATS, rank=(0, 0), name_hint="divergence")
def kl_div(draw: Draw, out: Spec) -> Needs:
    """Of log-probabilities, with probabilities or log-probabilities as targets."""
    operand = _batch(draw, out)
    logarithms = draw.chance(0.4)
    target = operand.within(-4.0, 0.0) if logarithms else operand.within(0.05, 1.0)
    form = f"F.kl_div({{0}}, {{1}}{', log_target=True' * logarithms}{{more}})"
    means = (', reduction="batchmean"', ', reduction="mean"')
    count = math.prod(operand.shape[1:])
    needs = _reduced(draw, operand.numel, form, operand.within(-8.0, 0.0), target, bound=lambda *_: 12, means=means)
    if "batchmean" in needs.params["more"]:
        return Needs(*needs.inputs, values=Range(-12 * count, 12 * count), forms=needs.forms, more=needs.params["more"])
    return needs


@operator(
    "torch.nn.functional.kl_div.none",
    'F.kl_div({0}, {1}, reduction="none")',
    dtypes=FLOATS,
    rank=(1, 5),
    name_hint="divergences",
)
def kl_divs(draw: Draw, out: Spec) -> Needs:
    """Element by element."""
    return Needs(out.free().within(-8.0, 0.0), out.free().within(0.05, 1.0), values=Range(-3, 12))


@operator("torch.nn.functional.poisson_nll_loss", dtypes=FLOATS, rank=(0, 0), name_hint="loss")
def poisson_nll_loss(draw: Draw, out: Spec) -> Needs:
    """Of rates, or their logarithms."""
    operand = _batch(draw, out)
    keywords = draw.choice(("", ", log_input=True", ", log_input=False"))
    first = operand.within(0.1, 8.0) if "False" in keywords else operand.within(-4.0, 4.0)
    form = f"F.poisson_nll_loss({{0}}, {{1}}{keywords}{{more}})"
    return _reduced(draw, operand.numel, form, first, operand.within(0.0, 8.0), bound=lambda x, y: 55 + 4 * y.most)


@operator("torch.nn.functional.gaussian_nll_loss", dtypes=WIDE, rank=(0, 0), name_hint="loss")
def gaussian_nll_loss(draw: Draw, out: Spec) -> Needs:
    """With a variance per element."""
    operand = _batch(draw, out)
    form = f"F.gaussian_nll_loss({{0}}, {{1}}, {{2}}{draw.choice(('', ', full=True', ', eps=0.001'))}{{more}})"
    bound = lambda x, y, _: 2 * _largest_difference(x, y) ** 2 + 4  # noqa: E731
    return _reduced(draw, operand.numel, form, operand, operand, operand.within(0.25, 16.0), bound=bound)


# Signs and margins


@operator("torch.nn.functional.hinge_embedding_loss", dtypes=FLOATS, rank=(0, 0), name_hint="loss")
def hinge_embedding_loss(draw: Draw, out: Spec) -> Needs:
    """Of distances, with targets of 1 and -1."""
    operand = _batch(draw, out)
    keywords = draw.choice(("", ", margin=0.5", ", margin=2.0"))
    form = f"F.hinge_embedding_loss({{0}}, {_SIGNS.format(hole=1)}{keywords}{{more}})"
    bound = lambda x, _: 2 * x.most + 2  # noqa: E731
    return _reduced(draw, operand.numel, form, operand, operand.as_("bool"), bound=bound, dtype=out.dtype)


@operator("torch.nn.functional.soft_margin_loss", dtypes=FLOATS, rank=(0, 0), name_hint="loss")
def soft_margin_loss(draw: Draw, out: Spec) -> Needs:
    """Logistic, with targets of 1 and -1."""
    operand = _batch(draw, out)
    form = f"F.soft_margin_loss({{0}}, {_SIGNS.format(hole=1)}{{more}})"
    bound = lambda x, _: x.most + 1  # noqa: E731
    return _reduced(draw, operand.numel, form, operand.within(-8, 8), operand.as_("bool"), bound=bound, dtype=out.dtype)


@operator("torch.nn.functional.margin_ranking_loss", dtypes=FLOATS, rank=(0, 0), name_hint="loss")
def margin_ranking_loss(draw: Draw, out: Spec) -> Needs:
    """Ranking of pairs."""
    operand = _batch(draw, out)
    keywords = draw.choice(("", ", margin=0.5"))
    form = f"F.margin_ranking_loss({{0}}, {{1}}, {_SIGNS.format(hole=2)}{keywords}{{more}})"
    bound = lambda x, y, _: _largest_difference(x, y) + 1  # noqa: E731
    return _reduced(draw, operand.numel, form, operand, operand, operand.as_("bool"), bound=bound, dtype=out.dtype)


@operator("torch.nn.functional.cosine_embedding_loss", dtypes=WIDE, rank=(0, 0), name_hint="loss")
def cosine_embedding_loss(draw: Draw, out: Spec) -> Needs:
    """Of vectors that are not zero."""
    batch = draw.size(9)
    operand = out.of(batch, draw.size(9)).within(0.05, 8.0)
    keywords = draw.choice(("", ", margin=0.25"))
    form = f"F.cosine_embedding_loss({{0}}, {{1}}, {_SIGNS.format(hole=2)}{keywords}{{more}})"
    signs = Spec((batch,), "bool")
    return _reduced(draw, batch, form, operand, operand, signs, bound=lambda *_: 2.1, dtype=out.dtype)


@operator("torch.nn.functional.triplet_margin_loss", dtypes=WIDE, rank=(0, 0), name_hint="loss")
def triplet_margin_loss(draw: Draw, out: Spec) -> Needs:
    """Of anchor, positive and negative vectors."""
    batch, count = draw.size(9), draw.size(9)
    operand = out.of(batch, count)
    keywords = draw.choice(("", ", margin=0.5", ", p=1", ", swap=True", ", eps=0.001"))
    form = f"F.triplet_margin_loss({{0}}, {{1}}, {{2}}{keywords}{{more}})"
    inputs = operand.within(-8.0, 0.0), operand.within(0.25, 4.0), operand.within(4.25, 8.0)
    return _reduced(draw, batch, form, *inputs, bound=lambda *_: 17 * count + 1)
