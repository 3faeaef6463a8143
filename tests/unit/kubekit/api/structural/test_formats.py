"""Formats of texts. Every verdict is that of kube-apiserver v1.34."""

import pytest
from hypothesis import given, strategies as st

from kubekit.api.structural import validate
from kubekit.api.structural.formats import check_of

DAY, LONG = "2024-01-01", "x" * 63
MAC = "01:23:45:67:89:ab"
CASES = {
    "bsonobjectid": (
        ["507f1f77bcf86cd799439011", "507F1F77BCF86CD799439011"],
        ["507f1f77bcf86cd79943901", "zz7f1f77bcf86cd799439011"],
    ),
    "uri": (
        ["http://foo.bar/#com", "/abs/test/dir", "mailto:a@b", "http://a/b c", "http://[::1]:80/",
         "http://a:80", "http://u:p@h/", "http://a/%41", "http://%e4b/", "*", "http://a?q=%zz",
         "//a/b", 'http://a<b>"/', "http://[fe80::1%25en0]/", "http://a%25b/", "urn:x", "http://",
         "http:///p", "x:", "http://é/", "http://a/é"],
        ["foobar.com", "./rel", "http://a b/", "http://[::1]:x/", "http://a:x/", "http://u p@h/",
         "http://a/%zz", "http://%41/", "", "1a:b", ":a", "a/b:c", "http://[::1", "a\nb:/", "/%2",
         "http://a{b}/", "http://%@a/"],
    ),
    "email": (
        ["a@b", "Ann <a@b>", '"Ann B" <a@b>', '"a b"@c', "a@[127.0.0.1]", "friends: a@b;",
         "a@b (comment (nested) \\) )", "<a@b>", "é@b", "Ann (x) <a@b>", '"a\\"b"@c', " a@b ",
         "=?utf-8?q?x?= <a@b>", "Ann. B <a@b>"],
        ["a@", "@b", "a b@c", "a@b c", "a.@b", ".a@b", "a..b@c", '""@c', "a@[foo]", "a@[IPv6:::1]",
         "friends: a@b, c@d;", "friends:;", "friends: a@b", "friends: a@b c@d;", "friends: (x",
         "friends: a@b (x", "a@b (com", "Ann a@b", "a@b>", "(x) a@b", "a (x)@b", "a@b,c@d", "",
         "Ann", "Ann <a@b", "Ann (x <a@b>", "a@b.", "a\\@b", "x: y: a@b;;"],
    ),
    "hostname": (
        ["a-", "a", "ab", "a.bc", "my-host.example.com", "é.fr", "A.BC", LONG, f"{LONG}.com",
         "\U0001f600.com", "a-b", "a--b.com", "a-bcd"],
        ["my-host", "a.b", "-a.bc", "a-.bc", "a_b.cd", "1.2.3.4", "a..bc", "", "a.b1", f"{LONG}x",
         f"{LONG}x.com", ".".join([LONG] * 4) + ".com", "a.com."],
    ),
    "ipv4": (
        ["1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4", "0000000001.1.1.1", "::ffff:01.2.3.4"],
        ["256.1.1.1", "1.2.3", "::1", "1.2.3.4.5", "1.2.3.a", "fe80::1.2.3.4%e", "1.2.3.", "٣.1.1.1"],
    ),
    "ipv6": (
        ["::1", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::"],
        ["fe80::1%eth0", "1.2.3.4", "::g", "1::2::3", "00001::1", ":::", "::ffff:01.2.3.4"],
    ),
    "cidr": (
        ["1.2.3.4/24", "::1/64", "01.2.3.4/8", "1.2.3.4/024", "::1.2.3.4/96"],
        ["1.2.3.4/33", "1.2.3.4", "::1/129", "1.2.3.4/", "a/8", "1.2.3.4/-1", "1.2.3.4/2/3"],
    ),
    "mac": (
        [MAC, MAC.replace(":", "-"), "0123.4567.89ab", f"{MAC}:cd:ef", "0123.4567.89ab.cdef",
         "0123456789ab", ":".join(["01"] * 20), ".".join(["0123"] * 10)],
        ["01:23:45:67:89", "01:23:45:67:89:AG", "01-23:45:67:89:ab", "1:23:45:67:89:ab", "0123"],
    ),
    "uuid": (
        ["a8098c1a-f86e-11da-bd1a-00112444be1e", "a8098c1af86e11dabd1a00112444be1e",
         "A8098C1A-f86e-11da-bd1a-00112444be1e", "a8098c1af86e-11dabd1a-00112444be1e"],
        ["a8098c1a-f86e-11da-bd1a-00112444be1", "a8098c1a-f86e-11da-bd1a-00112444be1e\n"],
    ),
    "uuid3": (["bcd02e22-68f0-3046-a512-327cca9def8f"], ["bcd02e22-68f0-4046-a512-327cca9def8f"]),
    "uuid4": (["025b0d74-00a2-4048-bf57-227c5111bb34"], ["025b0d74-00a2-4048-cf57-227c5111bb34"]),
    "uuid5": (["886313e1-3b8a-5372-9b90-0c9aee199e5d"], ["886313e1-3b8a-4372-9b90-0c9aee199e5d"]),
    "isbn": (["0321751043", "978-0321751041"], ["0321751044", "x"]),
    "isbn10": (["0321751043", "3 401 01319 X"], ["978-0321751041", "3423214121"]),
    "isbn13": (["978-0321751041", "978 3401013190"], ["9780321751042"]),
    "creditcard": (
        ["4111-1111-1111-1111", "374953669708156", "6011464355444102", "3548209662790989"],
        ["4111 1111 1111 1112", "30190239451016", "x"],
    ),
    "ssn": (["111-11-1111", "111 11 1111"], ["111111111", "111-11-11111", "111-111111"]),
    "hexcolor": (["#FFF", "#ffffff", "fff"], ["#ff", "#ggg"]),
    "rgbcolor": (
        ["rgb(0,31,255)", "rgb( 0 , 1 , 2 )", "rgb(199,99,10)"],
        ["rgb(1,349,275)", "rgb(01,31,255)", "rgba(0,0,0)"],
    ),
    "byte": (["aGVsbG8=", "aaaa", "aa=="], ["aGVsbG8", "", "a", "a===", "====", "aGVs\n"]),
    "password": (["", "x"], []),
    "date": (
        ["2024-02-29", "0000-02-29"],
        ["2023-02-29", "2024-13-01", "2024-1-1", "2024-00-01", "2024-01-00", "20240101"],
    ),
    "duration": (
        ["22 ns", "1h", "1.5h", "0", "-1h", "+0", "1 week", "1.s", "9999999999h", "1d", "2 Days",
         "1hour30", ".5s", "abc 1s def", "99999999999999999999 1s", "5µs", "1minuteXX", "1h1",
         "1.99999999999999999999s", "2WK", "3hr"],
        ["x", "3 fortnights", "99999999999999999999s", "5", "-", "4hrs", ""],
    ),
    "datetime": (
        [f"{DAY}T00:00:00Z", f"{DAY}t00:00:00ztfoo", f"{DAY}T00:00:00,5+99:99"],
        [f"{DAY}T24:00:00Z", f"{DAY} 00:00:00Z", f"{DAY}T00:00:00.Z", f"{DAY}T00:00:00",
         "2024-02-30T00:00:00Z", f"{DAY}T00:60:00Z", f"{DAY}T00:00:60Z"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_format_accepts_what_kubernetes_accepts(name):
    """Neither more nor less, whatever the standard of that name says."""
    right, wrong = CASES[name]
    check = check_of(name)

    assert check is not None
    assert [text for text in right if not check(text)] == []
    assert [text for text in wrong if check(text)] == []


@pytest.mark.parametrize("name", ["date-time", "d-a-t-e-time"])
def test_dashes_in_a_name_do_not_count(name):
    """There is one format, however it is written."""
    assert check_of(name) is check_of("datetime")


@pytest.mark.parametrize("name", ["int32", "double", "k8s-short-name", "odd", "", None, 3])
def test_other_formats_say_nothing(name):
    """Those of numbers, those of a later Kubernetes, and what is no name."""
    assert check_of(name) is None


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "text", ["a" * 10**6, "1" * 10**6, "(" * 10**6, "a@" * 10**6, "1:" * 10**6]
)
def test_d4_a_megabyte_gets_an_answer(name, text):
    """Every check walks the text a few times at most, however it is made."""
    check = check_of(name)

    assert check is not None
    assert check(text) in (True, False)


@given(st.sampled_from(sorted(CASES)), st.text())
def test_any_text_gets_an_answer(name, text):
    """Control characters, lone surrogates and digits of other scripts included."""
    schema = {"type": "object", "properties": {"x": {"type": "string", "format": name}}}

    assert [error.path for error in validate({"x": text}, schema)] in ([], ["x"])
