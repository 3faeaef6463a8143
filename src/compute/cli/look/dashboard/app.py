"""The dashboard: workloads on the left, the cities and instances of the chosen one beside them."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import ClassVar, Final, TypeVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from compute.cli.exits import Failure
from compute.cli.invocation import typed
from compute.cli.look.dashboard import panels
from compute.cli.look.dashboard.actions import DashboardActions
from compute.cli.look.dashboard.dialogs import ConfirmScreen, NumberScreen, TextScreen
from compute.cli.look.dashboard.state import DashboardState, StateSource
from compute.cli.look.dashboard.styles import STYLES
from compute.cli.output import phrases
from compute.cli.output.tables import plain
from compute.cli.output.workload_rows import fleet_line
from compute.views.changes import UndoView
from compute.views.workloads import CityView, WorkloadView
from kubekit.api.errors import ApiError

T = TypeVar("T")

_WIDE: Final = 150  # columns from which cities are beside each other
_HELP: Final = (
    "up, down   choose a workload; the worst is first",
    "tab        go to the cities and the instances, to scroll them",
    "r          restart it in all its cities",
    "u          undo its last change, after showing what that restores",
    "p          pause changes of its template, or resume them",
    "s          change how many instances run in each city",
    "d          describe it",
    "e          what happened to it",
    "/          show only workloads with this name, health or city",
    "Escape     show all workloads again",
    "q          quit",
    "",
    "It is live: nothing has to be refreshed. Without contact to the server",
    "a red line says how old the data is. Logs of containers are not shown.",
)


class CityTile(Widget):
    """A city, in the colour of its state."""

    def __init__(self) -> None:
        super().__init__()
        self._city: tuple[CityView, datetime] | None = None

    def show(self, city: CityView, now: datetime) -> None:
        self._city = city, now
        self.border_subtitle = city.state.value
        self.set_classes(panels.CITY_COLOURS[city.state])
        self.refresh()

    def render(self) -> Text:
        if self._city is None:
            return Text()
        return panels.city_tile(*self._city, max(self.content_size.width, 8))


class DashboardApp(App[Exception | None]):
    """The dashboard. Its result is the error that ended it, such as a refusal of the server."""

    CSS = STYLES
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        ("r", "restart", "Restart"),
        ("u", "undo", "Undo"),
        ("p", "pause", "Pause"),
        ("s", "scale", "Scale"),
        ("d", "describe", "Describe"),
        ("e", "events", "Events"),
        ("slash", "filter", "Filter"),
        ("question_mark", "help", "Help"),
        ("q", "quit", "Quit"),
        Binding("escape", "unfilter", "Show all", show=False),
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),
    ]

    def __init__(
        self, source: StateSource, actions: DashboardActions, where: str, chosen: str = ""
    ) -> None:
        super().__init__()
        self._source = source
        self._actions = actions
        self._where = plain(where)
        self._chosen = chosen
        self._wanted = ""  # the text of the filter
        self._state: DashboardState | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="title")
        yield Static(id="lost")
        with Horizontal(id="body"):
            with Vertical(id="left", classes="panel") as left:
                left.border_title = "Workloads"
                yield OptionList(id="workloads", compact=True)
                yield Input(placeholder="name, health or city", id="filter", compact=True)
            with VerticalScroll(id="middle", classes="panel") as middle:
                middle.border_title = "Cities"
                yield Vertical(id="tiles")
            with VerticalScroll(id="right", classes="panel") as right:
                right.border_title = "Instances"
                yield Static("Connecting...", id="instances")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#workloads").focus()
        self.call_after_refresh(self._follow)  # the panels have their sizes then

    @work(exclusive=True, group="states")
    async def _follow(self) -> None:
        """Show each state, until the server refuses or the dashboard ends."""
        try:
            async with aclosing(self._source.states()) as states:
                async for state in states:
                    self._state = state
                    self._draw()
        except Exception as error:  # noqa: BLE001 -- the command reports it, once the terminal is back
            self.exit(error)

    # Drawing

    def on_resize(self, event: Resize) -> None:
        self.query_one("#body").set_class(event.size.width >= _WIDE, "wide")
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        state = self._state
        if state is None or not self.is_running:
            return
        shown = [view for view in state.workloads if self._matches(view)]
        self._draw_title(state)
        self._draw_workloads(shown)
        self._draw_chosen(state)

    def _matches(self, view: WorkloadView) -> bool:
        words = (view.name, view.health.value, *view.codes)
        return any(self._wanted in word.casefold() for word in words)

    def _draw_title(self, state: DashboardState) -> None:
        fleet = fleet_line(state.workloads) if state.workloads else "no workloads"
        age = "live" if state.lost_since is None else _since(state)
        line = Text.assemble(("compute top", "bold"), f"  {self._where}  ", (fleet, "dim"))
        line.append(f"  {age}", "green" if state.lost_since is None else "red")
        self.query_one("#title", Static).update(line)
        lost = self.query_one("#lost", Static)
        lost.display = state.lost_since is not None
        if state.lost_since is not None:
            clock = state.lost_since.astimezone().strftime("%H:%M:%S")
            lost.update(
                f"No contact with the server since {clock}: what is shown is {_since(state)} old"
            )

    def _draw_workloads(self, shown: Sequence[WorkloadView]) -> None:
        """Draw the list anew, with the same Workload chosen."""
        listed = self.query_one("#workloads", OptionList)
        width = max(listed.scrollable_content_region.width - 2, 16)
        names = [view.name for view in shown]
        present = [option.id for option in listed.options]
        if self._chosen not in names:
            self._chosen = names[0] if names else ""
        with self.prevent(OptionList.OptionHighlighted):
            if present != names:
                listed.clear_options()
                listed.add_options(Option("", id=name) for name in names)
            for index, view in enumerate(shown):
                listed.replace_option_prompt_at_index(index, panels.workload_item(view, width))
            listed.highlighted = names.index(self._chosen) if names else None
        self.query_one("#left").border_subtitle = f"/{self._wanted}" if self._wanted else ""

    def _draw_chosen(self, state: DashboardState) -> None:
        view = state.find(self._chosen) if self._chosen else None
        self._draw_cities(view, state.now)
        right, text = self.query_one("#right"), self.query_one("#instances", Static)
        if view is None:
            right.border_title = "Instances"
            text.update(self._nothing(state))
            return
        width = max(right.scrollable_content_region.width, 20)
        instances = state.instances_of(view.name)
        right.border_title = f"Instances of {plain(view.name)}"
        several = view.placements > 1
        text.update(
            panels.instance_items(instances, state.now, width, placements=several)
            if instances
            else "none yet"
        )

    def _nothing(self, state: DashboardState) -> str:
        if state.workloads:
            return "No workload matches the filter; Escape shows all."
        command = typed("compute deploy web --image IMAGE --city CITY")
        return f"There are no workloads. Deploy one with:\n{command}"

    def _draw_cities(self, view: WorkloadView | None, now: datetime) -> None:
        """Draw a tile for each city. Surplus tiles are hidden, since removing them takes a while."""
        known = self.query_one("#tiles")
        cities = view.cities if view else ()
        known.mount_all(CityTile() for _ in range(len(cities) - len(known.children)))
        tiles = [tile for tile in known.children if isinstance(tile, CityTile)]
        several = view is not None and view.placements > 1
        for tile in tiles[len(cities) :]:
            tile.display = False
        for tile, city in zip(tiles, cities, strict=False):
            tile.display = True
            tile.border_title = plain(panels.city_title(city, placements=several))
            tile.show(city, now)

    # Keys

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._chosen = event.option.id or ""
        if self._state is not None:
            self._draw_chosen(self._state)

    def action_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.display = True
        field.focus()

    def action_unfilter(self) -> None:
        field = self.query_one("#filter", Input)
        field.display = False
        field.value = ""
        self.query_one("#workloads").focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "filter":
            self._wanted = event.value.strip().casefold()
            self._draw()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "filter":
            event.input.display = bool(event.value)
            self.query_one("#workloads").focus()

    def action_help(self) -> None:
        self.push_screen(TextScreen("Keys", _HELP))

    def action_restart(self) -> None:
        self._run(self._restart)

    def action_undo(self) -> None:
        self._run(self._undo)

    def action_pause(self) -> None:
        self._run(self._actions.pause_or_resume)

    def action_scale(self) -> None:
        self._run(self._scale)

    def action_describe(self) -> None:
        self._run(self._describe)

    def action_events(self) -> None:
        self._run(self._events)

    @work(exclusive=True, group="actions")
    async def _run(self, action: Callable[[str], Awaitable[str]]) -> None:
        """Run an action on the chosen Workload, and report how it ended."""
        if not self._chosen:
            self.notify("There is no workload to do that with.", severity="warning")
            return
        try:
            report = await action(self._chosen)
        except Failure as failure:
            hint = f" Next: {typed(failure.next_step)}" if failure.next_step else ""
            self._complain(f"{failure}.{hint}")
        except ApiError as error:
            self._complain(error.message)
        except Exception as error:  # noqa: BLE001 -- as above
            self.exit(error)
        else:
            if report:
                self.notify(plain(report), markup=False)

    def _complain(self, problem: str) -> None:
        self.notify(plain(problem), title="Nothing was changed", severity="error", markup=False)

    async def _restart(self, name: str) -> str:
        view = self._state.find(name) if self._state else None
        cities = f" in {', '.join(view.codes)}" if view else ""
        question = f"Restart {name}{cities}? Every instance is replaced, one after the other."
        if not await self.push_screen_wait(ConfirmScreen(question)):
            return ""
        return await self._actions.restart(name)

    async def _undo(self, name: str) -> str:
        plan = await self._actions.planned_undo(name)
        question = f"Undo the last change of {name}?"
        if not await self.push_screen_wait(ConfirmScreen(question, _undo_lines(plan))):
            return ""
        return await self._actions.undo(name, plan.steps[0].revision)

    async def _scale(self, name: str) -> str:
        view = self._state.find(name) if self._state else None
        present = max((city.desired for city in view.cities), default=1) if view else 1
        question = f"How many instances of {name} in each city?"
        count = await self.push_screen_wait(NumberScreen(question, present))
        return await self._actions.scale(name, count) if count else ""

    async def _describe(self, name: str) -> str:
        lines = await self._actions.description(name)
        await self.push_screen_wait(TextScreen(name, lines))
        return ""

    async def _events(self, name: str) -> str:
        lines = await self._actions.events(name)
        await self.push_screen_wait(TextScreen(f"Events of {name}", lines or ["none"]))
        return ""


def _undo_lines(plan: UndoView) -> list[str]:
    """What an undo restores, as lines."""
    lines = []
    for step in plan.steps:
        by = f", by {step.actor}" if step.actor else ""
        lines += [
            f"to revision {step.revision} ({step.image}{by})",
            *(f"  {c}" for c in step.changes),
        ]
    if plan.paused_cities:
        lines.append(f"It waits in {', '.join(plan.paused_cities)}, until that is resumed.")
    return lines


def _since(state: DashboardState) -> str:
    return phrases.age(state.lost_since, state.now)
