"""Read the login file: OpenID Connect providers of the web app.

The file has the form in which Streamlit takes them; `cobalance app --help` shows it. With several
providers, the last three keys go into a section of each, such as ``[auth.google]``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from cobalance.base import DataError, decode_toml
from cobalance.workflows.settings import read_secret

VARIABLE = "COBALANCE_AUTH_FILE"

_CALLBACK = "/oauth2callback"
_OF_PROVIDER = ("client_id", "client_secret", "server_metadata_url")
# Characters: whoever guesses the secret can log in as anybody.
_SHORTEST_SECRET = 32


@dataclass(frozen=True)
class Login:
    """Login settings.

    Parameters
    ----------
    auth : mapping
        The ``[auth]`` table, secrets and all.
    providers : tuple of (str or None)
        Names of the providers; None is the one without a name.
    origin : str
        Scheme, host and port at which browsers find the app; ``{port}`` stands for the server's.
    """

    auth: Mapping[str, Any] = field(repr=False)
    providers: tuple[str | None, ...]
    origin: str

    @property
    def host(self) -> str:
        """The name in `origin`."""
        return urlsplit(self.origin.replace(":{port}", "")).hostname or ""


def read_login(file: Path) -> Login:
    """Read and check the file that COBALANCE_AUTH_FILE names.

    Raises
    ------
    OptionError
        The file cannot be read, lacks a setting, or is not safe.
    """
    try:
        auth = decode_toml(read_secret(VARIABLE, file)).get("auth")
    except ValueError as error:
        raise DataError(f"{VARIABLE}={file} is not TOML: {error}. Mend it.") from error
    if not isinstance(auth, dict):
        raise DataError(
            f"{VARIABLE}={file} has no table [auth]. Add it, as `cobalance app --help` shows."
        )

    # Browsers are sent back to this address, so that it is also the app's own.
    redirect = _text(auth, "redirect_uri", file, "[auth]")
    if not redirect.endswith(_CALLBACK) or not _is_address(redirect):
        raise DataError(
            f"{VARIABLE}={file}, [auth]: redirect_uri is {redirect!r}. Give the app's own address "
            f"followed by {_CALLBACK}, such as https://data.example.org{_CALLBACK}."
        )
    if len(_text(auth, "cookie_secret", file, "[auth]")) < _SHORTEST_SECRET:
        raise DataError(
            f"{VARIABLE}={file}, [auth]: cookie_secret is shorter than {_SHORTEST_SECRET} "
            "characters. Make one with `openssl rand -hex 32`."
        )
    return Login(auth, _providers(auth, file), redirect.removesuffix(_CALLBACK))


def is_listed(email: str, people: Iterable[str]) -> bool:
    """Whether an address is among `people`: addresses, or ``@example.org`` for a whole domain.

    Examples
    --------
    >>> is_listed("Ann@Example.org", ["@example.org"]), is_listed("ann@mail.example.org", [])
    (True, False)
    >>> is_listed("eve@notexample.org", ["@example.org"]), is_listed("", ["@"])
    (False, False)
    """
    name, at, domain = email.lower().rpartition("@")
    return bool(name and domain) and not {f"{name}@{domain}", at + domain}.isdisjoint(people)


def _providers(auth: Mapping[str, Any], file: Path) -> tuple[str | None, ...]:
    sections: dict[str | None, Mapping[str, Any]] = {
        name: section
        for name, section in auth.items()
        if isinstance(section, dict) and name != "client_kwargs"
    }
    # The provider without a name has its keys in the table itself.
    if not sections or not auth.keys().isdisjoint(_OF_PROVIDER):
        sections = {None: auth, **sections}

    for name, section in sections.items():
        place = "[auth]" if name is None else f"[auth.{name}]"
        if name is not None and "_" in name:
            raise DataError(f"{VARIABLE}={file}, {place}: leave out the underscore in the name.")
        for key in _OF_PROVIDER:
            value = _text(section, key, file, place)
            if key == "server_metadata_url" and not _is_address(value):
                raise DataError(
                    f"{VARIABLE}={file}, {place}: {key} is {value!r}. It begins with https://, "
                    "and ends with /.well-known/openid-configuration for most providers."
                )
    return tuple(sections)


def _text(table: Mapping[str, Any], key: str, file: Path, place: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise DataError(f"{VARIABLE}={file}, {place}: {key} is missing. Give it as a text.")
    return value


def _is_address(url: str) -> bool:
    """Whether a URL is https, or http on loopback."""
    parts = urlsplit(url.replace(":{port}", ""))
    if parts.scheme == "https":
        return bool(parts.hostname)
    return parts.scheme == "http" and is_loopback(parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Whether a host name or address is loopback, so that only this machine can reach it.

    Examples
    --------
    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "a.org")]
    [True, True, True, False, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


# Of the web app, unless it is started with another.
_PORT = "8501"


def page_url(file: Path | None, page: str, **query: str) -> str:
    """URL of a page of the web app with a query; `file` is its login file, if it has one."""
    origin = "http://127.0.0.1:{port}" if file is None else read_login(file).origin
    return f"{origin.replace('{port}', _PORT)}/{page}?{urlencode(query)}"
