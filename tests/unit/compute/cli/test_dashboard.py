"""`compute top` without a server: what it shows, and what its keys do."""

import asyncio
from datetime import timedelta

import pytest
from textual.widgets import Input, OptionList, Static

from compute.cli.exits import Failure
from compute.cli.look.dashboard.app import CityTile, DashboardApp
from compute.cli.look.dashboard.dialogs import ConfirmScreen, NumberScreen, TextScreen
from kubekit.api.errors import Conflict, Forbidden
from tests.support.compute.builders import NOW
from tests.support.compute.dashboard_builders import Fleet, PlannedStates, RecordedActions, state

pytestmark = pytest.mark.slow


_PATIENCE = 200  # rounds of the screen


class Seen:
    """A running dashboard, as a test reads it."""

    def __init__(self, app, pilot, source, actions):
        self.app = app
        self.pilot = pilot
        self.source = source
        self.actions = actions

    async def press(self, *keys):
        await self.pilot.press(*keys)
        await self.settled()

    async def settled(self):
        """Wait until all that was asked for is done or waits for an answer."""
        for _ in range(2):
            await self.pilot.pause()

    async def becomes(self, read, expected):
        """Wait until something has this value. Actions run beside the screen."""
        for _ in range(_PATIENCE):
            if read() == expected:
                return
            await self.pilot.pause()
        assert read() == expected

    async def put(self, new):
        self.source.put(new)
        await self.settled()

    def text(self, name):
        return str(self.app.screen_stack[0].query_one(name, Static).render())

    @property
    def workloads(self):
        listed = self.app.screen_stack[0].query_one("#workloads", OptionList)
        return [option.id for option in listed.options]

    def prompt(self, name):
        listed = self.app.screen_stack[0].query_one("#workloads", OptionList)
        return [line.rstrip() for line in str(listed.get_option(name).prompt).splitlines()]

    @property
    def tiles(self):
        tiles = self.app.screen_stack[0].query(CityTile)
        return [
            (t.border_title, t.border_subtitle, *str(t.render()).splitlines())
            for t in tiles
            if t.display
        ]

    @property
    def notices(self):
        return [(n.severity, n.message) for n in self.app._notifications]


def watch(story, *states, size=(80, 24), chosen=""):
    """Run a story on a dashboard that has drawn these states. Returns what the dashboard ended with."""

    async def run():
        source, actions = PlannedStates(*(states or (state(),))), RecordedActions()
        app = DashboardApp(source, actions, "project demo", chosen)
        async with app.run_test(size=size, notifications=True) as pilot:
            seen = Seen(app, pilot, source, actions)
            await seen.settled()
            await story(seen)
        return app.return_value

    return asyncio.run(run())


def test_the_worst_workload_is_first_and_chosen():
    async def story(seen):
        assert seen.workloads == ["cart", "search", "web"]
        assert seen.prompt("cart") == [
            "● cart               1/4",
            "  DFW: The image",
            "  registry.test/shop/ca…",
        ]
        assert seen.text("#title") == (
            "compute top  project demo  3 workloads: 2 degraded, 1 available  live"
        )
        assert [tile[:2] for tile in seen.tiles] == [("DFW", "Failed"), ("LHR", "Updating")]
        assert seen.tiles[0][3] == "2/2 updated, 3m"
        assert not seen.app.query_one("#lost").display

    watch(story)


def test_instances_say_why_once():
    async def story(seen):
        lines = seen.text("#instances").splitlines()
        assert [line.split()[1] for line in lines if line.startswith("●")] == [
            "dfw-0", "dfw-1", "lhr-1", "lhr-0",
        ]  # fmt: skip
        assert sum("cannot" in line for line in lines) == 1
        assert "Failed (image unavailable)" in lines[0]

    watch(story, size=(120, 40))


