"""Settings of a process, from environment variables: database, folders, job queue, web app."""

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self

import platformdirs
from pydantic import (
    AliasChoices,
    BeforeValidator,
    DirectoryPath,
    Field,
    SecretStr,
    StringConstraints,
    ValidationError,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from cobalance.base import (
    Action,
    Level,
    LogFormat,
    OptionError,
    Setting,
    first_fault,
    mask_credentials,
    write_log,
)
from cobalance.graph import LocalServerSettings
from cobalance.workflows.folders import Folders

# Characters: whoever guesses the token reads the metrics.
_SHORTEST_TOKEN = 16

VARIABLES = {
    "uri": "NEO4J_URI",
    "username": "NEO4J_USERNAME",
    "password": "NEO4J_PASSWORD_FILE or NEO4J_PASSWORD",
    "database": "NEO4J_DATABASE",
    "home": "COBALANCE_HOME",
    "cache": "COBALANCE_CACHE",
    "images": "COBALANCE_IMAGES",
    "output": "COBALANCE_OUTPUT",
    "queue": "COBALANCE_QUEUE_FILE or COBALANCE_QUEUE",
}
"""The variables that set what an error calls by its name in Python."""


def in_environment(part: Setting | Action) -> str:
    """Word a setting as its environment variable, where it has one."""
    return VARIABLES.get(part.name, str(part))


def _list(separator: str) -> BeforeValidator:
    """Split the text of a variable at a separator; leave other values as they are."""

    def split(value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(part.strip() for part in value.split(separator) if part.strip())

    return BeforeValidator(split)


def image_roots(value: object) -> object:
    """Split a list of folders and URLs.

    Commas and line ends separate, and so does PATH's colon where it cannot belong to a URL.

    Examples
    --------
    >>> image_roots("/data/coco, s3://bucket/images")
    ('/data/coco', 's3://bucket/images')
    >>> image_roots("/data/coco:/data/more,http://host:8080/images")
    ('/data/coco', '/data/more', 'http://host:8080/images')
    """
    if not isinstance(value, str):
        return value
    roots: list[str] = []
    for part in value.replace("\n", ",").split(","):
        # A colon may belong to a URL.
        roots += [part] if "://" in part else part.split(os.pathsep)
    return tuple(filter(None, map(str.strip, roots)))


_Roots = Annotated[tuple[str, ...], NoDecode, BeforeValidator(image_roots)]
_People = Annotated[
    tuple[Annotated[str, StringConstraints(to_lower=True)], ...], NoDecode, _list(",")
]
_Folders = Annotated[tuple[Path, ...], NoDecode, _list(os.pathsep)]


class LogSettings(BaseSettings):
    """Settings that a process needs before all others: the log, and the folder of plug-ins."""

    model_config = SettingsConfigDict(extra="ignore", env_ignore_empty=True, frozen=True)

    cobalance_log: Annotated[Level, BeforeValidator(str.lower)] | None = None
    """The level from which on to log: `debug`, `info`, `warning` or `error`. Without it warnings
    are printed, and a log file is written from `info` on."""
    cobalance_log_file: Path | None = None
    """A file to which workers, commands and the web app append the log."""
    cobalance_log_format: Annotated[LogFormat, BeforeValidator(str.lower)] = LogFormat.TEXT
    """`json` for a JSON object a line, in the file and on the terminal."""
    cobalance_plugins: DirectoryPath | None = None
    """A folder with plug-ins of your own: a file for each, in `filters`, `formats`, `planners` and
    so on. Their code runs in every process that has this variable."""

    @classmethod
    def from_environment(cls) -> Self:
        """Read the environment; anew only if it has changed, as a page asks for it a dozen times.

        Raises
        ------
        OptionError
            A variable has a value that cannot be used.
        """
        return cls._of(frozenset(os.environ.items()))

    @classmethod
    @lru_cache(maxsize=8)
    def _of(cls, _environment: frozenset[tuple[str, str]]) -> Self:
        try:
            return cls()
        except ValidationError as error:
            fault = first_fault(error)
            raise OptionError(
                f"{fault.place.upper()}={fault.value!r}: {fault.reason}. Change or unset it."
            ) from error

    def write_log(self) -> None:
        """Write the log of this process; see `cobalance.base.run_log.write_log`."""
        write_log(self.cobalance_log, self.cobalance_log_file, self.cobalance_log_format)


class Settings(LogSettings):
    """Settings of a process, one for each variable; the documentation has their texts.

    Of a secret and its file, the file wins.
    """

    neo4j_uri: str | None = None
    """URI of the Neo4j server, 5.26 LTS or newer. Without it there is a local server."""
    neo4j_username: Annotated[
        str, Field(validation_alias=AliasChoices("neo4j_username", "neo4j_user"))
    ] = "neo4j"
    """Its user."""
    neo4j_password_file: Path | None = None
    """A file with the password."""
    neo4j_password: SecretStr | None = None
    """The password, where there is no file."""
    neo4j_database: str = "neo4j"
    """The server's database to use."""
    cobalance_home: Path = Field(default_factory=lambda: platformdirs.user_data_path("cobalance"))
    """Data of the local server, boxes and outlines of images of any server, and exports of the web
    app; the user's data folder by default. What is created here is for its user alone; folders that
    exist keep their permissions."""
    cobalance_cache: Path = Field(default_factory=lambda: platformdirs.user_cache_path("cobalance"))
    """Where downloads are kept; the user's cache folder by default."""
    cobalance_idle_stop_s: Annotated[float, Field(gt=0)] = 1800.0
    """The local server stops after this many seconds without a connection."""
    cobalance_heap_mb: Annotated[int, Field(ge=256)] = 1024
    """Heap memory of the local server."""
    cobalance_repository: Annotated[str | None, Field(pattern=r"^https?://[^/]+")] = None
    """A Maven repository to download the local server from; Maven Central by default."""
    cobalance_images: _Roots = ()
    """Where image files are: folders, ZIP files and fsspec URLs, separated by commas, or as in PATH
    if none is a URL. A relative path is looked for in the dataset's own folders, found beside its
    annotations or added for it in the web app, then in these, in this order."""
    cobalance_output: str | None = None
    """Where workers put images: a folder or an fsspec URL, the same for all of them; `generated` in
    COBALANCE_HOME by default. A folder that does not exist is created for its user alone."""
    cobalance_queue_file: Path | None = None
    """A file with the URL of the job queue, which may contain a password."""
    cobalance_queue: SecretStr | None = None
    """The URL of the job queue, where there is no file: `sqlite:///path`, or
    `postgresql://user:password@host/database` for workers on many machines; SQLite in
    COBALANCE_HOME by default."""
    cobalance_auth_file: Path | None = None
    """A TOML file with the login providers of the web app."""
    cobalance_editors: _People = ()
    """Editors of the web app, as `a@b.org,@c.org`; nobody by default."""
    cobalance_viewers: _People = ()
    """Viewers of the web app, in the same form; everybody who logs in by default."""
    cobalance_trust_email: bool = False
    """`true` to trust addresses for which the login provider sends no `email_verified`; those that
    it calls unverified are never trusted."""
    cobalance_metrics_token_file: Path | None = None
    """A file with the token that Prometheus sends to get `/metrics` of the web app, which is 404
    without it."""
    cobalance_upload_mb: Annotated[int, Field(ge=1)] = 600
    """The most MB of files that a page of the web app may send to load, in up to 1,000 files; all
    pages together may send twice as much."""
    cobalance_imports: _Folders | None = None
    """Folders that the web app may load annotations and add images from, separated as in PATH. By
    default all for a web app that nobody else reaches, on loopback without a login and without
    `--host`, else none."""
    cobalance_workers: Annotated[int | None, Field(ge=0, le=64)] = None
    """How many workers editors may start from the web app, on its machine; they take its GPUs in
    turn, and end with it. By default `1` for a web app on loopback without a login, else `0`."""
    cobalance_chat_url: str | None = None
    """The OpenAI-compatible address that editors of the web app may ask on the page Annotate, such
    as `http://127.0.0.1:8000/v1`. It gets questions and captions, never images."""
    cobalance_chat_model: str | None = None
    """The model's name there; without an address, one to run on the web app's machine."""
    cobalance_chat_key_file: Path | None = None
    """A file with the key of that address."""

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Arguments of ``repr``: addresses without their passwords."""
        for name, value in super().__repr_args__():
            if isinstance(value, tuple):
                yield name, tuple(map(_mask, value))
            else:
                yield name, _mask(value)

    def password(self) -> str:
        """The password of `neo4j_uri`, from the file or the variable."""
        if self.neo4j_password_file is not None:
            return read_secret("NEO4J_PASSWORD_FILE", self.neo4j_password_file)
        if self.neo4j_password is None:
            raise OptionError(
                "NEO4J_URI is set, and neither NEO4J_PASSWORD nor NEO4J_PASSWORD_FILE. Set one, "
                "or unset NEO4J_URI to use a local server."
            )
        return self.neo4j_password.get_secret_value()

    def metrics_token(self) -> str | None:
        """The token of the metrics, from its file; None where they are off."""
        file = self.cobalance_metrics_token_file
        if file is None:
            return None

        token = read_secret("COBALANCE_METRICS_TOKEN_FILE", file)
        if len(token) < _SHORTEST_TOKEN:
            raise OptionError(
                f"{file}: a token is made by `openssl rand -hex 32`; this is shorter."
            )
        return token

    def folders(self) -> Folders:
        """Where files are kept and found."""
        home = self.cobalance_home.expanduser()
        output = str(home / "generated")
        if self.cobalance_output is not None:
            output = os.path.expanduser(self.cobalance_output)

        return Folders(
            home=home,
            cache=self.cobalance_cache.expanduser(),
            output=output,
            images=self.cobalance_images,
            imports=self.cobalance_imports,
        )

    def queue_url(self) -> str:
        """The URL of the job queue: from the file or the variable, or an SQLite file."""
        if self.cobalance_queue_file is not None:
            return read_secret("COBALANCE_QUEUE_FILE", self.cobalance_queue_file)
        if self.cobalance_queue is not None:
            return self.cobalance_queue.get_secret_value()
        return f"sqlite:///{self.cobalance_home.expanduser().absolute() / 'queue.sqlite'}"

    def local_server(self) -> LocalServerSettings:
        """Settings of the local server, which is used when `neo4j_uri` is not set."""
        return LocalServerSettings(
            home=self.cobalance_home / "neo4j",
            cache=self.cobalance_cache / "neo4j",
            idle_stop_s=self.cobalance_idle_stop_s,
            heap_mb=self.cobalance_heap_mb,
            repository=self.cobalance_repository,
        )


def read_secret(variable: str, file: Path) -> str:
    """Read a secret from a file, without its trailing line end."""
    try:
        return file.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise OptionError(
            f"{variable}={file}: {reason}. Name a file that this user can read."
        ) from error


def _mask(value: object) -> object:
    return mask_credentials(value) if isinstance(value, str) else value
