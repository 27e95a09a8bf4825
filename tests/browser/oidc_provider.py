"""A small OpenID Connect provider on loopback: whoever comes picks whom they want to be.

It has what the authorisation code flow needs (OpenID Connect Core 1.0, section 3.1), checks what
a provider checks, and signs with a key of its own.
"""

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from tests.support.waiting import until

CLIENT_ID = "cobalance"
CLIENT_SECRET = "a secret of the client: %+/"
VALID_S = 600


@dataclass
class Provider:
    """The provider.

    Parameters
    ----------
    people : mapping of str to mapping
        What to click, and the claims that it stands for.
    """

    people: Mapping[str, Mapping[str, Any]]
    netloc: str = ""
    _codes: dict[str, dict[str, Any]] = field(default_factory=dict)
    _key: RSAKey = field(
        default_factory=lambda: RSAKey.generate_key(2048, {"kid": "1", "alg": "RS256"})
    )

    @property
    def issuer(self) -> str:
        """Its address."""
        return f"http://{self.netloc}"

    def auth_file(self) -> str:
        """What COBALANCE_AUTH_FILE holds to log in here."""
        return (
            "[auth]\n"
            'redirect_uri = "http://127.0.0.1:{port}/oauth2callback"\n'
            f'cookie_secret = "{secrets.token_hex(32)}"\n'
            f'client_id = "{CLIENT_ID}"\n'
            f'client_secret = "{CLIENT_SECRET}"\n'
            f'server_metadata_url = "{self.issuer}/.well-known/openid-configuration"\n'
        )

    def application(self) -> Starlette:
        """Its web server."""
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._metadata),
                Route("/keys", self._keys),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Route("/favicon.ico", lambda _: Response(status_code=204)),
            ]
        )

    def _metadata(self, _: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            }
        )

    def _keys(self, _: Request) -> Response:
        return JSONResponse({"keys": [self._key.as_dict(private=False)]})

    def _authorize(self, request: Request) -> Response:
        asked = request.query_params
        if asked["client_id"] != CLIENT_ID or asked["response_type"] != "code":
            return Response("unknown client", status_code=400)
        if "openid" not in asked["scope"].split() or asked["code_challenge_method"] != "S256":
            return Response("unsafe request", status_code=400)
        links = []
        for name in self.people:
            code = secrets.token_urlsafe()
            self._codes[code] = {**asked, "person": name}
            back = f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"
            links.append(f'<p><a href="{escape(back)}">{escape(name)}</a></p>')
        return HTMLResponse(f"<!doctype html><title>Provider</title>{''.join(links)}")

    async def _token(self, request: Request) -> Response:
        given = {
            name: values[0] for name, values in parse_qs((await request.body()).decode()).items()
        }
        asked = self._codes.pop(given.get("code", ""), None)
        scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
        known = f"{CLIENT_ID}:{CLIENT_SECRET}"
        challenge = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        if (
            asked is None
            or scheme != "Basic"
            or known not in (plain := base64.b64decode(credentials).decode(), unquote(plain))
            or given["redirect_uri"] != asked["redirect_uri"]
            or base64.urlsafe_b64encode(challenge).rstrip(b"=").decode() != asked["code_challenge"]
        ):
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": asked["person"],
            "iat": now,
            "exp": now + VALID_S,
            "nonce": asked["nonce"],
            **self.people[asked["person"]],
        }
        return JSONResponse(
            {
                "access_token": secrets.token_urlsafe(),
                "token_type": "Bearer",
                "expires_in": VALID_S,
                "id_token": jwt.encode({"alg": "RS256", "kid": "1"}, claims, self._key),
            },
            headers={"Cache-Control": "no-store"},
        )


@contextmanager
def providing(people: Mapping[str, Mapping[str, Any]]) -> Iterator[Provider]:
    """Run a provider until the end of the block."""
    provider = Provider(people)
    server = uvicorn.Server(
        uvicorn.Config(provider.application(), port=0, log_config=None, ws="none")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started)
        provider.netloc = f"127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        yield provider
    finally:
        server.should_exit = True
        thread.join()
