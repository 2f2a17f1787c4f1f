#include "services/history_replay.hpp"

#include <span>

namespace telegate {

HistoryReplay::HistoryReplay(ReplayParts parts, std::string out, std::size_t limit)
    : parts_(parts), out_(std::move(out)), limit_(limit) {
    out_ += ",\"samples\":[";
}

void HistoryReplay::add(const TelemetrySample& sample) {
    if (samples_ > 0) {
        out_ += ',';
    }
    parts_.text.append(out_, sample);
    ++samples_;
}

PositionReplay::PositionReplay(ReplayParts parts, std::string out, Wanted wanted)
    : HistoryReplay(parts, std::move(out), wanted.limit),
      filter_(parts.channels, {std::move(wanted.prefix)}),
      cursor_(parts.history, wanted.position) {}

bool PositionReplay::step() {
    const SampleCursor::Read read = cursor_.read(read_);
    missed_ += read.missed;
    for (const TelemetrySample& sample : std::span(read_).first(read.count)) {
        if (is_full()) {
            return finish();
        }
        cursor_.advance(1);
        ++looked_;
        if (filter_.matches(sample.channel)) {
            add(sample);
        }
    }
    const bool is_over =
        read.at_end() || looked_ >= looked_max || is_full() || cursor_.position() == parts_.history.position();
    return is_over && finish();
}

bool PositionReplay::finish() {
    out_ += "],\"position\":" + std::to_string(cursor_.position()) +
            ",\"end\":" + (cursor_.position() >= parts_.history.position() ? "true" : "false") +
            ",\"missed\":" + std::to_string(missed_) + '}';
    return true;
}

}  // namespace telegate