def test_another_workload_is_chosen():
    async def story(seen):
        await seen.press("down", "down")
        assert seen.app.query_one("#right").border_title == "Instances of web"
        assert [tile[:2] for tile in seen.tiles] == [
            ("DFW", "Done"), ("LHR", "Done"), ("SIN", "Done"),
        ]  # fmt: skip
        assert seen.tiles[0][3] == "up to date"
        await seen.press("up")
        assert seen.tiles[1] == ("SIN", "Unreachable", seen.tiles[1][2], "data 50s old")

    watch(story)


def test_a_name_is_chosen_and_stays_chosen():
    """Also while other workloads come, go, and become worse."""

    async def story(seen):
        assert seen.app.query_one("#right").border_title == "Instances of web"
        other = Fleet()
        other.add("web", "DFW")
        other.add("another", "LHR")
        await seen.put(state(other))
        assert seen.workloads == ["another", "web"]
        assert seen.app.query_one("#right").border_title == "Instances of web"
        gone = Fleet()
        gone.add("another", "LHR")
        await seen.put(state(gone))
        assert seen.app.query_one("#right").border_title == "Instances of another"
        assert len(seen.tiles) == 1

    watch(story, chosen="web")


def test_an_empty_project():
    async def story(seen):
        assert "There are no workloads. Deploy one with:" in seen.text("#instances")
        assert "no workloads" in seen.text("#title")
        await seen.press("r")
        await seen.becomes(
            lambda: seen.notices, [("warning", "There is no workload to do that with.")]
        )
        assert not seen.tiles

    watch(story, state(Fleet()))


def test_lost_contact():
    async def story(seen):
        lost = NOW - timedelta(seconds=35)
        await seen.put(state(lost_since=lost))
        assert seen.app.query_one("#lost").display
        assert seen.text("#lost").startswith("No contact with the server since ")
        assert seen.text("#lost").endswith(": what is shown is 35s old")
        assert seen.text("#title").endswith("35s")
        await seen.put(state())
        assert not seen.app.query_one("#lost").display

    watch(story)


def test_filter():
    async def story(seen):
        await seen.press("slash", "s", "i", "n")
        assert seen.workloads == ["search", "web"]  # by their city
        await seen.press("x")
        assert seen.workloads == []
        assert "No workload matches" in seen.text("#instances")
        await seen.press("backspace", "enter")
        assert seen.workloads == ["search", "web"]
        assert isinstance(seen.app.focused, OptionList)
        await seen.press("escape")
        assert seen.workloads == ["cart", "search", "web"]
        assert not seen.app.query_one("#filter", Input).display

    watch(story)


def test_restart_after_a_question():
    async def story(seen):
        await seen.press("r")
        await seen.becomes(lambda: type(seen.app.screen), ConfirmScreen)
        await seen.press("n")
        assert seen.actions.done == []
        await seen.press("r")
        await seen.becomes(lambda: type(seen.app.screen), ConfirmScreen)
        await seen.press("y")
        await seen.becomes(lambda: seen.actions.done, [("restart", "cart")])
        await seen.becomes(lambda: seen.notices, [("information", "restart cart")])

    watch(story)


def test_the_buttons_answer_too():
    async def story(seen):
        await seen.press("r")
        await seen.becomes(lambda: type(seen.app.screen), ConfirmScreen)
        await seen.pilot.click("#no")
        await seen.settled()
        await seen.becomes(lambda: isinstance(seen.app.screen, ConfirmScreen), expected=False)
        assert seen.actions.done == []
        await seen.press("r")
        await seen.becomes(lambda: type(seen.app.screen), ConfirmScreen)
        await seen.pilot.click("#yes")
        await seen.settled()
        await seen.becomes(lambda: seen.actions.done, [("restart", "cart")])

    watch(story)


