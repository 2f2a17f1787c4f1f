"""The udp driver with other clients: python3-statsd, python3-influxdb, JSON lines; and datagrams dropped by the kernel.

Run by ctest with the path of the program in TELEGATE_GATEWAY_APP.
"""

import os
import signal
import socket
import unittest

from device_peers import DeviceTest, main
from gateway_process import OWN_ADDRESS

try:
    import statsd
except ImportError:
    statsd = None
try:
    import influxdb
except ImportError:
    influxdb = None

PORT = 8125
UDP = f"""[device "u"]
driver = udp
listen = {OWN_ADDRESS}:{PORT}
"""


class Udp(DeviceTest):
    def listening(self, settings):
        """Returns a gateway that has bound its port; earlier datagrams would be lost."""
        gateway = self.start(settings)
        self.eventually(lambda: gateway.latest("u/receive_buffer"), "the port", lambda: gateway.device("u"))
        self.sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(self.sender.close)
        self.sender.connect((OWN_ADDRESS, PORT))
        return gateway

    @unittest.skipUnless(statsd, "no statsd (Debian package python3-statsd)")
    def test_a_statsd_client(self):
        gateway = self.listening(UDP)
        client = statsd.StatsClient(OWN_ADDRESS, PORT, prefix="Shop")
        self.addCleanup(client.close)
        client.incr("visits")
        client.incr("visits", 4)
        client.decr("visits")
        client.gauge("queue", 17)
        client.gauge("queue", -3, delta=True)
        client.gauge("level", 2.5)
        client.timing("answer", 320.5)
        with client.pipeline() as together:
            together.incr("orders")
            together.gauge("carts", 9)
        client.incr("sampled", 10, rate=0.5)  # sent at random by the client
        for topic, value, unit in (("visits", 4, None), ("queue", 14, None), ("level", 2.5, None),
                                   ("answer", 320.5, "ms"), ("orders", 1, None), ("carts", 9, None)):
            self.value_becomes(gateway, "u/shop." + topic, value)
            if unit:
                self.assertEqual(unit, gateway.latest("u/shop." + topic)["unit"])
        sampled = gateway.value("u/shop.sampled")
        self.assertIn(sampled, (None, 20))
        client.set("users", "somebody")  # refused without affecting others
        self.value_becomes(gateway, "u/lines.refused", 1)
        client.incr("visits")
        self.value_becomes(gateway, "u/shop.visits", 5)

    @unittest.skipUnless(influxdb, "no influxdb (Debian package python3-influxdb)")
    def test_an_influx_client(self):
        gateway = self.listening(UDP + "format = influx\nuse_time = yes\n")
        client = influxdb.InfluxDBClient(use_udp=True, host=OWN_ADDRESS, udp_port=PORT)
        self.addCleanup(client.udp_socket.close)
        client.write_points([
            {"measurement": "cpu_load", "tags": {"host": "web 1", "region": "eu,1"}, "time": "2026-11-10T23:00:00.5Z",
             "fields": {"value": 0.64, "cores": 8, "ok": True, "note": 'a "quoted" word'}},
            {"measurement": "plain", "fields": {"value": -1.5}}])
        for topic, value in (("value", 0.64), ("cores", 8), ("ok", True), ("note", 'a "quoted" word')):
            self.value_becomes(gateway, "u/cpu_load.web_1.eu_1." + topic, value)
        self.assertEqual("2026-11-10T23:00:00.500000000Z", gateway.latest("u/cpu_load.web_1.eu_1.value")["time"])
        self.value_becomes(gateway, "u/plain.value", -1.5)

    def test_influx_lines_from_its_documentation(self):
        gateway = self.listening(UDP + "format = influx\nuse_time = yes\n")
        self.sender.send(b'myMeasurement,tag1=value1,tag2=value2 fieldKey="fieldValue" 1556813561098000000\n'
                         b'# a comment\n'
                         b'my\\ Measurement fieldKey="string value"\n'
                         b'weather,location=us-midwest temperature=82,humidity=71i,wet=t 1465839830100400200')
        self.value_becomes(gateway, "u/mymeasurement.value1.value2.fieldkey", "fieldValue")
        self.value_becomes(gateway, "u/my_measurement.fieldkey", "string value")
        for topic, value in (("temperature", 82), ("humidity", 71), ("wet", True)):
            self.value_becomes(gateway, "u/weather.us-midwest." + topic, value)
        self.assertEqual("2016-06-13T17:43:50.100400200Z", gateway.latest("u/weather.us-midwest.humidity")["time"])

    def test_json_lines(self):
        gateway = self.listening(UDP + "format = json\nname_member = sensor\n")
        self.sender.send(b'{"sensor":"roof","a":1,"b":{"c":[true,2.5]},"none":null,"word":"\xc3\xa4"}\n{"x":9007199254740993}')
        for topic, value in (("roof.a", 1), ("roof.b.c.0", True), ("roof.b.c.1", 2.5), ("roof.word", "\u00e4"),
                             ("x", 2 ** 53 + 1)):
            self.value_becomes(gateway, "u/" + topic, value)
        none = gateway.latest("u/roof.none")
        self.assertEqual((None, "bad"), (none["value"], none["quality"]))
        self.sender.send(b'{"a":1\n{"y":2}\n\xff\xfe')
        self.value_becomes(gateway, "u/y", 2)
        self.value_becomes(gateway, "u/lines.refused", 2)
        self.sender.send(b'{"long":"' + b"x" * 9000 + b'"}')
        self.value_becomes(gateway, "u/datagrams.refused", 1)
        self.assertEqual("measuring", gateway.device("u")["state"])

    def test_datagrams_dropped_by_the_kernel_are_counted_exactly(self):
        gateway = self.listening(UDP + "receive_buffer_bytes = 4096\nformat = json\n")
        reader = self.reader(gateway, "u/n")
        sent = 2000
        os.kill(gateway.process.pid, signal.SIGSTOP)  # the reader is stopped: the buffer overflows
        try:
            for number in range(1, sent):
                self.sender.send(b'{"n":%d}' % number)
        finally:
            os.kill(gateway.process.pid, signal.SIGCONT)
        self.eventually(lambda: (self.sender.send(b'{"last":1}'), gateway.value("u/last"))[1] == 1, "space in the buffer")
        # Repeated, because there may be no space again: those of `last` that have not been read take it.
        self.eventually(lambda: (self.sender.send(b'{"n":%d}' % sent), gateway.value("u/n"))[1] == sent, f"u/n = {sent}")
        last = gateway.latest("u/n")["seq"]
        self.eventually(lambda: reader.of("u/n") and reader.of("u/n")[-1]["seq"] >= last, "the reader received it too")
        values = reader.values("u/n")
        got = set(values)
        self.assertEqual(sorted(values), values)
        self.assertEqual([number for number in values if number != sent], sorted(got - {sent}), "others arrive once")
        self.assertLess(len(got), sent)
        # Those that were repeated may have been lost as well; they were sent to find out when there is space.
        # The count follows the samples of the same read.
        self.eventually(lambda: gateway.device("u")["lost_at_source"] >= sent - len(got), "the lost datagrams are counted")
        lost = gateway.device("u")["lost_at_source"]
        self.assertLessEqual(lost, sent - len(got) + 50)
        self.eventually(lambda: gateway.device("u")["lost_at_source"] ==
                        gateway.metric('telegate_device_lost_at_source_total{device="u"}'), "the same count in the metrics")
        self.assertEqual("measuring", gateway.device("u")["state"])

    def test_a_port_in_use_is_reported_and_bound_once_it_is_free(self):
        taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(taken.close)
        taken.bind((OWN_ADDRESS, PORT))
        gateway = self.start(UDP + "interval_ms = 50\nbreaker_wait_ms = 50\nbreaker_wait_max_ms = 100\n")
        device = self.state_becomes(gateway, "u", "error")
        self.assertEqual(f"{OWN_ADDRESS}:{PORT}: bind: Address already in use", device["last_error"])
        taken.close()
        self.state_becomes(gateway, "u", "measuring", breaker="closed")


if __name__ == "__main__":
    main()
