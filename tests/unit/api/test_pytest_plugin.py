"""The plugin of pytest: what the marker, the command line and the ini file set for a test."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

SHOWS = """
    from pathlib import Path
    import pytest
    from eqfuzz.api.defaults import current_defaults

    ROOT = Path(__file__).parent

    def shown():
        d = current_defaults()
        paths = [path and path.relative_to(ROOT).as_posix() for path in (d.preload, d.out)]
        return f"{d.variants} {d.time} {d.config} {d.backend} {paths[0]} {paths[1]}"

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


def test_backend_takes_the_place_of_a_configuration_and_the_other_way_round(pytester: pytest.Pytester):
    pytester.makeini("[pytest]\neqfuzz_backend = mine\n")
    pytester.makepyfile(
        """
        import pytest
        from eqfuzz.api.defaults import current_defaults

        def test_plain():
            assert (current_defaults().config, current_defaults().backend) == ("eager", None)

        @pytest.mark.eqfuzz(backend="other")
        def test_marked():
            assert current_defaults().backend == "other"
        """
    )
    run(pytester, "--eqfuzz-config", "eager").assert_outcomes(passed=2)
    result = run(pytester, "--eqfuzz-config", "eager", "--eqfuzz-backend", "mine")
    result.stderr.fnmatch_lines(["*names a configuration and a backend of eqfuzz: name one*"])


def test_fixtures_have_the_values_too_and_every_test_its_folder(pytester: pytest.Pytester):
    pytester.makepyfile(
        """
        import pytest
        from eqfuzz.api.defaults import current_defaults

        @pytest.fixture
        def out():
            return current_defaults().out.name

        @pytest.mark.parametrize("name", ["x/y", "x-y", "z" * 300])
        def test_it(out, name, record_property):
            assert out == current_defaults().out.name
            assert len(out) < 120
            print("\\nfolder", out)
        """
    )
    result = run(pytester, "-s")
    result.assert_outcomes(passed=3)
    assert len({line for line in result.outlines if line.startswith("folder ")}) == 3


def test_bad_values_are_one_line(pytester: pytest.Pytester):
    pytester.makepyfile("import pytest\n@pytest.mark.eqfuzz(tme=3)\ndef test_it(): pass")
    result = run(pytester)
    result.stderr.fnmatch_lines(["*the marker eqfuzz has no tme: time, variants,*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    pytester.makeini("[pytest]\neqfuzz_variants = some\n")
    pytester.makepyfile("def test_it(): pass")
    run(pytester).stderr.fnmatch_lines(["*eqfuzz_variants: 'some' is no int*"])
