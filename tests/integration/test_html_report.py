"""The HTML report in a real browser: what a reader can do with it, and that it sends no request.

``EQFUZZ_REPORTED_RUN`` names the folder of a run whose page is opened and checked as well.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.in_process import call
from tests.unit.report import run_folders
from tests.unit.report.test_html_report import ATTACK, attacking_run

REPORTED_RUN = os.environ.get("EQFUZZ_REPORTED_RUN", "")
PAGES = ["sample", "attacked", *(["reported"] if REPORTED_RUN else [])]
CHROMIUM, CHROMEDRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))
NEEDED = "apt-get install chromium chromium-driver; pip install selenium axe-core-python"
SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,1000",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    missing = [name for name in ("selenium", "axe_core_python") if importlib.util.find_spec(name) is None]
    missing += [name for name, path in (("chromium", CHROMIUM), ("chromedriver", CHROMEDRIVER)) if path is None]
    if missing:
        reason = f"the HTML report is not tested in a browser, without {', '.join(missing)}: {NEEDED}"
        warnings.warn(reason, stacklevel=1)  # `-q` names no reasons of skipped tests
        pytest.skip(reason)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for switch in (*SWITCHES, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(CHROMEDRIVER))
    driver.set_script_timeout(180)  # axe-core needs half a minute for the report of a campaign on a busy machine
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of reports by name."""
    folder = tmp_path_factory.mktemp("reports")
    lists = ["--known-issues", str(run_folders.list_of_known_issues(folder))]
    run = run_folders.sample_run(folder / "run")
    run_folders.write_matrix(run, {"add": {"bool": {"known": 1, "agree": 1}}, "mul": {"bool": {"agree": 5}}})
    attacked = attacking_run(folder / "<img src=x onerror=alert(3)>")
    runs = {"sample": (run, lists), "attacked": (attacked, ["--no-known-issues"])}
    if REPORTED_RUN:
        runs["reported"] = (Path(REPORTED_RUN), [])
    addresses = {}
    for name, (path, options) in runs.items():
        file = folder / f"{name}.html"
        result = call("report", str(path), "--html", str(file), *options)
        assert result.exit_code == 0, result.output
        addresses[name] = file.as_uri()
    return addresses


@pytest.fixture
def page(browser: Any, reports: dict[str, str]) -> Any:
    """The report of the sample run, opened anew."""
    browser.get(reports["sample"])
    browser.execute_script("localStorage.clear()")
    browser.get(reports["sample"])
    return browser


def visible_cards(browser: Any, section: str = "") -> list[str]:
    """Ids of the cards that are not hidden, in their order."""
    script = "return [...document.querySelectorAll(arguments[0])].filter(e => e.offsetParent).map(e => e.id)"
    return browser.execute_script(script, f"{section} .card")


