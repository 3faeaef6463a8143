"""Codes of cities that a user types: whether they are known, and which one was probably meant."""

from difflib import SequenceMatcher
from typing import Final

from compute.api.cities import CITIES
from compute.decide.validation.grammar import nearest
from kubekit.api.excerpt import excerpt

_LONGEST_CODE: Final = 4  # letters that are compared with codes; more are the name of a city
_ALIKE: Final = 0.6
# Codes of further airports, and of cities with several, by the code that the city has here.
_FURTHER: Final = {
    "BER": "SXF TXL", "BKK": "DMK", "CDG": "ORY PAR", "DFW": "DAL", "EZE": "AEP BUE", "FCO": "CIA ROM",
    "GRU": "CGH SAO", "HND": "NRT TYO", "IAD": "DCA BWI WAS", "IAH": "HOU", "ICN": "GMP SEL",
    "IST": "SAW", "JFK": "LGA NYC", "KIX": "ITM OSA", "LAX": "BUR ONT SNA", "LHR": "LCY LGW LON LTN STN",
    "MIA": "FLL", "MXP": "LIN MIL", "ORD": "CHI MDW", "PEK": "BJS PKX", "PVG": "SHA", "SFO": "OAK",
    "YUL": "YMQ", "YYZ": "YTO YTZ",
}  # fmt: skip
_HERE: Final = {other: code for code, others in _FURTHER.items() for other in others.split()}
_BY_NAME: Final = {city.name: code for code, city in CITIES.items()}


def fault(code: str) -> str | None:
    """Why the code is refused, and which one was probably meant; None for a known one."""
    if code in CITIES:
        return None
    near = _nearest(code)
    if near is None:
        hint = (
            f"the {len(CITIES)} known cities have the code of one airport each, such as DFW, LHR or SIN; "
            "for the name of a city, its code is suggested"
        )
    else:
        hint = f"did you mean {near} ({CITIES[near].name})?"
    return f"no city has the code {excerpt(code)}; {hint}"


def _nearest(text: str) -> str | None:
    if text.upper() in _HERE:
        return _HERE[text.upper()]
    if len(text) > _LONGEST_CODE:
        name = nearest(text, _BY_NAME)
        return None if name is None else _BY_NAME[name]
    likeness = {code: _likeness(text.upper(), code) for code in CITIES}
    best = max(CITIES, key=likeness.__getitem__)
    return best if likeness[best][0] >= _ALIKE else None


def _likeness(text: str, code: str) -> tuple[float, int, bool]:
    """How many letters both have in the same order, then at the same position; last, the first one."""
    ratio = SequenceMatcher(None, text, code).ratio()
    same = sum(one == other for one, other in zip(text, code, strict=False))
    return ratio, same, text[:1] == code[:1]
