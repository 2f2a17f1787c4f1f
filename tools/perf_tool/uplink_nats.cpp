#include "system.hpp"
#include "uplink_delivery.hpp"

#include <nats/nats.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace telegate::perf {

namespace {

constexpr const char* stream_name = "TELEGATE_PERF";
constexpr const char* stream_subject = "telegate.perf";
constexpr std::int64_t response_ms = 60'000;
constexpr std::int64_t window_messages = 64;  // as the uplink's default

void check_nats(natsStatus status) {
    if (status != NATS_OK) {
        const char* const detail = nats_GetLastError(nullptr);
        throw std::runtime_error(std::string("NATS: ") + (detail != nullptr ? detail : natsStatus_GetText(status)));
    }
}

template <class Object, void (*destroy)(Object*), class Create>
std::shared_ptr<Object> made(const Create& create) {
    Object* object = nullptr;
    check_nats(create(&object));
    return {object, destroy};
}

natsStatus connect_to_server(natsConnection** made, const std::string& url) {
    const natsStatus status = natsConnection_ConnectTo(made, url.c_str());
    if (status != NATS_OK) {
        throw std::runtime_error("cannot connect to the NATS server " + url + ": " + natsStatus_GetText(status) +
                                 "; start one with: nats-server --jetstream --addr 127.0.0.1 --port 4222 (Debian "
                                 "package nats-server), or name another one with --url");
    }
    return status;
}

using Message = std::shared_ptr<natsMsg>;

/// A connection with a stream that is empty at first.
class PerfStream {
  public:
    explicit PerfStream(const UplinkOptions& options)
        : replicas_(options.replicas),
          connection_(made<natsConnection, natsConnection_Destroy>(
              [&](auto** made) { return connect_to_server(made, options.url); })),
          context_(made<jsCtx, jsCtx_Destroy>([&](auto** made) {
              jsOptions settings;
              check_nats(jsOptions_Init(&settings));
              settings.Wait = response_ms;
              settings.PublishAsync.MaxPending = window_messages;
              settings.PublishAsync.StallWait = response_ms;
              return natsConnection_JetStream(made, connection_.get(), &settings);
          })) {
        clear();
    }
    ~PerfStream() { (void)js_DeleteStream(context_.get(), stream_name, nullptr, nullptr); }
    PerfStream(const PerfStream&) = delete;
    PerfStream& operator=(const PerfStream&) = delete;

    void clear() {
        (void)js_DeleteStream(context_.get(), stream_name, nullptr, nullptr);  // also forgets the ids of messages
        jsStreamConfig config;
        check_nats(jsStreamConfig_Init(&config));
        const char* subject = stream_subject;
        config.Name = stream_name;
        config.Subjects = &subject;
        config.SubjectsLen = 1;
        config.Replicas = replicas_;
        check_nats(js_AddStream(nullptr, context_.get(), &config, nullptr, nullptr));
    }
    [[nodiscard]] std::vector<Message> read_all() {
        const auto info = made<jsStreamInfo, jsStreamInfo_Destroy>(
            [&](auto** made) { return js_GetStreamInfo(made, context_.get(), stream_name, nullptr, nullptr); });
        const auto subscription = made<natsSubscription, natsSubscription_Destroy>([&](auto** made) {
            jsSubOptions ordered;
            check_nats(jsSubOptions_Init(&ordered));
            ordered.Ordered = true;
            return js_SubscribeSync(made, context_.get(), stream_subject, nullptr, &ordered, nullptr);
        });
        std::vector<Message> messages(info->State.Msgs);
        for (Message& message : messages) {
            message = made<natsMsg, natsMsg_Destroy>(
                [&](auto** made) { return natsSubscription_NextMsg(made, subscription.get(), response_ms); });
        }
        return messages;
    }
    /// Publishes copies of the messages and waits for all acknowledgments.
    void publish(const std::vector<Message>& messages) {
        for (const Message& message : messages) {
            natsMsg* copy = nullptr;
            check_nats(natsMsg_Create(&copy, stream_subject, nullptr, natsMsg_GetData(message.get()),
                                      natsMsg_GetDataLength(message.get())));
            copy_headers(*message, *copy);
            const natsStatus status = js_PublishMsgAsync(context_.get(), &copy, nullptr);
            natsMsg_Destroy(copy);  // null if libnats owns it now
            check_nats(status);
        }
        check_nats(js_PublishAsyncComplete(context_.get(), nullptr));
    }