def click(browser: Any, selector: str) -> None:
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def choose(browser: Any, field: str, value: str) -> None:
    script = (
        "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    browser.execute_script(script, f"filter-{field}", value)


@pytest.mark.parametrize("name", PAGES)
def test_opens_within_a_second_without_errors_and_requests(browser, reports, name, record_property):
    seconds = []
    for _ in range(3):  # other processes may hold it up
        browser.get("about:blank")
        browser.get_log("performance")
        browser.get_log("browser")
        began = time.perf_counter()
        browser.get(reports[name])
        seconds.append(time.perf_counter() - began)
    record_property("seconds", seconds)
    assert min(seconds) < 1.0
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    requested = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert requested == [reports[name]]
    assert browser.get_log("browser") == []


def test_filters_by_every_field(page):
    everything = visible_cards(page)
    assert len(everything) == 3
    for field, value, left in (
        ("severity", "crash", 1),
        ("verdict", "wrong-result", 2),
        ("stage", "AOTAutograd", 1),
        ("status", "known", 1),
        ("status", "new", 2),
        ("text", "POW_half aaaaaaaaa2", 1),
        ("text", "there is no such word", 0),
    ):
        choose(page, field, value)
        assert len(visible_cards(page)) == left, (field, value)
        assert page.find_element("id", "filter-count").text == f"{left} of 3 buckets"
        choose(page, field, "")
    assert visible_cards(page) == everything
    choose(page, "text", "no such word")
    assert page.execute_script("return [...document.querySelectorAll('.filtered')].every(e => e.offsetParent)")
    page.find_element("css selector", "#filter button[type=reset]").click()
    assert len(visible_cards(page)) == 3


def test_sorts_the_index_and_the_cards(page):
    before = visible_cards(page, "#new")
    head = "#new .index th:nth-child(5)"
    click(page, f"{head} button")
    assert page.find_element("css selector", head).get_attribute("aria-sort") == "descending"
    assert visible_cards(page, "#new") == before
    click(page, f"{head} button")
    assert page.find_element("css selector", head).get_attribute("aria-sort") == "ascending"
    assert visible_cards(page, "#new") == before[::-1]
    rows = page.find_elements("css selector", "#new .index tbody tr")
    assert [row.get_attribute("data-card") for row in rows] == before[::-1]
    assert page.find_element("id", "announcer").get_attribute("textContent") == "Sorted by findings, ascending"
    click(page, "#matrix th button")
    assert len(page.find_elements("css selector", "#new [aria-sort]")) == 1


def test_copies_the_reproducer_and_commands(page):
    page.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    pasted = "navigator.clipboard.readText().then(arguments[0], error => arguments[0]('' + error))"
    page.find_element("css selector", ".quick").click()
    assert page.execute_async_script(pasted) == 'print("reproduced")\n'
    assert page.find_element("css selector", ".quick").text == "Copied"
    page.find_element("css selector", "#new details.more summary").click()
    page.find_element("css selector", "#new .command button").click()
    copied = page.execute_async_script(pasted)
    assert copied.startswith("python ")
    assert copied.endswith("/repro.py")


def test_theme_is_switched_and_kept(page):
    colour = "return getComputedStyle(document.body).backgroundColor"
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    dark = page.execute_script(colour)
    page.find_element("id", "theme").click()
    light = page.execute_script(colour)
    assert page.find_element("id", "theme").text == "Theme: light"
    assert light != dark
    page.refresh()
    assert page.execute_script(colour) == light
    page.find_element("id", "theme").click()
    assert page.execute_script(colour) == dark
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_no_violation_of_wcag_aa(browser, reports, name, scheme):
    import axe_core_python as axe

    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get(reports[name])
    browser.execute_script("document.querySelectorAll('details').forEach(e => { e.open = true })")
    browser.execute_script((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    result = browser.execute_async_script("axe.run(document).then(arguments[0])")
    assert len(result["passes"]) > 20
    assert [(v["id"], [node["target"] for node in v["nodes"]][:3]) for v in result["violations"]] == []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_keyboard_reaches_filter_sort_and_copy(page):
    from selenium.webdriver.common.keys import Keys

    reached = []
    for _ in range(60):
        page.switch_to.active_element.send_keys(Keys.TAB)
        active = page.switch_to.active_element
        reached.append(active.get_attribute("id") or active.get_attribute("class") or active.tag_name)
    assert reached[0] == "skip"
    assert {"theme", "filter-text", "filter-severity", "filter-status", "copy quick", "button"} <= set(reached)


@pytest.mark.parametrize("width", [400, 1400])
def test_page_is_as_wide_as_the_window(page, width):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_page_is_readable_without_script(browser, reports):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(reports["sample"])
        text = browser.find_element("tag name", "main").text
        assert "New buckets 2" in text
        assert not browser.find_element("id", "filter").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_everything_is_printed(page):
    page.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert page.execute_script("return document.querySelectorAll('details:not([open])').length") == 0
    page.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert page.execute_script("return document.querySelectorAll('details[open]').length") == 0


def test_text_of_programs_is_inert_in_the_browser(browser, reports):
    browser.get_log("browser")
    browser.get(reports["attacked"])
    assert browser.execute_script("return document.images.length") == 0
    assert browser.execute_script("return document.scripts.length") == 1
    assert ATTACK in browser.find_element("id", "new").text
    attributes = (
        "return [...document.querySelectorAll('*')].flatMap(e => [...e.attributes])"
        ".filter(a => a.name.startsWith('on')).length"
    )
    assert browser.execute_script(attributes) == 0
    choose(browser, "text", "<img")
    assert len(visible_cards(browser)) == 1
    assert browser.get_log("browser") == []
