"""The budget ledger: no answer is paid twice, and the budget is never exceeded."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eqfuzz.generate.llm.model.budget import BudgetLedger
from eqfuzz.generate.llm.model.question import Answer
from eqfuzz.generate.llm.model.response_log import InvalidResponseLog, ResponseLog


def answer(dollars):
    return Answer("text", "stop", 10, 20, Decimal(dollars))


def test_reservations_never_exceed_budget(tmp_path):
    with ResponseLog(tmp_path / "j") as log:
        ledger = BudgetLedger(log, Decimal("0.10"))
        first = ledger.reserve("a", Decimal("0.06"))
        assert first is not None
        assert ledger.reserve("b", Decimal("0.05")) is None
        assert ledger.has_reserved()
        ledger.settle(first, answer("0.02"))
        second = ledger.reserve("b", Decimal("0.08"))
        assert second is not None
        assert ledger.reserve("c", Decimal("0.000001")) is None
        ledger.fail(second, "cut", charged=True)
        assert ledger.account().dollars == Decimal("0.10")
        assert not ledger.has_reserved()


def test_attempts_of_killed_run_are_forfeited(tmp_path):
    with ResponseLog(tmp_path / "j") as log:
        ledger = BudgetLedger(log, None)
        ledger.settle(ledger.reserve("a", Decimal("0.06")), answer("0.02"))
        ledger.fail(ledger.reserve("b", Decimal("0.06")), "429", charged=False)
        assert ledger.reserve("c", Decimal("0.07"))  # as if killed now
    with (tmp_path / "j").open("a") as stream:
        stream.write('{"attempt": 4, "quest')
    for _ in range(2):
        with ResponseLog(tmp_path / "j") as log:
            again = BudgetLedger(log, Decimal("0.10"))
            account = again.account()
            assert (account.paid, account.forfeited) == (Decimal("0.02"), Decimal("0.07"))
            assert again.answer("a").kept
            assert again.answer("b") is None
            assert again.answer("c") is None
            assert again.reserve("d", Decimal("0.02")) is None


def test_log_is_used_by_one_run_at_a_time(tmp_path):
    with ResponseLog(tmp_path / "j"), pytest.raises(InvalidResponseLog, match="another run"):
        ResponseLog(tmp_path / "j")


@pytest.mark.parametrize("line", ["no json", "[]", '{"attempt": 1}', '{"attempt": 1, "lost": "1"}', "{}"])
def test_damaged_log_is_reported_with_its_line(tmp_path, line):
    (tmp_path / "j").write_text(line + "\n")
    with pytest.raises(InvalidResponseLog, match=r"j:1: damaged"):
        BudgetLedger(ResponseLog(tmp_path / "j"), None)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["pay", "free", "lose", "die"]), st.integers(0, 40), st.integers(0, 40)), max_size=30
    )
)
def test_budget_holds_for_any_history(tmp_path_factory, steps):
    file = tmp_path_factory.mktemp("ledger") / "j"
    budget = Decimal("1.00")
    log = ResponseLog(file)
    ledger = BudgetLedger(log, budget)
    for number, (step, most, less) in enumerate(steps):
        attempt = ledger.reserve(str(number), Decimal(most) / 100)
        if attempt is not None and step == "pay":
            ledger.settle(attempt, answer(str(Decimal(min(most, less)) / 100)))
        elif attempt is not None and step != "die":
            ledger.fail(attempt, "", charged=step == "lose")
        assert ledger.account().dollars + ledger.account().reserved <= budget
        if step == "die":
            before = ledger.account()
            log.close()
            log = ResponseLog(file)
            ledger = BudgetLedger(log, budget)
            assert ledger.account().dollars == before.dollars + before.reserved
    log.close()