  private:
    static void copy_headers(natsMsg& from, natsMsg& to) {
        const char** keys = nullptr;
        int count = 0;
        check_nats(natsMsgHeader_Keys(&from, &keys, &count));
        for (int i = 0; i < count; ++i) {
            const char* value = nullptr;
            check_nats(natsMsgHeader_Get(&from, keys[i], &value));
            check_nats(natsMsgHeader_Set(&to, keys[i], value));
        }
        std::free(static_cast<void*>(keys));
    }

    std::int64_t replicas_;
    std::shared_ptr<natsConnection> connection_;
    std::shared_ptr<jsCtx> context_;
};

std::uint64_t number_in_header(natsMsg& message, const char* name) {
    const char* text = nullptr;
    check_nats(natsMsgHeader_Get(&message, name, &text));
    std::uint64_t number = 0;
    std::from_chars(text, text + std::string_view(text).size(), number);
    return number;
}

/// Throws unless the messages together contain the position of every sample once, and in order.
void check_complete(const std::vector<Message>& messages, std::uint64_t samples) {
    const std::uint64_t begin = number_in_header(*messages.at(0), "Telegate-Position");
    std::uint64_t end = begin;
    std::uint64_t parts = 0;  // of the same block
    for (const Message& message : messages) {
        const std::uint64_t position = number_in_header(*message, "Telegate-Position");
        const std::uint64_t part = number_in_header(*message, "Telegate-Part");
        const bool is_next = part == 0 ? position == end : part == parts;
        if (!is_next) {
            throw std::runtime_error("the stream lacks a message before position " + std::to_string(position));
        }
        end = number_in_header(*message, "Telegate-End");
        parts = part + 1;
    }
    if (end - begin != samples) {
        throw std::runtime_error("the stream has " + std::to_string(end - begin) + " of " + std::to_string(samples) +
                                 " samples");
    }
}

Goal goal_of(const std::string& format, std::int64_t replicas) {
    return format == "record"  ? Goal::at_least(replicas == 1 ? 1.5e6 : 0.5e6)
           : format == "block" ? Goal::at_least(replicas == 1 ? 5e6 : 2e6)
                               : Goal{};
}

/// The stream and the log, which all runs share.
struct Delivery {
    explicit Delivery(const UplinkOptions& options) : stream(options), log(options) {}

    PerfStream stream;  // first: without a server, nothing is written
    UplinkLog log;
};

void deliver_both(Delivery& delivery, const UplinkOptions& options, const std::string& format, Report& report) {
    const std::string table = options.replicas == 1 ? "single server" : "cluster";
    delivery.log
        .deliver("url = " + options.url + "\nsubject = " + stream_subject + "\n" +
                 (format == "json" ? "" : "format = " + format + "\n"))
        .add_to(report, table, "uplink " + format, goal_of(format, options.replicas));
    const std::vector<Message> messages = delivery.stream.read_all();
    check_complete(messages, delivery.log.samples());
    delivery.stream.clear();
    const Progress begin{0, process_cpu_ns()};
    delivery.stream.publish(messages);
    const Progress end{static_cast<double>(delivery.log.samples()), process_cpu_ns()};
    Interval{begin, end}.add_to(report, table, "libnats " + format, {});
    delivery.stream.clear();
}

}  // namespace

Plan plan_nats_delivery(const UplinkOptions& options, Report& report) {
    const auto delivery = std::make_shared<Delivery>(options);
    Group group{options.url};
    for (const std::string& format : options.formats) {
        group.engines.push_back({format, [=, &report] {
                                     deliver_both(*delivery, options, format, report);
                                 }});
    }
    group.finish = [=, &report] {
        const std::string table = options.replicas == 1 ? "single server" : "cluster";
        for (const std::string& format : options.formats) {
            report.add_ratio("uplink over the plain libnats program, run by run", format + ", samples/s",
                             {report.find(table, "uplink " + format + ", samples/s"),
                              report.find(table, "libnats " + format + ", samples/s")},
                             Goal::at_least(0.9));
        }
    };
    return {std::move(group)};
}

}  // namespace telegate::perf
