#include "command.hpp"
#include "gateway_process.hpp"
#include "sample_stores.hpp"
#include "system.hpp"

#include "config/payload_format.hpp"

#include <httplib.h>
#include <nats/nats.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

namespace telegate::perf {

namespace {

constexpr const char* stream_name = "TELEGATE_PERF";
constexpr const char* stream_subject = "telegate.perf";
constexpr std::int64_t response_ms = 60'000;
constexpr std::int64_t window_messages = 64;  // as the uplink's default
constexpr double poll_seconds = 0.01;
constexpr std::chrono::minutes acknowledgment_time_max{1};  // a full disk cache stalls the server for long

struct UplinkOptions {
    std::string type = "nats";
    std::string url = "nats://127.0.0.1:4222";
    std::vector<std::string> formats{"json"};
    std::int64_t replicas = 1;
    std::uint64_t samples = 2'000'000;
    std::size_t channels = 100;
    std::string program = gateway_beside();
};

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

/// A point in time of a delivery.
struct Progress {
    double samples = 0;
    double cpu_ns = 0;
    std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
};

/// The part of a delivery between two points in time.
struct Interval {
    Progress begin;
    Progress end;

    void add_to(Report& report, const std::string& table, const std::string& name, const Goal& goal) const {
        const double samples = end.samples - begin.samples;
        const double seconds = std::chrono::duration<double>(end.at - begin.at).count();
        report.add(table, name + ", samples/s", samples / seconds, goal);
        report.add(table, name + ", CPU ns/sample", (end.cpu_ns - begin.cpu_ns) / samples);
    }
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

/// Runs a gateway with the log in `folder` until everything in it is in the stream.
Interval deliver(const UplinkOptions& options, const std::string& format, const ScratchFolder& folder,
                 std::size_t run) {
    const std::string name = format + std::to_string(run);  // has no cursor yet
    const GatewayProcess gateway(
        {options.program, folder.write(name + ".ini",
                                       "[rest]\nlisten = 127.0.0.1:0\n[publish \"tcp\"]\nendpoint = tcp://127.0.0.1:0\n"
                                       "[log]\npath = " +
                                           folder.path() + "/log\nfree_bytes_min = 0\n[uplink \"" + name +
                                           "\"]\nurl = " + options.url + "\nsubject = " + stream_subject + "\n" +
                                           (format == "json" ? "" : "format = " + format + "\n"))});
    httplib::Client client("http://" + gateway.rest_address());
    clockid_t clock{};
    checked(-::clock_getcpuclockid(gateway.id(), &clock), "clock_getcpuclockid");
    std::optional<Progress> begin;
    for (Progress last;;) {
        const auto response = client.Get("/uplinks");
        if (!response) {
            throw std::runtime_error("the gateway does not respond: " + httplib::to_string(response.error()));
        }
        const Progress now{nlohmann::json::parse(response->body)["uplinks"][0]["samples"]["acknowledged"],
                           cpu_ns_of(clock)};
        begin = begin || now.samples == 0 ? begin : now;
        if (now.samples >= static_cast<double>(options.samples)) {
            if (now.samples == begin->samples) {
                throw std::runtime_error("the delivery was too fast to measure: use more --samples");
            }
            return {*begin, now};
        }
        last = last.samples == now.samples ? last : now;
        if (now.at - last.at > acknowledgment_time_max) {
            throw std::runtime_error("no acknowledgment for a minute");
        }
        wait_seconds(poll_seconds);
    }
}

Goal goal_of(const std::string& format, std::int64_t replicas) {
    return format == "record"  ? Goal::at_least(replicas == 1 ? 1.5e6 : 0.5e6)
           : format == "block" ? Goal::at_least(replicas == 1 ? 5e6 : 2e6)
                               : Goal{};
}

/// The stream and the log, which all runs share.
struct Delivery {
    explicit Delivery(const UplinkOptions& options) : stream(options), samples(write_log(options)) {}

    /// Writes the log and returns the number of samples.
    [[nodiscard]] std::uint64_t write_log(const UplinkOptions& options) const {
        std::filesystem::create_directory(folder.path() + "/log");
        const auto log = open_log(folder.path() + "/log", options.channels);
        std::vector<TelemetrySample> tick_samples(options.channels);
        std::uint64_t written = 0;
        for (std::uint64_t tick = 0; written < options.samples; ++tick, written += tick_samples.size()) {
            make_tick(data_sets().front(), tick, tick_samples);
            log->append(tick_samples);
        }
        log->sync();
        return written;
    }

    PerfStream stream;  // first: without a server, nothing is written
    const ScratchFolder folder;
    const std::uint64_t samples;
    std::size_t runs = 0;
};

void deliver_both(Delivery& delivery, UplinkOptions options, const std::string& format, Report& report) {
    const std::string table = options.replicas == 1 ? "single server" : "cluster";
    options.samples = delivery.samples;
    deliver(options, format, delivery.folder, ++delivery.runs)
        .add_to(report, table, "uplink " + format, goal_of(format, options.replicas));
    const std::vector<Message> messages = delivery.stream.read_all();
    check_complete(messages, delivery.samples);
    delivery.stream.clear();
    const Progress begin{0, process_cpu_ns()};
    delivery.stream.publish(messages);
    const Progress end{static_cast<double>(delivery.samples), process_cpu_ns()};
    Interval{begin, end}.add_to(report, table, "libnats " + format, {});
    delivery.stream.clear();
}

Plan plan(const UplinkOptions& options, Report& report) {
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

void add_options(CLI::App& app, UplinkOptions& chosen) {
    app.add_option("type", chosen.type, "Type of the uplink")->check(CLI::IsMember({"nats"}));
    app.add_option("--url", chosen.url, "Server of NATS with JetStream; a stream TELEGATE_PERF is created");
    add_list(app, "--formats", chosen.formats, "Formats of messages")->check(CLI::IsMember(message_format_names.names));
    app.add_option("--replicas", chosen.replicas, "Replicas of the stream")->check(CLI::Range(1, 5));
    app.add_option("--samples", chosen.samples, "Samples in the log")->check(CLI::Range(1, 1'000'000'000));
    app.add_option("--channels", chosen.channels, "Channels")->check(CLI::Range(1, 65'536));
    app.add_option("--program", chosen.program, "gateway_app");
}

}  // namespace

Planner describe_uplink_command(CLI::App& app) {
    return make_planner<UplinkOptions>(app, add_options, plan);
}

}  // namespace telegate::perf
