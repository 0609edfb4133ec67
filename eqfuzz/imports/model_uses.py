"""Uses of a model: what a program does with it, as source."""

from __future__ import annotations

import dataclasses
import textwrap

DYNAMIC = "inductor-dynamic"
"""What the use with dynamic sizes calls its configuration."""

STATE_SEED = 20250101
"""That of ``eqfuzz.program.load``, which needs torch."""

_LOSS = '''
def mean_of(output):
    """The sum of the means of all floating-point tensors in an output."""
    if isinstance(output, torch.Tensor):
        return output.float().mean() if output.is_floating_point() else 0.0
    if isinstance(output, dict):
        return mean_of(list(output.values()))
    return sum(map(mean_of, output)) if isinstance(output, list | tuple) else 0.0
'''.strip()

_FIRST_CALL = '''
def first_call(name, inputs):
    """The arguments of the first call of a submodule when the model is called with ``inputs``."""
    torch.manual_seed(STATE_SEED)  # the parameters of the model that is compared
    model, calls = Program().model, []
    submodule = model.get_submodule(name)
    submodule.register_forward_pre_hook(lambda _, args, kwargs: calls.append((args, kwargs)), with_kwargs=True)
    model(**inputs) if isinstance(inputs, dict) else model(*inputs) if isinstance(inputs, tuple) else model(inputs)
    return detached(calls[0])


def detached(value):
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {key: detached(item) for key, item in value.items()}
    return type(value)(map(detached, value)) if isinstance(value, list | tuple) else value
'''.strip().replace("STATE_SEED", str(STATE_SEED))

_SGD = "self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)"

_STEP = """
self.optimizer.zero_grad()
loss = mean_of(self.model(*args, **kwargs))
loss.backward()
self.optimizer.step()
return loss.detach()
""".strip()

_CALL = "return self.model(*args, **kwargs)"


@dataclasses.dataclass(frozen=True)
class ModelUse:
    """One use of a model.

    Attributes:
        name: A word, for the names of files.
        title: What is done, for people.
        body: Statements of ``forward``.
        is_training: Whether the model is in training mode.
        setup: A statement of ``__init__`` beside the one that makes the model.
        helper: A definition that the body needs.
        configs: Compile configurations that the use is for; empty: the chosen ones.
        submodule: The dotted name of the submodule that is called in place of the model, with the arguments of its
            first call; empty: the model is.
    """

    name: str
    title: str
    body: str = _CALL
    is_training: bool = True
    setup: str = ""
    helper: str = ""
    configs: tuple[str, ...] = ()
    submodule: str = ""

    @classmethod
    def of_submodule(cls, name: str) -> ModelUse:
        """Forward and backward of a submodule."""
        body = f"return self.model.get_submodule({name!r})(*args, **kwargs)"
        return cls(f"submodule-{name}", f"submodule {name}", body, helper=_FIRST_CALL, submodule=name)

    def on(self, device: str) -> ModelUse:
        """The same use on another device than the CPU, where that makes a difference."""
        return dataclasses.replace(self, body=self.body.replace('autocast("cpu"', f'autocast("{device}"'))

    @property
    def is_of_functions(self) -> bool:
        """Whether a function can be used so: it is called plainly."""
        return self.body == _CALL

    def input_set(self, text: str) -> str:
        """The expression of an input set, from that of the model's."""
        return f"first_call({self.submodule!r}, {text})" if self.submodule else text

    def program(self, expression: str) -> list[str]:
        """The definitions of a program that makes the model by ``expression``."""
        model = expression if self.is_training else f"({expression}).eval()"
        start = ["super().__init__()", f"self.model = {model}", *([self.setup] if self.setup else [])]
        lines = [
            "class Program(nn.Module):",
            "    def __init__(self):",
            textwrap.indent("\n".join(start), " " * 8),
            "",
            f"    def forward(self, {'args, kwargs' if self.submodule else '*args, **kwargs'}):",
            textwrap.indent(self.body, " " * 8),
        ]
        return [*([self.helper] if self.helper else []), "\n".join(lines)]


FORWARD = ModelUse("forward", "forward and backward")
TRAINING = ModelUse("training", "a training step", _STEP, setup=_SGD, helper=_LOSS)

USES = (
    FORWARD,
    ModelUse("evaluation", "evaluation", f"with torch.no_grad():\n    {_CALL}", is_training=False),
    TRAINING,
    ModelUse("autocast", "autocast to bfloat16", f'with torch.autocast("cpu", dtype=torch.bfloat16):\n    {_CALL}'),
    ModelUse("dynamic", "dynamic sizes", configs=(DYNAMIC,)),
)
"""All uses of a class."""
