#include "rest/sample_stream.hpp"

#include <span>
#include <utility>

namespace telegate {

SampleStream::SampleStream(const History& history, SampleText& text, std::vector<std::string> prefixes,
                           std::uint64_t next)
    : history_(history),
      text_(text),
      filter_(text.channels(), std::move(prefixes)),
      cursor_(history, next),
      told_(next) {}

void SampleStream::tell_restart(std::optional<std::uint64_t> missed) {
    restart_ = Restart{missed};
}

std::string SampleStream::id_of(std::uint64_t position) const {
    return "id: " + std::to_string(text_.epoch_ms()) + '-' + std::to_string(position) + '\n';
}

/// The id of the position before the next one, so a client that reconnects with it continues there.
void SampleStream::add_id(std::string& out) const {
    if (cursor_.position() > 0) {
        out += id_of(cursor_.position() - 1);
    }
}

void SampleStream::add_restart(std::string& out) {
    add_id(out);
    out += "event: gap\ndata: {\"reason\":\"restart\",\"epoch\":" + std::to_string(text_.epoch_ms());
    if (restart_->missed) {
        out += ",\"missed\":" + std::to_string(*restart_->missed);
        missed_ += *restart_->missed;
    }
    out += "}\n\n";
    told_ = cursor_.position();
}

/// Reports the missing samples before the cursor. Between samples of quiet channels there are many such gaps.
void SampleStream::note_missed(std::uint64_t missed) noexcept {
    gap_.first = gap_.missed == 0 ? cursor_.position() - missed : gap_.first;
    gap_.last = cursor_.position() - 1;
    gap_.missed += missed;
    missed_ += missed;
}

void SampleStream::add_gap(std::string& out) {
    if (gap_.missed == 0) {
        return;
    }
    out += id_of(gap_.last) +
           "event: gap\ndata: {\"reason\":\"overwritten\",\"epoch\":" + std::to_string(text_.epoch_ms()) +
           ",\"missed\":" + std::to_string(gap_.missed) + ",\"first_position\":" + std::to_string(gap_.first) +
           ",\"last_position\":" + std::to_string(gap_.last) + "}\n\n";
    told_ = gap_.last + 1;
    gap_ = {};
}

void SampleStream::add_end(std::string& out) const {
    add_id(out);
    out += "event: end\ndata: {\"reason\":\"shutdown\",\"epoch\":" + std::to_string(text_.epoch_ms()) +
           ",\"sent\":" + std::to_string(sent_) + ",\"missed\":" + std::to_string(missed_) + "}\n\n";
}

std::size_t SampleStream::add_samples(std::string& out, std::size_t count, std::size_t bytes_max) {
    std::size_t looked_at = 0;
    for (const TelemetrySample& sample : std::span(read_).first(count)) {
        if (out.size() >= bytes_max) {
            break;
        }
        if (filter_.matches(sample.channel)) {
            add_gap(out);
            out += id_of(cursor_.position() + looked_at) + "event: sample\ndata: ";
            text_.append(out, sample);
            out += "\n\n";
            told_ = cursor_.position() + looked_at + 1;
            ++sent_;
        }
        ++looked_at;
    }
    return looked_at;
}

StreamState SampleStream::pull(std::string& out, std::size_t bytes_max, bool ends) {
    const std::size_t out_max = out.size() + bytes_max;
    if (restart_) {
        add_restart(out);
        restart_.reset();
    }
    const StreamState state = pull_some(out, out_max);
    if (!ends || state != StreamState::waiting) {
        return state;
    }
    add_end(out);
    return StreamState::ended;
}

StreamState SampleStream::pull_some(std::string& out, std::size_t out_max) {
    for (std::size_t looked_at = 0; looked_at < samples_per_pull_max && out.size() < out_max;) {
        const SampleCursor::Read read = cursor_.read(read_);
        if (read.missed > 0) {
            note_missed(read.missed);
        }
        if (read.at_end()) {
            add_gap(out);
            return StreamState::waiting;
        }
        const std::size_t added = add_samples(out, read.count, out_max);
        cursor_.advance(added);
        looked_at += added;
        // A client that receives no events for a long time could not resume, because the position of its last event
        // would be overwritten. An event without data only updates the id.
        if (gap_.missed == 0 && cursor_.position() - told_ >= history_.capacity() / 4) {
            out += id_of(cursor_.position() - 1) + '\n';
            told_ = cursor_.position();
        }
    }
    return StreamState::more;
}

}  // namespace telegate
