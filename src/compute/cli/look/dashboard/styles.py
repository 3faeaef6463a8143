"""The layout and the colours of the dashboard, in the style sheets of textual."""

from typing import Final

STYLES: Final = """
Screen { layout: vertical; }
#title { height: 1; background: $panel; padding: 0 1; }
#lost { height: auto; background: $error; color: $text; padding: 0 1; display: none; }
#body { height: 1fr; }
.panel { height: 1fr; border: round $panel-lighten-2; border-title-color: $text; scrollbar-size-vertical: 1; }
.panel:focus, .panel:focus-within { border: round $accent; }
#left { width: 36%; min-width: 26; }
#workloads { background: transparent; }
#workloads > .option-list--option { padding: 0 1; }
#middle { width: 24%; min-width: 20; }
#right { width: 1fr; }
#right { padding: 0 1; }
CityTile { height: 4; border: round $panel-lighten-2; }
CityTile.red { border: round ansi_bright_red; }
CityTile.yellow { border: round ansi_bright_yellow; }
CityTile.green { border: round ansi_green; }
CityTile.cyan { border: round ansi_cyan; }
CityTile.blue { border: round ansi_bright_blue; }
CityTile.magenta { border: round ansi_bright_magenta; }
#tiles { layout: grid; grid-size: 1; grid-rows: 4; height: auto; }
.wide #tiles { grid-size: 2; }
#filter { dock: bottom; display: none; }
.hint { color: $text-muted; }
ModalScreen { align: center middle; background: $background 60%; }
.dialog { width: 72; max-width: 95%; height: auto; max-height: 80%; border: round $accent; background: $surface; padding: 0 1; }
.details { height: auto; max-height: 12; margin: 1 0; }
.buttons { height: 1; margin-top: 1; }
.buttons Button { margin-right: 2; }
.page { width: 100%; height: 100%; border-top: solid $accent; border-bottom: solid $accent; background: $surface; scrollbar-size: 0 0; }
"""
