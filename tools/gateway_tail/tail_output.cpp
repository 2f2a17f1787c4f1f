#include "tail_output.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace telegate::tail {
namespace {

constexpr std::chrono::seconds rates_interval{1};
constexpr const char* home_and_clear = "\x1b[H\x1b[J";

bool wants_color(const TailOptions& options, const Console& console) {
    const char* const no_color = std::getenv("NO_COLOR");
    const bool is_refused = no_color != nullptr && *no_color != '\0';
    return options.color == "always" || (options.color == "auto" && console.is_terminal() && !is_refused);
}

std::int64_t utc_now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace

TailOutput::TailOutput(const TailOptions& options)
    : options_(options),
      lines_(options.format, wants_color(options, console_)),
      rates_since_(std::chrono::steady_clock::now()),
      narrator_(options.services.has_value()) {
    if (options.format != OutputFormat::none) {
        console_.check();
    }
    console_.buffer() += lines_.head();
}

void TailOutput::give(const Sample& sample) {
    if (is_full_) {
        return;
    }
    account_.give(sample);
    narrator_.give(sample);
    is_full_ = account_.samples() == options_.count;
    if (options_.format == OutputFormat::rates) {
        rates_.give(sample, utc_now_ns());
    } else if (options_.format != OutputFormat::none) {
        lines_.append(console_.buffer(), sample);
        console_.added();
    }
}

void TailOutput::lose(const Gap& gap) {
    if (is_full_) {
        return;
    }
    account_.lose(gap);
    narrator_.lose(gap);
    if (options_.format == OutputFormat::rates) {
        rates_.lose(gap);
    }
}

void TailOutput::end_unknown(std::int64_t epoch) {
    if (!is_full_) {
        account_.end_unknown(epoch);
        say((options_.services ? "the gateway does not know the end of"
                               : "the gateway was not queried (--no-recover) for the end of") +
            std::string(" epoch ") + std::to_string(epoch) + ": its last samples may be lost");
    }
}

void TailOutput::make_room(const Answer& answer) {
    for (const Sample& sample : answer.samples) {
        lines_.make_room(sample.topic);
    }
}

void TailOutput::show_rates(Time now) {
    constexpr std::size_t other_rows = 3;  // the header, the omitted topics, and the cursor
    const bool is_terminal = console_.is_terminal();
    const std::size_t rows_max = is_terminal ? console_.rows() - std::min(console_.rows() - 1, other_rows)
                                             : std::numeric_limits<std::size_t>::max();
    console_.buffer() += is_terminal ? home_and_clear : "";
    console_.buffer() += rates_.page(now - rates_since_, rows_max);
    rates_since_ = now;
}

void TailOutput::turn(Time now, bool is_settled) {
    if (options_.format == OutputFormat::rates && now - rates_since_ >= rates_interval) {
        show_rates(now);
    }
    console_.flush();
    if (const std::optional<std::string> words = narrator_.words(now, is_settled)) {
        say(*words);
    }
}

}  // namespace telegate::tail
