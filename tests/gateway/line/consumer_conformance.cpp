#include "gateway/line/consumer_conformance.hpp"

namespace telegate::test {
namespace {

/// Checks that samples and gaps cover every number from `before` + 1 to `last`, once and in order.
void check_every_number(const std::vector<DeliveredPart>& parts, std::uint64_t before, std::uint64_t last,
                        bool has_gaps) {
    std::uint64_t reached = before;
    for (const DeliveredPart& part : parts) {
        CHECK((has_gaps ? part.first == reached + 1 : part.first > reached));
        CHECK(part.last >= part.first);
        reached = part.last;
    }
    CHECK((has_gaps ? reached == last : reached <= last));
}

}  // namespace

void check_delivery(const MakeSubject& make) {
    ConsumerSource source;
    const ConsumerSubject subject = make(source);
    source.pump.feed({subject.consumer.get()});
    std::mt19937 random(1);
    for (int round = 0; round < 40; ++round) {
        source.capture(random, static_cast<int>(random() % 100));
        source.pump.drain_all();
    }
    const ConsumerLedger ledger = subject.consumer->ledger();
    CHECK(ledger.taken + ledger.missing == source.captured_in_all());
    CHECK(ledger.missing > 0);
    if (subject.delivered) {
        const Delivered delivered = subject.delivered();
        for (const ChannelId channel : source.channels_of_device) {
            check_every_number(delivered.at(source.channels.at(channel).topic), 0, source.captured[channel],
                               subject.has_gaps);
        }
    }
}

void check_reload(const MakeSubject& make) {
    ConsumerSource source;
    std::mt19937 random(2);
    ScriptedConsumer stays;
    source.pump.feed({&stays});
    source.capture(random, 200);
    source.pump.drain_all();
    const auto before = source.captured;
    const ConsumerSubject subject = make(source);
    source.pump.feed({&stays, subject.consumer.get()});
    source.capture(random, 200);
    source.pump.drain_all();
    CHECK(stays.counts.taken + stays.counts.missing == source.captured_in_all());
    const ConsumerLedger ledger = subject.consumer->ledger();
    CHECK(ledger.taken + ledger.missing == 200);
    if (subject.delivered) {
        const Delivered delivered = subject.delivered();
        for (const ChannelId channel : source.channels_of_device) {
            check_every_number(delivered.at(source.channels.at(channel).topic), before.at(channel),
                               source.captured[channel], subject.has_gaps);
        }
    }
    source.pump.feed({&stays});
    source.capture(random, 10);
    source.pump.drain_all();
    CHECK(subject.consumer->ledger().taken == ledger.taken);
}

}  // namespace telegate::test
