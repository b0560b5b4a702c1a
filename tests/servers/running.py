"""Real servers on 127.0.0.1, each with its files in a test's folder: nginx with WebDAV, and a registry."""

from __future__ import annotations

import contextlib
import json
import resource
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HOST = "127.0.0.1"
MODULES = (
    "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so",
    "/usr/share/nginx/modules/ngx_http_dav_ext_module.so",
)
"""Where PROPFIND is, which nginx has as a module (Debian: libnginx-mod-http-dav-ext)."""

_TRIES = 200


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])


def program(name: str, package: str) -> str:
    """Return the path of a server; a test that needs it fails without it, for a skip would hide that."""
    found = shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin:/sbin:/bin")
    if found is None:
        pytest.fail(f"no {name}: install it first (Debian: apt-get install {package})", pytrace=False)
    return found


@contextlib.contextmanager
def nginx(folder: Path, *, files_to: int = 0, extra: str = "", listing: bool = True) -> Iterator[str]:
    """Run nginx over ``folder/files`` and yield its address.

    Args:
        folder: where its files and configuration go.
        files_to: the largest file that it may write, 0 for no end.
        extra: further directives of its one location.
        listing: whether it answers PROPFIND.
    """
    binary = program("nginx", "nginx-light")
    module = next((path for path in MODULES if Path(path).is_file()), None)
    if module is None:
        pytest.fail("nginx lacks PROPFIND (Debian: apt-get install libnginx-mod-http-dav-ext)", pytrace=False)
    port = free_port()
    for name in ("files", "parts"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "nginx.conf").write_text(f"""
load_module {module};
daemon off; worker_processes 1; master_process off; error_log {folder}/error.log; pid {folder}/nginx.pid;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {folder}/parts; client_max_body_size 64m;
  proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen {HOST}:{port};
    root {folder}/files;
    location / {{
      dav_methods PUT DELETE; dav_access user:rw; create_full_put_path on;
      {"dav_ext_methods PROPFIND;" if listing else ""}
      {extra}
    }}
  }}
}}
""")
    argv = [binary, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    with _serving(argv, f"http://{HOST}:{port}/", files_to):
        yield f"http://{HOST}:{port}/evidence"


@contextlib.contextmanager
def registry(folder: Path, *, files_to: int = 0, **sections: object) -> Iterator[str]:
    """Run a registry over ``folder`` and yield its host.

    Args:
        folder: where its files and configuration go.
        files_to: the largest file that it may write, 0 for no end.
        sections: further sections of its configuration.
    """
    binary = program("docker-registry", "docker-registry")
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    storage = {
        "filesystem": {"rootdirectory": str(folder / "storage")},
        **_table(sections.pop("storage", {})),
    }
    config = {
        "http": {"addr": f"{HOST}:{port}"},
        "log": {"level": "error"},
        "storage": storage,
        "version": "0.1",
    }
    (folder / "registry.yml").write_text(json.dumps({**config, **sections}))
    argv = [binary, "serve", str(folder / "registry.yml")]
    with _serving(argv, f"http://{HOST}:{port}/v2/", files_to):
        yield f"{HOST}:{port}"


def _table(value: object) -> dict[str, object]:
    """Return a section."""
    assert isinstance(value, dict)
    return value


@contextlib.contextmanager
def _serving(argv: list[str], url: str, files_to: int) -> Iterator[None]:
    """Run a server until the block ends; wait until it answers, whatever its answer is."""
    server = subprocess.Popen(  # noqa: S603  # argv is ours
        argv,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=_bound(files_to),  # noqa: PLW1509  # no thread of a test holds a lock here
    )
    try:
        for _ in range(_TRIES):
            if server.poll() is not None:
                assert server.stderr
                pytest.fail(f"{argv[0]} ended: {server.stderr.read().decode()[-2000:]}", pytrace=False)
            if _answers(url):
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(0.05)
        else:
            pytest.fail(f"{argv[0]} does not answer", pytrace=False)
        yield
    finally:
        server.kill()
        server.wait()
        if server.stderr:
            server.stderr.close()


def _bound(files_to: int) -> Callable[[], None] | None:
    """Return what bounds the files that a child may write, as a full disk would."""
    if not files_to:
        return None

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (files_to, files_to))

    return bound


def _answers(url: str) -> bool:
    """Say whether a server answers."""
    try:
        with urllib.request.urlopen(url, timeout=5):  # noqa: S310  # our own server
            return True
    except urllib.error.HTTPError as error:
        error.close()
        return True
    except OSError:
        return False
