#include "command.hpp"

#include "core/endpoint.hpp"
#include "core/message.hpp"
#include "core/monitor.hpp"
#include "core/publisher.hpp"
#include "core/reactor.hpp"
#include "core/router.hpp"
#include "core/subscriber.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telegate::perf {

namespace {

constexpr std::chrono::seconds connect_time_max{10};
constexpr std::uint64_t idle_turns_max = 10'000'000;  // without a message, before it is called lost

// Above 32 bytes, memcmp() does the same wherever the text lies; below it depends on the end of the page.
constexpr std::string_view sender_name = "perf_tool: the router that sends everything";
constexpr std::string_view receiver_name = "perf_tool: the router that receives everything";

struct MonitorOptions {
    std::string pattern = "pubsub";
    std::string transport = "tcp";
    std::size_t size = 64;
    std::uint64_t messages = 100'000;
    std::uint64_t batch = 64;
    std::size_t subscribers = 1;
    std::string monitor = "on";
};

[[nodiscard]] Endpoint monitor_endpoint(std::string_view transport) {
    const std::string_view text = transport == "tcp"   ? "tcp://127.0.0.1:*"
                                  : transport == "ipc" ? "ipc://*"
                                                       : "inproc://perf_tool";
    return std::get<Endpoint>(parse_endpoint(text));
}

class PublisherToSubscribers {
  public:
    PublisherToSubscribers(Reactor& reactor, const MonitorOptions& options, const MonitorHandler& monitor)
        : publisher_(reactor, {}), topic_(publisher_.intern("host/cpu.user")) {
        publisher_.set_monitor(monitor);
        const Endpoint endpoint = publisher_.bind(monitor_endpoint(options.transport));
        while (subscribers_.size() < options.subscribers) {
            Subscriber& subscriber = *subscribers_.emplace_back(std::make_unique<Subscriber>(reactor, SocketOptions()));
            subscriber.set_monitor(monitor);
            subscriber.subscribe("host/");
            subscriber.connect(endpoint);
        }
    }
    [[nodiscard]] bool ready() const { return publisher_.totals().subscriptions == subscribers_.size(); }
    void send(std::string_view payload) { publisher_.send(topic_, payload); }
    void flush() { publisher_.flush(); }
    [[nodiscard]] std::size_t receivers() const { return subscribers_.size(); }
    [[nodiscard]] Subscriber& receiver(std::size_t index) { return *subscribers_[index]; }

  private:
    Publisher publisher_;
    const TopicId topic_;
    std::vector<std::unique_ptr<Subscriber>> subscribers_;
};

class RouterToRouter {
  public:
    RouterToRouter(Reactor& reactor, const MonitorOptions& options, const MonitorHandler& monitor)
        : from_(reactor, named(sender_name)), to_(reactor, named(receiver_name)) {
        from_.set_monitor(monitor);
        to_.set_monitor(monitor);
        to_.connect(from_.bind(monitor_endpoint(options.transport)));
    }
    [[nodiscard]] bool ready() const { return from_.peers().size() == 1 && to_.peers().size() == 1; }
    void send(std::string_view payload) {
        if (from_.send(receiver_name, {payload}) != SendStatus::sent) {
            throw std::runtime_error("a router did not take a message");
        }
    }
    void flush() { from_.flush(); }
    [[nodiscard]] static std::size_t receivers() { return 1; }
    [[nodiscard]] Router& receiver(std::size_t /*index*/) { return to_; }

  private:
    [[nodiscard]] static SocketOptions named(std::string_view identity) {
        SocketOptions options;
        options.identity = identity;
        return options;
    }

