"""The screens of the dashboard that ask something, or show more of a Workload."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from compute.cli.output.tables import plain


class ConfirmScreen(ModalScreen[bool]):
    """A question with the details that it is about. Enter and y agree, n and Escape do not."""

    AUTO_FOCUS = "#yes"
    BINDINGS: ClassVar[list[BindingType]] = [
        ("y", "answer(True)", "Yes"),
        ("n,escape", "answer(False)", "No"),
    ]

    def __init__(self, question: str, details: Sequence[str] = ()) -> None:
        super().__init__()
        self._question = plain(question)
        self._details = [plain(line) for line in details]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(self._question, "bold"))
            if self._details:
                with VerticalScroll(classes="details"):
                    yield Static(Text("\n".join(self._details)))
            with Horizontal(classes="buttons"):
                yield Button("Yes (y)", id="yes", variant="primary", compact=True)
                yield Button("No (n)", id="no", compact=True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, agreed: bool) -> None:  # noqa: FBT001 -- textual passes it so
        self.dismiss(agreed)


class NumberScreen(ModalScreen[int | None]):
    """A question for a number. Enter takes it, Escape cancels."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "cancel", "Cancel")]

    def __init__(self, question: str, present: int) -> None:
        super().__init__()
        self._question = plain(question)
        self._present = present

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(self._question, "bold"))
            yield Input(str(self._present), type="integer", compact=True)
            yield Static("Enter takes it, Escape cancels", classes="hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.isdecimal() and int(event.value) > 0:
            self.dismiss(int(event.value))
        else:
            self.notify("give a number from 1 on", severity="warning")

    def action_cancel(self) -> None:
        self.dismiss(None)


class TextScreen(ModalScreen[None]):
    """Lines of text to read. Escape, Enter and q close it."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,enter", "close", "Close")]

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._title = plain(title)
        self._lines = lines

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="page") as page:
            page.border_title = self._title
            page.border_subtitle = "up and down scroll, Escape closes"
            yield Static(Text.from_ansi("\n".join(self._lines)))

    def action_close(self) -> None:
        self.dismiss(None)
