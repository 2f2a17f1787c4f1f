#include "config/joined.hpp"
#include "config/quantity.hpp"
#include "core/clock.hpp"
#include "durable/channel_read.hpp"
#include "encode/time_text.hpp"
#include "rest/channel_answer.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace telegate {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// How long a response may take that reads the durable log: as long as a client may take to read it.
constexpr std::chrono::seconds read_time_max{10};
constexpr std::uint64_t number_max = 9'007'199'254'740'992;
constexpr std::size_t text_characters_max = 64;

constexpr std::string_view time_schema =
    R"({"type":"string","pattern":"^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?Z)"
    R"(|[1-9][0-9]{0,3}(ms|s|m|h|d))$"})";
constexpr std::array channel_parameters{
    path_parameter("device", "Device, as named in the settings."),
    path_parameter("channel", "Channel of the device."),
    RestParameter{
        .name = "since_seq",
        .schema = R"({"type":"integer","minimum":0,"maximum":9007199254740992})",
        .meaning = "Only samples with a greater sequence number, oldest first; without it, the newest samples."},
    RestParameter{.name = "epoch",
                  .schema = R"({"type":"integer","minimum":0,"maximum":9007199254740992})",
                  .meaning = "Run of the gateway that since_seq refers to, and after which later runs follow."},
    RestParameter{.name = "since",
                  .schema = time_schema,
                  .meaning = "Only samples at or after this time, such as 2026-11-20T23:11:34Z, or not older than this "
                             "age, such as 2h; oldest first."},
    RestParameter{.name = "until", .schema = time_schema, .meaning = "Only samples before this time or age."},
    RestParameter{.name = "limit",
                  .schema = R"({"type":"integer","minimum":1,"maximum":10000,"default":100})",
                  .meaning = "Maximum number of samples."},
    RestParameter{
        .name = "aggregate",
        .schema = R"({"type":"string","pattern":"^(min|max|mean|count|first_time|last_time))"
                  R"((,(min|max|mean|count|first_time|last_time))*$"})",
        .meaning = "Instead of samples, these numbers for each interval: a list of min, max, mean, count, first_time "
                   "and last_time. Requires since and interval."},
    RestParameter{.name = "interval",
                  .schema = R"({"type":"string","pattern":"^[1-9][0-9]{0,3}(ms|s|m|h|d)$"})",
                  .meaning = "Length of the intervals, such as 10s; at most 10,000 intervals are possible."},
};

/// A request as it was made.
struct Request {
    SampleListAnswer::Wanted samples;
    std::optional<IntervalAnswer::Wanted> intervals;
    ChannelRead::Wanted read;
};

/// Returns a duration with a unit, such as "90s"; nullopt if it is invalid or not positive.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
    constexpr std::int64_t ms_max =
        std::int64_t{100} * 366 * 86'400'000;  // a century: fits into 64 bits as nanoseconds
    const bool has_unit = !text.empty() && text.back() >= 'a' && text.back() <= 'z';
    const auto parsed = parse_quantity(text, "ms");
    const auto* const ms = std::get_if<std::int64_t>(&parsed);
    return has_unit && ms != nullptr && *ms > 0 && *ms <= ms_max ? std::optional(std::chrono::milliseconds(*ms))
                                                                 : std::nullopt;
}

std::optional<std::int64_t> read_time(ParameterReader& reader, std::string_view name, std::int64_t now_ns) {
    const auto given = reader.texts(name, 1, text_characters_max);
    if (given.empty()) {
        return std::nullopt;
    }
    if (const auto time = parse_iso8601(given.front())) {
        return time;
    }
    if (const auto age = parse_duration(given.front())) {
        return now_ns - std::chrono::nanoseconds(*age).count();
    }
    reader.fault(name, "invalid time " + quoted_text(given.front()) +
                           ": must be a time in UTC, such as 2026-11-20T23:11:34Z, or an age, such as 2h");
    return std::nullopt;
}

std::vector<std::string_view> read_columns(ParameterReader& reader, std::string_view list) {
    constexpr auto& known = IntervalAnswer::aggregates;
    std::vector<std::string_view> columns;
    for (bool is_last = false; !is_last;) {
        const std::string_view name = list.substr(0, list.find(','));
        is_last = name.size() == list.size();
        list.remove_prefix(is_last ? name.size() : name.size() + 1);
        const auto* const found = std::find(known.begin(), known.end(), name);
        if (found == known.end()) {
            reader.fault("aggregate",
                         "unknown aggregate " + quoted_text(name) + ": must be a list of " + joined(known));
            break;
        }
        columns.push_back(*found);
    }
    return columns;
}

