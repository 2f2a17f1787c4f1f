"""Databases that accept InfluxDB line protocol: servers that can be killed and started again, and their own queries.

Without the Debian packages influxdb and victoria-metrics, the tests are skipped.
"""

import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

from gateway_process import DEADLINE_S, OWN_ADDRESS, eventually, free_port

INFLUXDB, VICTORIA_METRICS = (shutil.which(name) for name in ("influxd", "victoria-metrics"))
if not INFLUXDB or not VICTORIA_METRICS:
    print("skipped: no influxdb or no victoria-metrics (Debian packages)")
    sys.exit(77)


class Database:
    def __init__(self, folder):
        self.folder, self.process, self.port = folder, None, free_port()
        self.url = f"http://{OWN_ADDRESS}:{self.port}"

    def start(self):
        with open(f"{self.folder}/{type(self).__name__}.log", "a") as log:
            self.process = subprocess.Popen(self.command(), stderr=log, stdout=log)
        eventually(self.is_ready, "a database")

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def get(self, path, **parameters):
        query = urllib.parse.urlencode(parameters, doseq=True)
        with urllib.request.urlopen(f"{self.url}{path}?{query}", timeout=DEADLINE_S) as response:
            return response.read().decode()

    def is_ready(self):
        try:
            self.get(self.ready_path)
            return True
        except (urllib.error.URLError, OSError):
            return False


class InfluxDB(Database):
    ready_path = "/ping"
    users = False

    def command(self):
        with open(f"{self.folder}/influxdb.conf", "w") as file:
            file.write(f'reporting-disabled = true\nbind-address = "{OWN_ADDRESS}:{free_port()}"\n'
                       f'[meta]\ndir = "{self.folder}/meta"\n'
                       f'[data]\ndir = "{self.folder}/data"\nwal-dir = "{self.folder}/wal"\n'
                       f'[http]\nbind-address = "{OWN_ADDRESS}:{self.port}"\nauth-enabled = {str(self.users).lower()}\n'
                       "[monitor]\nstore-enabled = false\n")
        return [INFLUXDB, "-config", f"{self.folder}/influxdb.conf"]

    def ask(self, query, method="GET"):
        """Returns the series of the response."""
        parameters = urllib.parse.urlencode({"db": "test", "q": query, "epoch": "ns",
                                             **({"u": "admin", "p": "xyzzy-42"} if self.users else {})})
        request = urllib.request.Request(f"{self.url}/query?{parameters}", method=method)
        with urllib.request.urlopen(request, timeout=DEADLINE_S) as response:
            return json.load(response)["results"][0].get("series", [])

    def create(self, name="test"):
        self.ask(f"CREATE DATABASE {name}", "POST")

    def points(self, measurement):
        """Returns the points as dictionaries with the members time, fields and tags."""
        return [dict(zip(series["columns"], row)) for series in self.ask(f'SELECT * FROM "{measurement}"')
                for row in series["values"]]

    def values(self, measurement, field):
        """Returns the values of a field by time."""
        return {each["time"]: each[field] for each in self.points(measurement) if each.get(field) is not None}


class VictoriaMetrics(Database):
    ready_path = "/health"
    # One of several points within a millisecond is kept; repeated ones are the same.
    options = ("-dedup.minScrapeInterval=1ms",)

    def command(self):
        return [VICTORIA_METRICS, f"-storageDataPath={self.folder}/victoria", f"-httpListenAddr={OWN_ADDRESS}:{self.port}",
                "-memory.allowedBytes=100MB", *self.options]

    def values(self, measurement, field):
        """Returns the values of a metric by time in ms."""
        self.get("/internal/force_flush")
        lines = self.get("/api/v1/export", **{"match[]": f"{measurement}_{field}"}).splitlines()
        found = {}
        for series in map(json.loads, lines):
            found.update(zip(series["timestamps"], series["values"]))
        return found
