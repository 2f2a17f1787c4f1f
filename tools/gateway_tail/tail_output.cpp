#include "tail_output.hpp"

#include <cstdlib>

namespace telegate::tail {
namespace {

bool wants_color(const TailOptions& options, const Console& console) {
    const char* const no_color = std::getenv("NO_COLOR");
    const bool is_refused = no_color != nullptr && *no_color != '\0';
    return options.color == "always" || (options.color == "auto" && console.is_terminal() && !is_refused);
}

}  // namespace

TailOutput::TailOutput(const TailOptions& options)
    : options_(options),
      lines_(options.format, wants_color(options, console_)),
      narrator_(options.services.has_value()) {
    if (options.format != OutputFormat::none) {
        console_.check();
    }
    console_.buffer() += lines_.head();
}

void TailOutput::write(const Sample& sample) {
    if (is_full_) {
        return;
    }
    account_.add(sample);
    is_full_ = account_.counts().samples == options_.count;
    if (options_.format != OutputFormat::none) {
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

void TailOutput::turn(Time now, bool is_settled) {
    console_.flush();
    if (const std::optional<std::string> words = narrator_.words(now, is_settled, account_.counts())) {
        say(*words);
    }
}

}  // namespace telegate::tail
