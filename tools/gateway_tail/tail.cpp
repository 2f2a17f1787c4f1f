#include "tail.hpp"

#include "parse_any.hpp"
#include "sample_text.hpp"
#include "time_words.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace telegate::tail {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Longest time until a signal is noticed.
constexpr milliseconds turn_max{200};
/// An iteration that takes this long was blocked: the process was stopped, or the reader of the output was slow.
constexpr milliseconds stall_min{1'000};
/// Delay before "waiting for" is reported.
constexpr milliseconds silent_wait{1'000};

SocketOptions socket_options(const std::optional<CurveClient>& curve) {
    constexpr std::size_t message_bytes_max = std::size_t{4} * 1024 * 1024;  // replies are up to 1 MiB long
    constexpr milliseconds reconnect_max{500};  // both sockets must reconnect before missing samples count as lost
    SocketOptions socket;
    socket.message_bytes_max = message_bytes_max;
    socket.reconnect_max = reconnect_max;
    if (curve) {
        socket.security = *curve;
    }
    return socket;
}

/// Time limit for the last snapshot.
constexpr milliseconds check_time_max{1'000};
/// Time limit for the recovery of missing samples.
constexpr milliseconds settle_max{2'000};
constexpr std::size_t summary_ranges_max = 20;

}  // namespace

Tail::Tail(TailOptions options)
    : options_(std::move(options)),
      output_(options_),
      merger_({.prefixes = options_.prefixes,
               .since = options_.since,
               .last = options_.last,
               .recover = options_.services.has_value()},
              output_),
      reader_(merger_),
      subscriber_(reactor_, socket_options(options_.publish_curve)),
      began_(steady_clock::now()),
      troubles_(options_.publish_curve.has_value(), options_.services_curve.has_value()) {
    subscriber_.set_monitor([this](const MonitorEvent& event) { watch(event, true); });
    for (const std::string& prefix : options_.prefixes) {
        subscriber_.subscribe(prefix);
    }
    if (options_.services) {
        dealer_.emplace(reactor_, socket_options(options_.services_curve));
        dealer_->set_monitor([this](const MonitorEvent& event) { watch(event, false); });
    }
}

void Tail::connect() {
    if (!options_.is_last_only()) {
        subscriber_.connect(resolved(options_.publish));
    }
    if (dealer_) {
        dealer_->connect(resolved(*options_.services));
    }
}

void Tail::watch(const MonitorEvent& event, bool is_live) {
    const auto socket = is_live ? Troubles::Socket::publish : Troubles::Socket::services;
    if (event.kind == MonitorEventKind::handshake_done) {
        troubles_.forget(event.endpoint);
        news_.push_back(is_live ? News::live_up : News::services_up);
    } else if (event.kind == MonitorEventKind::disconnected) {
        news_.push_back(is_live ? News::live_down : News::services_down);
    } else if (event.kind == MonitorEventKind::handshake_failed) {
        if (const std::optional<std::string> words = troubles_.words(socket, event.endpoint, event.detail)) {
            say(*words);
        }
    }
}

void Tail::receive_live() {
    while (subscriber_.receive(batch_)) {
        for (const Message message : batch_) {
            if (reads_live_ && message.size() == 2) {
                reader_.read(message.text(0), message.text(1));
            }
        }
    }
}

void Tail::receive_answers(Time now) {
    while (dealer_ && dealer_->receive(batch_)) {
        for (const Message message : batch_) {
            Answer answer;
            std::string what;
            if (parse_answer(message.text(message.size() - 1), answer, what)) {
                output_.make_room(answer);
                merger_.answer(answer, now);
            } else {
                say_once("invalid reply from the services: " + what);
            }
        }
    }
}

void Tail::handle_news(Time now) {
    for (const News news : std::exchange(news_, {})) {
        switch (news) {
            case News::live_up:
                merger_.live_up(now);
                output_.narrator().regained_connection();
                is_connected_ = was_connected_ = true;
                break;
            case News::live_down:
                if (is_connected_) {
                    say("connection lost, reconnecting");
                    output_.narrator().lost_connection();
                }
                merger_.live_down();
                is_connected_ = false;
                break;
            case News::services_up:
                if (options_.is_last_only() && !was_connected_) {
                    merger_.live_up(now);  // there is no live connection, so timeouts for the services start here
                    was_connected_ = true;
                }
                merger_.services_up();
                break;
            case News::services_down: merger_.services_down(now); break;
        }
    }
}

void Tail::send_request(Time now) {
    const std::optional<Request> request = merger_.turn(now);
    if (request && dealer_) {
        // A request that cannot be sent now counts as unanswered and is sent again.
        static_cast<void>(dealer_->send({to_json(*request)}));
        dealer_->flush();
    }
}

void Tail::say_once(const std::string& words) {
    if (troubles_.is_new(words)) {
        say(words);
    }
}

void Tail::say_what_is_new() {
    if (!was_connected_ && steady_clock::now() - began_ >= silent_wait) {
        say_once("waiting for " + to_string(options_.is_last_only() ? *options_.services : options_.publish));
    }
    if (reader_.not_understood() > 0) {
        std::string topic;
        append_printable(topic, reader_.strange_topic());
        say_once("cannot parse a message on topic \"" + topic + "\"; further ones are not reported");
    }
    say_merger_news();
    say_begin_of_history();
}

void Tail::say_merger_news() {
    const MergerCounts& counts = merger_.counts();
    const bool is_refused = counts.refusal != refusal_said_;
    const bool is_without_begin = counts.baseline_failed && options_.services && !is_without_begin_;
    if (is_refused || is_without_begin) {
        refusal_said_ = counts.refusal;
        is_without_begin_ = is_without_begin_ || is_without_begin;
        std::string words = "the services at " + to_string(*options_.services);
        words += is_refused ? " refused the request: " : " sent no reply";
        append_printable(words, is_refused ? counts.refusal : "");
        if (is_without_begin && !options_.is_last_only()) {
            words += is_refused ? "; " : ": ";
            words += counts.since_failed ? "there is no history; " : "";
            words += "starting with live samples";
        }
        say(words);
    }
    if (counts.topics_refused > 0) {
        say_once("more than " + grouped(merger_limits::topics_max) + " topics; the others are ignored");
    }
}

/// The gateway does not report where its history begins, so this is derived from the earliest sample that it returned.
void Tail::say_begin_of_history() {
    const std::optional<std::int64_t> first = merger_.counts().since_first_utc_ns;
    if (!merger_.has_begun() || !first) {
        return;
    }
    constexpr std::int64_t ns_per_s = 1'000'000'000;  // the difference of any two times in seconds fits
    const std::int64_t asked_s = options_.since_now_utc_ns / ns_per_s - options_.since_utc_ns / ns_per_s;
    const std::int64_t late_s = *first / ns_per_s - options_.since_utc_ns / ns_per_s;
    // A smaller difference may be due to a channel with a long sampling interval.
    constexpr std::int64_t part = 10;
    constexpr std::int64_t late_min_s = 1;
    constexpr std::int64_t late_max_s = 300;
    if (late_s > std::clamp(asked_s / part, late_min_s, late_max_s)) {
        constexpr unsigned decimals = 3;
        std::string words = "the history begins at ";
        append_time(words, *first, decimals);
        say_once(words);
    }
}

void Tail::turn(Time now) {
    reactor_.run_until(std::clamp(merger_.next_turn(), now, now + turn_max));
    receive_live();
    const Time later = steady_clock::now();
    receive_answers(later);
    handle_news(later);
    send_request(later);
    say_what_is_new();
    output_.turn(later, merger_.is_settled());
}

bool Tail::has_timed_out(Time now) const {
    return options_.connect_timeout && !was_connected_ && now - began_ >= *options_.connect_timeout;
}

bool Tail::is_done(Time now) {
    const bool is_over = options_.duration && now - began_ >= *options_.duration;
    const bool has_last = options_.is_last_only() && (merger_.has_begun() || !merger_.counts().refusal.empty());
    return stop_signals::count() > 0 || is_over || has_last || output_.is_done() || has_timed_out(now);
}

int Tail::run() {
    // Checks the output and the report before a sample arrives, so that write errors are not first noticed at the end.
    if (say_output_fault() || !can_write_report()) {
        return exit_code::io_error;
    }
    try {
        connect();
    } catch (const std::exception& error) {
        say(error.what());
        return exit_code::unavailable;
    }
    Time now = began_;
    for (Time before = now; !is_done(now); before = std::exchange(now, steady_clock::now())) {
        if (now - before >= stall_min) {
            merger_.stalled(now);
        }
        turn(now);
    }
    if (has_timed_out(now)) {
        say((options_.is_last_only() ? "the services at " + to_string(*options_.services) + " are"
                                     : "the gateway at " + to_string(options_.publish) + " is") +
            " unreachable");
        return exit_code::unavailable;
    }
    settle();
    return finish();
}

/// Outputs samples that were published until now. One last snapshot shows the last seq of each topic; samples that do
/// not arrive shortly after it are requested.
void Tail::settle() {
    const Time begin = steady_clock::now();
    const int signals = stop_signals::count();
    const auto is_worth_it = [&](Time now) {
        return is_connected_ && !output_.is_done() && stop_signals::count() == signals && !merger_.is_settled() &&
               now < begin + (merger_.is_missing() ? settle_max : check_time_max);
    };
    merger_.request_last_snapshot();
    Time live_end = begin + check_time_max;
    for (Time now = begin; is_worth_it(now); now = steady_clock::now()) {
        reads_live_ = now < live_end;
        turn(now);
        live_end = merger_.has_last_snapshot() ? std::min(live_end, now + Merger::on_its_way) : live_end;
    }
}

/// Adds the reasons why samples with unknown seqs may be missing.
void Tail::record_doubts() {
    const MergerCounts& counts = merger_.counts();
    const char* const fault = !is_connected_            ? "no connection"
                              : !counts.refusal.empty() ? "the services refused the request"
                                                        : "no reply from the services";
    Account& account = output_.account();
    if (counts.since_failed) {
        account.doubt("since", std::string("samples requested with --since are missing: ") + fault);
    }
    if (counts.topics_refused > 0) {
        account.doubt("topics", "more than " + grouped(merger_limits::topics_max) + " topics: " +
                                    counted(counts.topics_refused, "message") + " of other topics ignored");
    }
    if (options_.services && !merger_.has_last_snapshot() && !output_.is_done()) {
        account.doubt("end", std::string("the last published samples may be missing: ") + fault);
        if (merger_.epoch() != 0) {
            account.doubt_end(merger_.epoch());
        }
    }
}

/// Reports why the output cannot be written. Returns false if it can.
bool Tail::say_output_fault() const {
    if (output_.console().fault().empty()) {
        return false;
    }
    say("cannot write the output: " + output_.console().fault());
    return true;
}

bool Tail::can_write_report() const {
    std::error_code ignored;
    if (options_.report.empty() || (std::filesystem::exists(options_.report, ignored) &&
                                    !std::filesystem::is_regular_file(options_.report, ignored))) {
        return true;  // a pipe can be opened only once
    }
    errno = 0;
    if (std::ofstream(options_.report, std::ios::app).good()) {
        return true;
    }
    say("--report: cannot write \"" + options_.report + "\": " + std::generic_category().message(errno));
    return false;
}

bool Tail::write_report() const {
    if (options_.report.empty()) {
        return true;
    }
    std::ofstream file(options_.report, std::ios::trunc);
    file << output_.account().report();
    file.flush();
    return file.good();
}

/// Reports prefixes without a value, such as a misspelled topic. Returns whether there are any.
bool Tail::say_unmatched() const {
    bool is_any = false;
    for (const std::string& prefix : options_.prefixes) {
        if (output_.account().has_sample_of(prefix)) {
            continue;
        }
        is_any = true;
        std::string words = prefix.empty() ? "no topic has a value yet" : "no topic that has a value begins with \"";
        append_printable(words, prefix);
        say(words + (prefix.empty() ? "" : "\""));
    }
    return is_any;
}

int Tail::finish_last() const {
    if (merger_.has_begun() && !merger_.counts().baseline_failed && merger_.counts().refusal.empty()) {
        return !output_.is_done() && say_unmatched() ? exit_code::lost : exit_code::nothing_lost;
    }
    if (merger_.counts().refusal.empty() && !is_without_begin_) {
        say("the services at " + to_string(*options_.services) + " sent no reply");
    }
    return exit_code::unavailable;
}

/// Reports the summary and returns the exit code.
int Tail::finish_stream() {
    const bool was_closed = !output_.console().is_open() && output_.console().fault().empty();
    if (!was_closed) {
        const auto duration = std::chrono::duration_cast<milliseconds>(steady_clock::now() - began_);
        std::string summary = output_.account().summary(duration, summary_ranges_max);
        summary.pop_back();
        say(summary);
    }
    return output_.account().is_in_doubt() ? exit_code::lost : exit_code::nothing_lost;
}

int Tail::finish() {
    if (!output_.is_done()) {
        merger_.finish();
    }
    output_.turn(steady_clock::now(), true);
    if (!options_.is_last_only()) {
        record_doubts();
    }
    if (!was_connected_) {
        say("cannot reach the gateway: nothing was received");
    }
    const int code = !was_connected_           ? exit_code::unavailable
                     : options_.is_last_only() ? finish_last()
                                               : finish_stream();
    if (say_output_fault()) {
        return exit_code::io_error;
    }
    if (!write_report()) {
        say("--report: cannot write \"" + options_.report + "\"");
        return exit_code::io_error;
    }
    return code;
}

}  // namespace telegate::tail
