#include "services/history_replay.hpp"

#include <algorithm>

namespace telegate {

HistoryReplay::HistoryReplay(ReplayParts parts, std::string out, std::size_t limit)
    : parts_(std::move(parts)), out_(std::move(out)), limit_(limit) {
    out_ += ",\"samples\":[";
}

void HistoryReplay::add(const TelemetrySample& sample) {
    if (samples_ > 0) {
        out_ += ',';
    }
    page_.text->append(out_, sample);
    ++samples_;
}

PositionReplay::PositionReplay(const ReplayParts& parts, std::string out, const Wanted& wanted)
    : HistoryReplay(parts, std::move(out), wanted.limit),
      reader_(parts.sources, {{wanted.prefix}, {}}, wanted.start, parts.wake) {}

HistoryReplay::Step PositionReplay::step() {
    using Result = SampleReader::Result;
    if (next_ == page_.samples.size()) {
        missed_ += page_.missed();
        next_ = 0;
        switch (reader_.read(page_)) {
            case Result::page: break;
            case Result::waiting: page_ = {}; return Step::waiting;
            case Result::late:
            case Result::failed: return finish(reader_.position(), false);
            case Result::crashed: is_end_known_ = false; [[fallthrough]];
            case Result::end:
            case Result::ended: return finish(reader_.position(), true);
            case Result::unknown_epoch: out_ = parts_.unknown_epoch(); return Step::done;
        }
        scanned_ += page_.end_position - std::min(page_.end_position, page_.position);
    }
    const std::size_t end = std::min(next_ + step_samples, page_.samples.size());
    for (; next_ < end && !is_full(); ++next_) {
        add(page_.samples[next_]);
    }
    if (is_full() && next_ > 0 && next_ < page_.samples.size()) {
        return finish(page_.positions[next_ - 1] + 1, false);
    }
    const bool is_page_over = next_ == page_.samples.size();
    const bool is_all =
        reader_.epoch_ms() == parts_.sources.text.epoch_ms() && reader_.position() == parts_.sources.history.position();
    const bool is_over = is_page_over && (scanned_ >= scanned_max || is_full() || is_all);
    return is_over ? finish(reader_.position(), is_all) : Step::more;
}

HistoryReplay::Step PositionReplay::finish(std::uint64_t position, bool is_end) {
    for (const SamplePage::Missing& each : page_.missing) {
        missed_ += each.first < position ? each.last - each.first + 1 : 0;
    }
    out_ += "],\"position\":" + std::to_string(position) + ",\"end\":" + (is_end ? "true" : "false") +
            ",\"missed\":" + std::to_string(missed_);
    if (const std::int64_t present_ms = parts_.sources.text.epoch_ms(); reader_.epoch_ms() != present_ms) {
        out_ += ",\"samples_epoch\":" + std::to_string(reader_.epoch_ms());
        if (is_end) {
            const std::int64_t next_ms = reader_.next_epoch_ms();
            out_ += ",\"next_epoch\":" + std::to_string(next_ms > 0 ? std::min(next_ms, present_ms) : present_ms);
        }
        out_ += is_end_known_ ? "" : ",\"end_known\":false";
    }
    out_ += '}';
    return Step::done;
}

}  // namespace telegate
