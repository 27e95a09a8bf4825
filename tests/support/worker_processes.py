"""Two worker processes, started again when they are killed."""

import subprocess
import sys


class Workers:
    """Workers by letter, each with a log in a folder."""

    def __init__(self, environment, folder):
        self.environment, self.folder, self.processes = environment, folder, {}

    def start(self, which):
        with (self.folder / f"worker-{which}.log").open("ab") as log:
            self.processes[which] = subprocess.Popen(
                [sys.executable, "-m", "cobalance.app", "work", "--dead-after", "3"],
                env=self.environment,
                stdout=log,
                stderr=log,
            )

    def kill(self, which):
        self.processes[which].kill()
        self.processes[which].wait()

    def logs(self):
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("worker-*.log")))

    def end(self):
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            process.wait(60)
