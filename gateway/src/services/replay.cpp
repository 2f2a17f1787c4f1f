#include "services/replay.hpp"

#include <span>

namespace telegate {

Replay::Replay(ReplayParts parts, std::string out, std::size_t limit)
    : parts_(parts), out_(std::move(out)), limit_(limit) {
    out_ += ",\"samples\":[";
}

void Replay::add(const TelemetrySample& sample) {
    if (samples_ > 0) {
        out_ += ',';
    }
    parts_.text.append(out_, sample);
    ++samples_;
}

PositionReplay::PositionReplay(ReplayParts parts, std::string out, Wanted wanted)
    : Replay(parts, std::move(out), wanted.limit), prefix_(std::move(wanted.prefix)), next_(wanted.position) {}

bool PositionReplay::matches(ChannelId channel) {
    if (prefix_.empty()) {
        return true;
    }
    const std::size_t index = to_index(channel);
    if (index >= matches_.size()) {
        matches_.resize(index + 1, Match::unknown);
    }
    if (matches_[index] == Match::unknown) {
        matches_[index] = parts_.channels.at(channel).topic.starts_with(prefix_) ? Match::yes : Match::no;
    }
    return matches_[index] == Match::yes;
}

bool PositionReplay::step() {
    const History::Read read = parts_.history.read(next_, read_);
    missed_ += read.missed;
    next_ += read.missed;
    for (const TelemetrySample& sample : std::span(read_).first(read.count)) {
        if (is_full()) {
            return finish();
        }
        ++next_;
        ++looked_;
        if (matches(sample.channel)) {
            add(sample);
        }
    }
    const bool is_over = (read.count == 0 && read.missed == 0) || looked_ >= looked_max || is_full() ||
                         next_ == parts_.history.position();
    return is_over && finish();
}

bool PositionReplay::finish() {
    out_ += "],\"position\":" + std::to_string(next_) +
            ",\"end\":" + (next_ >= parts_.history.position() ? "true" : "false") +
            ",\"missed\":" + std::to_string(missed_) + '}';
    return true;
}

}  // namespace telegate
