"""Runs commands through the real binary."""
import json
import subprocess

from lib.server import BINARY, Server, clean_environment


class Cli:
    def __init__(self, folder, **settings):
        self.folder, self.settings = folder, settings

    def __call__(self, *arguments, stdin=None, **more):
        return subprocess.run([BINARY, *arguments], cwd=self.folder, env=clean_environment(**self.settings, **more),
                              input=stdin, capture_output=True, text=True, timeout=180)

    def json(self, *arguments, **more):
        done = self(*arguments, "-o", "json", **more)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def operator_of(server: Server, folder) -> Cli:
    """The command line of whoever runs this server."""
    return Cli(folder, DOORBUSTER_ADMIN__LISTEN=f"127.0.0.1:{server.admin_port}",
               DOORBUSTER_ADMIN__KEY=server.admin_key, DOORBUSTER_IDENTITY__HMAC_SECRET=server.hmac_secret)
