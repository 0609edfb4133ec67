"""The plugin of pytest: what the marker, the command line and the ini file set for a test."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

SHOWS = """
    import pytest
    from eqfuzz.api.defaults import current_defaults

    def shown():
        d = current_defaults()
        return f"{d.variants} {d.time} {d.config} {d.backend} {d.preload} {d.out.as_posix()}"

    def test_plain():
        assert shown() == PLAIN

    @pytest.mark.eqfuzz(variants=7, time=9)
    class TestMarked:
        @pytest.mark.eqfuzz(variants=8)
        def test_inside(self):
            assert shown() == MARKED
"""


def texts(plain: str, marked: str) -> str:
    return SHOWS.replace("PLAIN", repr(plain)).replace("MARKED", repr(marked))


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest("-p", "eqfuzz.pytest_plugin", "--strict-markers", *options)


@pytest.fixture(autouse=True)
def without_the_installed_plugin(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def test_marker_wins_over_the_defaults(pytester: pytest.Pytester):
    folder = "eqfuzz-out/test_it.py"
    plain = f"3 5m inductor None None {folder}-test_plain"
    pytester.makepyfile(test_it=texts(plain, f"8 9 inductor None None {folder}-TestMarked-test_inside"))
    run(pytester).assert_outcomes(passed=2)


def test_command_line_wins_over_the_ini_file_and_the_marker_over_both(pytester: pytest.Pytester):
    pytester.makeini("[pytest]\neqfuzz_variants = 4\neqfuzz_time = 2m\neqfuzz_backend = mine\neqfuzz_out = found\n")
    plain = "0 2m inductor mine b.py found/test_it.py-test_plain"
    marked = "8 9 inductor mine b.py found/test_it.py-TestMarked-test_inside"
    pytester.makepyfile(test_it=texts(plain, marked))
    run(pytester, "--eqfuzz-variants", "0", "--eqfuzz-preload", "b.py").assert_outcomes(passed=2)


def test_bad_values_are_one_line(pytester: pytest.Pytester):
    pytester.makepyfile("import pytest\n@pytest.mark.eqfuzz(tme=3)\ndef test_it(): pass")
    result = run(pytester)
    result.stdout.fnmatch_lines(["*the marker eqfuzz has no tme: time, variants,*"])
    assert result.ret != 0
    pytester.makeini("[pytest]\neqfuzz_variants = some\n")
    pytester.makepyfile("def test_it(): pass")
    run(pytester).stdout.fnmatch_lines(["*eqfuzz_variants: 'some' is no int*"])