    Router from_;
    Router to_;
};

void check_sizes(const MessageBatch& batch, std::size_t size) {
    for (const Message message : batch) {
        if (message[message.size() - 1].size() != size) {
            throw std::runtime_error("a message has the wrong size");
        }
    }
}

struct Sent {
    std::uint64_t messages;
    std::size_t size;  // of each payload, in bytes
};

/// Turns the reactor and receives until everything has come. Like send_all() a function of its own that
/// tools/check_instructions.py counts: the turns in which the socket hears that there is something, reading, parsing,
/// handing out in batches, and a look at each message. In the same turns an inproc sender takes its memory back, other
/// receivers hear of theirs, and what flush() could not write is written: nothing, where a batch fits the sockets.
template <class Socket>
[[gnu::noinline]] void receive_all(Reactor& reactor, Socket& socket, MessageBatch& batch, const Sent& sent) {
    std::uint64_t received = 0;
    for (std::uint64_t idle = 0; received < sent.messages; ++idle) {
        while (socket.receive(batch)) {
            check_sizes(batch, sent.size);
            received += batch.size();
            idle = 0;
        }
        if (idle == idle_turns_max) {
            throw std::runtime_error(std::to_string(sent.messages - received) + " messages were lost");
        }
        reactor.poll();
    }
    if (received != sent.messages) {
        throw std::runtime_error("more messages came than were sent");
    }
}

/// A function of its own, so that tools/check_instructions.py can count what is sent apart.
template <class Link>
[[gnu::noinline]] void send_all(Link& link, std::string_view payload, std::uint64_t count) {
    for (std::uint64_t index = 0; index < count; ++index) {
        link.send(payload);
    }
}

template <class Link>
double run(const MonitorOptions& options) {
    std::uint64_t events = 0;
    MonitorHandler monitor;
    if (options.monitor == "on") {
        monitor = [&events](const MonitorEvent&) {
            ++events;
        };
    }
    Reactor reactor;
    Link link(reactor, options, monitor);
    const auto deadline = std::chrono::steady_clock::now() + connect_time_max;
    while (!link.ready()) {
        if (std::chrono::steady_clock::now() > deadline) {
            throw std::runtime_error("no connection");
        }
        reactor.run_for(std::chrono::milliseconds(10));
    }
    const std::string payload(options.size, 'p');
    MessageBatch batch;
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t sent = 0; sent < options.messages;) {
        const auto count = std::min(options.batch, options.messages - sent);
        send_all(link, payload, count);
        link.flush();
        for (std::size_t index = 0; index < link.receivers(); ++index) {
            receive_all(reactor, link.receiver(index), batch, {count, options.size});
        }
        sent += count;
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    if ((events != 0) != (options.monitor == "on")) {
        throw std::runtime_error("the monitor is not " + options.monitor);
    }
    return static_cast<double>(options.messages) / time.count();
}

Report measure(const MonitorOptions& options, const CommonOptions& common) {
    Report report{"monitor", "messages per second", {}, {}, {}};
    report.parameters = {{"pattern", options.pattern},
                         {"transport", options.transport},
                         {"size", std::to_string(options.size) + " bytes"},
                         {"messages", std::to_string(options.messages)},
                         {"batch", std::to_string(options.batch) + " messages between two turns"},
                         {"monitor", options.monitor},
                         {"runs", std::to_string(common.runs)},
                         {"threads", "one for all sockets"}};
    if (options.pattern == "pubsub") {
        report.parameters.emplace_back("subscribers", std::to_string(options.subscribers));
    }
    Row row{options.pattern + " over " + options.transport, {}};
    for (std::size_t index = 0; index < common.runs; ++index) {
        row.values.push_back(options.pattern == "pubsub" ? run<PublisherToSubscribers>(options)
                                                         : run<RouterToRouter>(options));
    }
    report.rows.push_back(std::move(row));
    return report;
}

}  // namespace

Command::Action describe_monitor_command(CLI::App& options) {
    const auto chosen = std::make_shared<MonitorOptions>();
    options.add_option("--pattern", chosen->pattern, "Publisher to Subscribers, or Router to Router")
        ->check(CLI::IsMember({"pubsub", "router"}))
        ->capture_default_str();
    options.add_option("--transport", chosen->transport, "Between them")
        ->check(CLI::IsMember({"tcp", "ipc", "inproc"}))
        ->capture_default_str();
    options.add_option("--size", chosen->size, "Bytes of each payload")
        ->check(CLI::Range(std::size_t{0}, std::size_t{1024 * 1024}))
        ->capture_default_str();
    options.add_option("--messages", chosen->messages, "Sent in each run")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
        ->capture_default_str();
    options.add_option("--batch", chosen->batch, "Sent before they are received")
        ->check(CLI::Range(1, 1'000))
        ->capture_default_str();
    options.add_option("--subscribers", chosen->subscribers, "Of the one publisher; each receives all")
        ->check(CLI::Range(std::size_t{1}, std::size_t{64}))
        ->capture_default_str();
    options.add_option("--monitor", chosen->monitor, "Of all sockets")
        ->check(CLI::IsMember({"on", "off"}))
        ->capture_default_str();
    options.callback([chosen] {
        if (chosen->pattern != "pubsub" && chosen->subscribers != 1) {
            throw CLI::ValidationError("--subscribers", "only a publisher has subscribers: --pattern pubsub");
        }
    });
    return [chosen](const CommonOptions& common) {
        return measure(*chosen, common);
    };
}

}  // namespace telegate::perf
