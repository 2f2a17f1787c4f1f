"""Each sample once and in order, or reported as lost: the exact splice of docs/wire.md on nothing but pyzmq.
python3 splice.py tcp://127.0.0.1:5556 tcp://127.0.0.1:5557 [PREFIX]     prints JSON; the first endpoint needs format json"""
import json, sys, time, zmq
class Splice:
    def __init__(self, give, lose):
        self.give, self.lose = give, lose  # (sample); (topic, epoch, first_seq, last_seq or None for unknown, why)
        self.asked, self.first_epoch, self.expected = 0, None, {}  # by topic: [epoch, next seq]

    def ask(self, service, **members):
        while True:  # an unreachable gateway replies when it is back
            self.asked += 1
            self.dealer.send_json({"service": service, "id": self.asked, **members})
            while self.dealer.poll(2000):
                answer = self.dealer.recv_json()
                if answer.get("id") == self.asked and answer.get("error", {}).get("code") != "busy": return answer

    def run(self, publish, services, prefix=""):
        self.dealer, subscriber = zmq.Context.instance().socket(zmq.DEALER), zmq.Context.instance().socket(zmq.SUB)
        self.dealer.connect(services)
        subscriber.subscribe(prefix)
        subscriber.connect(publish)
        while True:
            until = time.monotonic() + 5  # a channel that became quiet while disconnected is reported only by a snapshot
            while time.monotonic() < until and subscriber.poll(1000):
                topic, payload = subscriber.recv_multipart()
                self.take(topic.decode().partition("$")[0], json.loads(payload))
            answer = {"end": False}
            while not answer["end"]:  # the last samples of a channel may be missing
                answer = self.ask("snapshot", prefix=prefix, after=answer.get("after", ""), removed=True)
                for sample in answer["samples"]: self.take(sample["device"] + "/" + sample["channel"], sample)
                for lost in answer["gone"]: self.take(lost["topic"], {"epoch": answer["epoch"], **lost})

    def take(self, topic, seen):  # a sample, or a notice of how far its channel has come
        epoch, seq = seen["epoch"], seen.get("last_seq", seen.get("seq"))
        self.first_epoch = self.first_epoch or epoch
        expected = self.expected.setdefault(topic, [epoch, max(seq, 1) if epoch == self.first_epoch else 1])
        if epoch > expected[0]:  # the gateway was restarted
            self.fill(topic, {})
            expected[:] = [epoch, 1]
        if [epoch, seq] == expected and "value" in seen:
            self.give(seen)
            expected[1] += 1
        elif epoch == expected[0] and seq >= expected[1]:
            self.fill(topic, {"last_seq": seq})

    def fill(self, topic, until):
        expected, left = self.expected[topic], True
        while left:
            answer = self.ask("replay", epoch=expected[0], holes=[{"topic": topic, "first_seq": expected[1], **until}])
            if "error" in answer:
                return self.lose(topic, *expected, until.get("last_seq"), answer["error"]["detail"])
            for each in sorted(answer["samples"] + answer["gone"], key=lambda e: e.get("seq", e.get("first_seq"))):
                last = each.get("seq", each.get("last_seq"))
                self.give(each) if "seq" in each else self.lose(topic, *expected, last, each["reason"])
                expected[1] = last + 1
            left = answer["left"]

if __name__ == "__main__":
    Splice(lambda sample: print(json.dumps(sample), flush=True),
           lambda *lost: print(json.dumps({"lost": lost}), flush=True)).run(*sys.argv[1:])
