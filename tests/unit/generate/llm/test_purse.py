"""Money is never spent twice, and never more than there is."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eqfuzz.generate.llm.model.budget import BudgetLedger
from eqfuzz.generate.llm.model.question import Answer
from eqfuzz.generate.llm.model.response_log import InvalidResponseLog, ResponseLog


def answer(dollars):
    return Answer("text", "stop", 10, 20, Decimal(dollars))


def test_a_budget_is_not_exceeded(tmp_path):
    with ResponseLog(tmp_path / "j") as journal:
        purse = BudgetLedger(journal, Decimal("0.10"))
        first = purse.set_aside("a", Decimal("0.06"))
        assert first is not None
        assert purse.set_aside("b", Decimal("0.05")) is None
        assert purse.waits()
        purse.pay(first, answer("0.02"))
        second = purse.set_aside("b", Decimal("0.08"))
        assert second is not None
        assert purse.set_aside("c", Decimal("0.000001")) is None
        purse.fail(second, "cut", charged=True)
        assert purse.account().dollars == Decimal("0.10")
        assert not purse.waits()


def test_a_dead_run_is_continued(tmp_path):
    with ResponseLog(tmp_path / "j") as journal:
        purse = BudgetLedger(journal, None)
        purse.pay(purse.set_aside("a", Decimal("0.06")), answer("0.02"))
        purse.fail(purse.set_aside("b", Decimal("0.06")), "429", charged=False)
        assert purse.set_aside("c", Decimal("0.07"))  # and then kill -9
    with (tmp_path / "j").open("a") as stream:
        stream.write('{"attempt": 4, "quest')
    for _ in range(2):
        with ResponseLog(tmp_path / "j") as journal:
            again = BudgetLedger(journal, Decimal("0.10"))
            account = again.account()
            assert (account.paid, account.lost) == (Decimal("0.02"), Decimal("0.07"))
            assert again.answer("a").kept
            assert again.answer("b") is None
            assert again.answer("c") is None
            assert again.set_aside("d", Decimal("0.02")) is None


def test_one_run_at_a_time(tmp_path):
    with ResponseLog(tmp_path / "j"), pytest.raises(InvalidResponseLog, match="another run"):
        ResponseLog(tmp_path / "j")


@pytest.mark.parametrize("line", ["no json", "[]", '{"attempt": 1}', '{"attempt": 1, "lost": "1"}', "{}"])
def test_damage_is_told(tmp_path, line):
    (tmp_path / "j").write_text(line + "\n")
    with pytest.raises(InvalidResponseLog, match=r"j:1: damaged"):
        BudgetLedger(ResponseLog(tmp_path / "j"), None)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["pay", "free", "lose", "die"]), st.integers(0, 40), st.integers(0, 40)), max_size=30
    )
)
def test_any_history(tmp_path_factory, steps):
    file = tmp_path_factory.mktemp("purse") / "j"
    budget = Decimal("1.00")
    journal = ResponseLog(file)
    purse = BudgetLedger(journal, budget)
    for number, (step, most, less) in enumerate(steps):
        attempt = purse.set_aside(str(number), Decimal(most) / 100)
        if attempt is not None and step == "pay":
            purse.pay(attempt, answer(str(Decimal(min(most, less)) / 100)))
        elif attempt is not None and step != "die":
            purse.fail(attempt, "", charged=step == "lose")
        assert purse.account().dollars + purse.account().aside <= budget
        if step == "die":
            before = purse.account()
            journal.close()
            journal = ResponseLog(file)
            purse = BudgetLedger(journal, budget)
            assert purse.account().dollars == before.dollars + before.aside
    journal.close()