def test_undo_shows_what_it_restores():
    async def story(seen):
        await seen.press("u")
        await seen.becomes(lambda: type(seen.app.screen), ConfirmScreen)
        shown = "\n".join(str(each.render()) for each in seen.app.screen.query(Static))
        assert "Undo the last change of cart?" in shown
        assert "to revision 8 (registry.test/shop/cart:8, by ana)" in shown
        assert "image: registry.test/shop/cart:9 → registry.test/shop/cart:8" in shown
        assert "It waits in LHR, until that is resumed." in shown
        await seen.press("enter")
        await seen.becomes(lambda: seen.actions.done, [("undo", "cart", "8")])

    watch(story)


def test_an_undo_that_is_refused():
    async def story(seen):
        await seen.press("u")
        await seen.becomes(lambda: len(seen.notices), 1)
        ((severity, message),) = seen.notices
        assert severity == "error"
        assert message == (
            "web cannot be undone: revision 1 is the first: there is nothing before it. "
            "Next: compute rollout history web"
        )

    watch(story, chosen="web")


def test_scale():
    async def story(seen):
        await seen.press("s")
        await seen.becomes(lambda: type(seen.app.screen), NumberScreen)
        assert seen.app.screen.query_one(Input).value == "2"
        await seen.press("escape")
        assert seen.actions.done == []
        await seen.press("s")
        await seen.becomes(lambda: type(seen.app.screen), NumberScreen)
        await seen.press("backspace", "enter")
        await seen.becomes(lambda: seen.notices, [("warning", "give a number from 1 on")])
        await seen.press("7", "enter")
        await seen.becomes(lambda: seen.actions.done, [("scale", "cart", "7")])

    watch(story)


def test_pause():
    async def story(seen):
        await seen.press("p")
        await seen.becomes(lambda: seen.actions.done, [("pause", "cart")])

    watch(story)


@pytest.mark.parametrize(
    ("key", "title"), [("d", "cart"), ("e", "Events of cart"), ("question_mark", "Keys")]
)
def test_screens_to_read(key, title):
    async def story(seen):
        await seen.press(key)
        await seen.becomes(lambda: type(seen.app.screen), TextScreen)
        assert seen.app.screen.query_one(".page").border_title == title
        await seen.press("escape")
        await seen.becomes(lambda: isinstance(seen.app.screen, TextScreen), expected=False)

    watch(story)


def test_colours_of_a_description_are_not_text():
    async def story(seen):
        await seen.press("d")
        await seen.becomes(lambda: type(seen.app.screen), TextScreen)
        (shown,) = seen.app.screen.query(Static)
        assert str(shown.render()) == "Workload   cart\nHealth     Unavailable: DFW failed"

    watch(story)


@pytest.mark.parametrize("error", [Failure("it is being deleted"), Conflict("it is being deleted")])
def test_an_action_that_fails_is_a_notice(error):
    async def story(seen):
        seen.actions.failure = error
        await seen.press("p")
        await seen.becomes(lambda: len(seen.notices), 1)
        ((severity, message),) = seen.notices
        assert severity == "error"
        assert message.startswith("it is being deleted")
        assert seen.app.is_running

    watch(story)


def test_a_refusal_ends_it():
    async def story(seen):
        seen.source.refuse()
        await seen.becomes(lambda: seen.app.is_running, expected=False)

    assert isinstance(watch(story), Forbidden)


def test_a_bug_ends_it_with_its_error():
    async def story(seen):
        seen.actions.failure = ZeroDivisionError("oops")
        await seen.press("p")
        await seen.becomes(lambda: seen.app.is_running, expected=False)

    assert isinstance(watch(story), ZeroDivisionError)


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_quit(key):
    async def story(seen):
        await seen.press(key)
        await seen.becomes(lambda: seen.app.is_running, expected=False)

    assert watch(story) is None


def test_a_wide_terminal_has_cities_beside_each_other():
    async def story(seen):
        assert seen.app.query_one("#body").has_class("wide")
        await seen.pilot.resize_terminal(100, 30)
        await seen.settled()
        assert not seen.app.query_one("#body").has_class("wide")

    watch(story, size=(160, 40))
