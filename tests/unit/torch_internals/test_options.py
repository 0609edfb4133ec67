"""Config modules of torch: listed, patched, put back."""

import pytest

from eqfuzz.torch_internals.options import MODULES, config_module, entries_of, fields_of, patched, values_of


@pytest.mark.parametrize("name", MODULES)
def test_values_and_fields_are_entries_of_each_module(name: str):
    module = config_module(name)
    values = values_of(module)
    assert values
    assert set(values) <= set(entries_of(module))
    assert set(fields_of(module)) <= set(entries_of(module))


def test_options_of_several_modules_are_set_for_a_while():
    dynamo, inductor = config_module("dynamo"), config_module("inductor")
    before = dynamo.capture_scalar_outputs, inductor.cpp_wrapper
    with patched(dynamo={"capture_scalar_outputs": not before[0]}, inductor={"cpp_wrapper": not before[1]}):
        assert (dynamo.capture_scalar_outputs, inductor.cpp_wrapper) == (not before[0], not before[1])
    assert (dynamo.capture_scalar_outputs, inductor.cpp_wrapper) == before


def test_unknown_option_is_an_error():
    with pytest.raises(AttributeError, match="no_such_option"), patched(inductor={"no_such_option": 1}):
        pass


def test_aliases_are_no_fields():
    module = config_module("inductor")
    entries = entries_of(module)
    aliases = {name for name in entries if getattr(entries[name], "alias", None)}
    assert set(fields_of(module)) == set(entries) - aliases
