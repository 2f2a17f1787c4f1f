#pragma once

#include "core/channel_table.hpp"
#include "durable/durable_log.hpp"
#include "line/history.hpp"
#include "line/sample_consumer.hpp"
#include "publish/format_feeds.hpp"
#include "rest/event_streams.hpp"

#include <memory>
#include <vector>

namespace telegate {

/// All consumers of samples. A new one (docs/consumers.md) needs a member and a line in all().
///
/// Threads: the I/O thread; close(): one, after it has ended.
/// Limits, Failure: those of the consumers.
struct Consumers {
    const ChannelTable& channels;  // for consumers that need no more than that

    History history;
    std::unique_ptr<DurableLog> durable_log;  // null: none
    FormatFeeds format_feeds;
    EventStreams streams;

    /// Returns the consumers in the order in which they receive each batch. The history comes first, so a subscriber
    /// can read from it every sample that it has received.
    [[nodiscard]] std::vector<SampleConsumer*> all() {
        std::vector<SampleConsumer*> consumers = lasting();
        for (const auto& feed : format_feeds.feeds()) {
            consumers.push_back(feed.get());
        }
        consumers.push_back(&streams);
        return consumers;
    }

    /// Returns the consumers that outlive the connections: they receive the losses of the end.
    [[nodiscard]] std::vector<SampleConsumer*> lasting() {
        std::vector<SampleConsumer*> consumers{&history};
        if (durable_log != nullptr) {
            consumers.push_back(durable_log.get());
        }
        return consumers;
    }
    /// Writes what is pending and waits for it.
    void close() {
        for (SampleConsumer* const consumer : all()) {
            consumer->close();
        }
    }
};

}  // namespace telegate