/// Reads the parameters of a request for intervals.
void read_intervals(const RestCall& call, ParameterReader& reader, const store::ChannelSelection& selection,
                    IntervalAnswer::Wanted& wanted) {
    for (const char* const name : {"since_seq", "epoch", "limit"}) {
        if (call.query.has(name)) {
            reader.fault(name, "cannot be used with aggregate");
        }
    }
    wanted.columns = read_columns(reader, reader.text("aggregate", text_characters_max));
    wanted.since_ns = selection.since_ns;
    wanted.until_ns = selection.until_ns;
    const std::string_view interval = reader.text("interval", text_characters_max);
    const auto length = parse_duration(interval);
    if (!length) {
        reader.fault("interval", quoted_text(interval) + " is invalid: must be a length such as 10s, 5m or 1h");
    }
    if (!call.query.has("since")) {
        reader.fault("since", "is missing: aggregate requires a time or an age");
    }
    if (reader.failed()) {
        return;
    }
    wanted.interval = *length;
    // In double, because the difference of two times may not fit into 64 bits.
    const double range_ns = static_cast<double>(wanted.until_ns) - static_cast<double>(wanted.since_ns);
    const double count = range_ns / static_cast<double>(std::chrono::nanoseconds(*length).count());
    if (count > static_cast<double>(IntervalAnswer::intervals_max)) {
        reader.fault("interval", quoted_text(interval) +
                                     " is too short for this range of times: there must be at most " +
                                     std::to_string(IntervalAnswer::intervals_max) + " intervals");
    }
}

Request read_request(const RestCall& call, ParameterReader& reader, std::string topic) {
    Request request;
    const std::int64_t now_ns = SystemClock().utc_now_ns();
    store::ChannelSelection& selection = request.read.selection;
    selection.topic = std::move(topic);
    const auto since = read_time(reader, "since", now_ns);
    const auto until = read_time(reader, "until", now_ns);
    selection.since_ns = since.value_or(selection.since_ns);
    selection.until_ns = until.value_or(selection.until_ns);
    request.samples.since_seq = reader.number("since_seq", {0, number_max});
    const auto epoch = reader.number("epoch", {0, number_max});
    request.samples.limit = static_cast<std::size_t>(
        reader.number("limit", {1, SampleListAnswer::samples_max}).value_or(SampleListAnswer::samples_default));
    if (call.query.has("aggregate")) {
        selection.until_ns = until.value_or(now_ns);
        read_intervals(call, reader, selection, request.intervals.emplace());
        return request;
    }
    if (call.query.has("interval")) {
        reader.fault("interval", "requires aggregate");
    }
    const std::int64_t this_epoch_ms = call.handlers.sample_text->epoch_ms();
    if (epoch || request.samples.since_seq) {
        request.samples.since_seq = request.samples.since_seq.value_or(0);
        request.samples.epoch_ms = epoch ? static_cast<std::int64_t>(*epoch) : this_epoch_ms;
        request.read.epoch_ms = request.samples.epoch_ms;
        request.read.since_seq = *request.samples.since_seq;
    }
    request.samples.is_newest = !since && !request.read.epoch_ms;
    request.read.newest = request.samples.is_newest ? request.samples.limit : 0;
    return request;
}

std::unique_ptr<ChannelAnswer> make_answer(const RestHandlers& handlers, const Request& request) {
    if (request.intervals) {
        return std::make_unique<IntervalAnswer>(*request.intervals);
    }
    return std::make_unique<SampleListAnswer>(*handlers.sample_text, request.samples);
}

/// A response that is created on tg-log-read, in turn with other readers of the log.
class ChannelJob : public std::enable_shared_from_this<ChannelJob> {
  public:
    ChannelJob(const RestCall& call, Request request)
        : handlers_(call.handlers),
          target_(call.request.target),
          topic_(request.read.selection.topic),
          answer_(make_answer(call.handlers, request)),
          read_({*handlers_.history, *handlers_.sample_text, handlers_.log_history}, std::move(request.read),
                [this](const ChannelPart& part) { return answer_->add(part); }) {}

    /// `place`: null if there is none.
    void start(std::shared_ptr<LogHistory::Place> place, HttpAnswer done) {
        place_ = std::move(place);
        done_ = std::move(done);
        if (place_ == nullptr) {
            return end(unavailable(request(), "too many requests are reading the durable log: must be at most " +
                                                  std::to_string(LogHistory::places_max)));
        }
        post();
    }
    /// Creates the response at once.
    [[nodiscard]] HttpResponse run() {
        while (read_.step()) {
        }
        return response();
    }

