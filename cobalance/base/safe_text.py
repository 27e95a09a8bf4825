"""Texts that may be printed: credentials in URLs masked, control characters shown."""

import re

_PARAMETER_NAMES = (
    r"[\w.%-]{0,40}(?:signature|token|passw(?:or)?d|secret|credential|api[_-]?key|access[_-]?key"
    r"|account[_-]?key)[\w.%-]{0,40}|sig|pwd|pass|auth|key"
)
_PARAMETER = re.compile(rf"([?&;#](?:{_PARAMETER_NAMES})=)[^\s&;#'\"]+", re.IGNORECASE)
_LOGIN = re.compile(
    r"""
    ( \b (?P<web>https?) ://
    | \b (?!https?:) [a-z][a-z0-9+.-]{1,30} ://
    | \b [a-z][a-z0-9+.-]{1,30} :/ (?= [^\s/:@]{0,200} : ) )
    (?: (?P<user> [^\s/?\#:@]{0,200} ) : (?! password@ )  # as in documentation
        (?! (?(web) \d{1,5}/ | (?!) ) )  # a port of the web's
        (?: (?!://) \S ){1,500} @  # up to the last one: a password may have a slash or an @
      | [^\s/?\#:@]{1,500} @ )
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""The login of a URL; lengths are limited to stay linear in the text."""

_CONTROL = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line feed, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction of what follows
    "\u2028\u2029\ud800-\udfff]"  # line ends that few expect, bytes that are not UTF-8
)


def safe_text(text: str) -> str:
    r"""A text for a terminal, page or log: no credentials, no control characters.

    Line feeds and tabs stay.

    Examples
    --------
    >>> safe_text("bolt://u:PW@host refuses \x1b[31mred")
    'bolt://u:***@host refuses \\x1b[31mred'
    """
    return show_controls(mask_credentials(text))


def mask_credentials(text: str) -> str:
    """Mask passwords, tokens and signatures of all URLs in a text.

    Examples
    --------
    >>> mask_credentials("s3://KEY:SEC/RET@bucket/a, https://TOKEN@host/b?x=1&sig=0f3c")
    's3://KEY:***@bucket/a, https://***@host/b?x=1&sig=***'
    >>> mask_credentials("http://host:8080/a@2x.png, file:///home/me@work, ask ann@example.org")
    'http://host:8080/a@2x.png, file:///home/me@work, ask ann@example.org'
    """
    if "@" in text:
        text = _LOGIN.sub(_mask_login, text)
    return _PARAMETER.sub(r"\1***", text) if "=" in text else text


def _mask_login(found: re.Match[str]) -> str:
    user = "" if found["user"] is None else f"{found['user']}:"
    return f"{found[1]}{user}***@"


def show_controls(text: str) -> str:
    r"""Write control characters as escapes, so that a terminal prints and does not obey them.

    Examples
    --------
    >>> show_controls("a\x1b]0;title\x07\u202eb")
    'a\\x1b]0;title\\x07\\u202eb'
    """
    return _CONTROL.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
