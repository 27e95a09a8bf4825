r"""Texts that may be printed: credentials in URLs masked, control characters shown.

Messages, logs and pages quote what others wrote: addresses of images and databases, names in
annotation files, answers of servers. Two things in them must not get out:

- A password, a token or a signature in a URL. `mask_credentials` finds logins
  (``bolt://user:PASSWORD@host``) and parameters whose names say that they are secret
  (``?token=SECRET``) anywhere in a text, and writes ``***`` for the secret.
- A control character, by which a name could move the cursor of a terminal, hide what stands before
  it, or turn the direction of what follows. `show_controls` writes it as an escape.

`safe_text` does both; all that the command line prints goes through it:

>>> safe_text("s3://KEY:SECRET@bucket/a.jpg is \x1b[2Jmissing")
's3://KEY:***@bucket/a.jpg is \\x1b[2Jmissing'
"""

import re

# Group 1 stays, the rest of a match is the secret.
_PARAMETER = re.compile(
    r"""
    ( [?&;\#]                       # a query, another parameter of it, or a fragment begins
      (?: [\w.%-]{0,40}             # a name that contains a telling word: X-Amz-Signature
          (?: signature | token | passw(?:or)?d | secret | credential
            | api[_-]?key | access[_-]?key | account[_-]?key )
          [\w.%-]{0,40}
        | sig | pwd | pass | auth | key )       # or is one
      = )
    [^\s&;\#'"]+
    """,
    re.VERBOSE | re.IGNORECASE,
)

# Schemes of the web, where a port may follow the host, and all others.
_WEB = r"\b https?://"
_OTHER = r"""
    (?: \b (?!https?:) [a-z][a-z0-9+.-]{1,30} ://
      | \b [a-z][a-z0-9+.-]{1,30} :/ (?= [^\s/:@]{0,200} : ) )  # a slash was lost: only with a ":"
"""
_USER = r"[^\s/?\#:@]{0,200} :"

# Groups 1 and 2 stay, the rest of a match is the secret. A user is no secret, and tells whose
# password was refused. Lengths are limited to stay linear in the text.
_LOGIN = re.compile(
    rf"""
    ( {_WEB} {_USER} (?! \d{{1,5}}/ )       # digits and a slash are the port of a web server
    | {_OTHER} {_USER} )
    (?! password@ )                         # as documentation has it: no secret
    (?: (?!://) \S ){{1,500}} @             # to the last @: a password may have "/" or "@"

    | ( {_WEB} | {_OTHER} )
    [^\s/?\#:@]{{1,500}} @                  # without a ":" all of it is the secret: a token
    """,
    re.VERBOSE | re.IGNORECASE,
)

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
    # Most texts have neither, and two searches for a letter cost next to nothing.
    if "@" in text:
        text = _LOGIN.sub(r"\1\2***@", text)
    if "=" in text:
        text = _PARAMETER.sub(r"\1***", text)
    return text


def show_controls(text: str) -> str:
    r"""Write control characters as escapes, so that a terminal prints and does not obey them.

    Examples
    --------
    >>> show_controls("a\x1b]0;title\x07\u202eb")
    'a\\x1b]0;title\\x07\\u202eb'
    """
    return _CONTROL.sub(_escape, text)


def _escape(control: re.Match[str]) -> str:
    code = ord(control[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}"