  private:
    void post() {
        if (!handlers_.log_history->post([self = shared_from_this()] { self->step(); })) {
            end(unavailable(request(), "too many requests wait for the durable log: must be at most " +
                                           std::to_string(LogHistory::requests_max)));
        }
    }

    void step() noexcept {
        try {
            if (handlers_.streams->is_ending()) {
                return end(unavailable(request(), "the gateway is stopping"));
            }
            if (place_ != nullptr && !place_->take_step()) {
                return end(unavailable(request(),
                                       "too many requests are reading the durable log: this one, which has "
                                       "read the most, made way for another"));
            }
            if (SteadyClock::now() - began_ > read_time_max) {
                return end(unavailable(request(), "reading the durable log took longer than " +
                                                      std::to_string(read_time_max.count()) +
                                                      " s: choose a shorter range of times or a lower limit"));
            }
            read_.step() ? post() : end(response());
        } catch (const std::exception&) {  // what() may name files that clients must not see
            end(unavailable(request(), "the durable log cannot be read"));
        }
    }

    void end(HttpResponse response) {
        place_ = nullptr;
        std::exchange(done_, nullptr)(std::move(response));
    }

    [[nodiscard]] HttpRequest request() const {
        HttpRequest request;
        request.target = target_;
        return request;
    }

    [[nodiscard]] HttpResponse response() {
        if (read_.is_epoch_unknown()) {
            return refused(request(), 404, "the durable log has nothing of this epoch; GET /log lists its epochs");
        }
        if (answer_->is_empty() && !handlers_.sample_text->channels().find(topic_)) {
            return refused(request(), 404,
                           "there is no channel with topic " + quoted_text(topic_) + "; GET /channels lists them");
        }
        return {200, "application/json", answer_->body(topic_), {}};
    }

    const RestHandlers& handlers_;
    const std::string target_;
    const std::string topic_;
    const SteadyClock::time_point began_ = SteadyClock::now();
    std::shared_ptr<LogHistory::Place> place_;
    const std::unique_ptr<ChannelAnswer> answer_;
    ChannelRead read_;
    HttpAnswer done_;
};

/// Returns the response if the history has everything that was requested.
std::optional<HttpResponse> answer_from_history(const RestCall& call, const Request& request) {
    const bool is_recent =
        request.read.epoch_ms.value_or(call.handlers.sample_text->epoch_ms()) == call.handlers.sample_text->epoch_ms();
    const bool has_times = call.query.has("since") || call.query.has("until");
    if (request.intervals || has_times || !is_recent) {
        return std::nullopt;
    }
    SampleListAnswer answer(*call.handlers.sample_text, request.samples);
    ChannelRead read({*call.handlers.history, *call.handlers.sample_text}, request.read,
                     [&](const ChannelPart& part) { return answer.add(part); });
    while (read.step()) {
    }
    return answer.is_complete(read.last_seq())
               ? std::optional(HttpResponse{200, "application/json", answer.body(request.read.selection.topic), {}})
               : std::nullopt;
}

HttpResponse get_samples(const RestCall& call) {
    ParameterReader reader(call);
    const std::string topic = std::string(call.arguments[0]) + "/" + std::string(call.arguments[1]);
    Request request = read_request(call, reader, topic);
    if (reader.failed()) {
        return reader.refusal();
    }
    LogHistory* const log = call.handlers.log_history;
    if (log == nullptr) {
        return ChannelJob(call, std::move(request)).run();
    }
    if (auto response = answer_from_history(call, request)) {
        return std::move(*response);
    }
    HttpResponse response;
    response.later = [log, job = std::make_shared<ChannelJob>(call, std::move(request)),
                      client = call.request.peer == nullptr ? std::string()
                                                            : client_of(*call.request.peer)](HttpAnswer done) {
        log->request_place(client, [job, done = std::move(done)](std::shared_ptr<LogHistory::Place> place) {
            job->start(std::move(place), done);
        });
    };
    return response;
}

constexpr std::array channel_route_table{
    RestRoute{.path = "/samples/{device}/{channel}",
              .summary = "The samples of one channel, or their aggregates for intervals.",
              .parameters = channel_parameters,
              .answer_schema = "ChannelSamplesOrIntervals",
              .refusals = {404, 503},
              .answer = get_samples},
};

}  // namespace

constinit const std::span<const RestRoute> channel_routes = channel_route_table;

}  // namespace telegate
