// How gateway_tail ends: samples in flight, the summary, the report and the exit code.
#include "sample_text.hpp"
#include "tail.hpp"
#include "time_words.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace telegate::tail {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Time limit for the last snapshot.
constexpr milliseconds look_max{1'000};
/// Time limit for the recovery of missing samples.
constexpr milliseconds settle_max{2'000};
/// Time after the last snapshot for samples in flight.
constexpr milliseconds on_its_way{100};
constexpr std::size_t summary_ranges_max = 20;

}  // namespace

/// Outputs samples that were published until now. One last snapshot shows the last seq of each topic; samples that do
/// not arrive shortly after it are requested.
void Tail::settle() {
    const Time begin = steady_clock::now();
    const int signals = stop_signals::count();
    const auto is_worth_it = [&](Time now) {
        return is_connected_ && !output_.is_done() && stop_signals::count() == signals && !splice_.is_settled() &&
               now < begin + (splice_.is_missing() ? settle_max : look_max);
    };
    splice_.look_last();
    Time live_end = begin + look_max;
    for (Time now = begin; is_worth_it(now); now = steady_clock::now()) {
        takes_live_ = now < live_end;
        turn(now);
        live_end = splice_.has_looked_last() ? std::min(live_end, now + on_its_way) : live_end;
    }
}

/// Returns the reasons why samples may be missing whose seqs are unknown.
std::vector<Doubt> Tail::doubts() const {
    const SpliceCounts& counts = splice_.counts();
    const char* const fault = !is_connected_            ? "no connection"
                              : !counts.refusal.empty() ? "the services refused the request"
                                                        : "no reply from the services";
    std::vector<Doubt> doubts;
    if (counts.since_failed) {
        doubts.push_back({"since", std::string("samples requested with --since are missing: ") + fault});
    }
    if (counts.lines.topics_refused > 0) {
        doubts.push_back({"topics", "more than " + grouped(splice_limits::topics_max) + " topics: " +
                                        counted(counts.lines.topics_refused, "message") + " of other topics ignored"});
    }
    if (options_.services && !splice_.has_looked_last() && !output_.is_done()) {
        doubts.push_back({"end", std::string("the last published samples may be missing: ") + fault});
    }
    return doubts;
}

/// Adds the doubts to the report, whose reader may not see standard error.
void Tail::note_doubts() {
    doubts_ = doubts();
    for (const Doubt& doubt : doubts_) {
        output_.doubt(doubt.word);
        if (doubt.word == "end" && splice_.epoch() != 0) {
            output_.doubt_end(splice_.epoch());
        }
    }
}

/// Checks the output and the report at the start, so that write errors are not first noticed at the end or with the
/// first sample.
bool Tail::can_write() const {
    if (!output_.fault().empty()) {
        say("cannot write the output: " + output_.fault());
        return false;
    }
    return can_write_report();
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
    if (is_begun_ && !splice_.counts().baseline_failed && splice_.counts().refusal.empty()) {
        return !output_.is_done() && say_unmatched() ? exit_code::lost : exit_code::nothing_lost;
    }
    if (splice_.counts().refusal.empty() && !has_said_baseline_) {
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
        for (const Doubt& doubt : doubts_) {
            summary += "\n  " + doubt.words;
        }
        say(summary);
    }
    return output_.account().is_anything_lost() || !doubts_.empty() ? exit_code::lost : exit_code::nothing_lost;
}

int Tail::finish() {
    is_begun_ = splice_.has_begun();
    if (!output_.is_done()) {
        splice_.finish();
    }
    output_.turn(steady_clock::now(), true);
    if (!options_.is_last_only()) {
        note_doubts();
    }
    if (!was_connected_) {
        say("cannot reach the gateway: nothing was received");
    }
    const int code = !was_connected_           ? exit_code::unavailable
                     : options_.is_last_only() ? finish_last()
                                               : finish_stream();
    if (!output_.console().fault().empty()) {
        say("cannot write the output: " + output_.console().fault());
        return exit_code::io_error;
    }
    if (!write_report()) {
        say("--report: cannot write \"" + options_.report + "\"");
        return exit_code::io_error;
    }
    return code;
}

}  // namespace telegate::tail
