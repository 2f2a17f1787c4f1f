#include "rest/sample_stream.hpp"

#include <utility>

namespace telegate {

SampleStream::SampleStream(const SampleSources& sources, std::vector<std::string> prefixes, const StreamPosition& next,
                           Hooks hooks)
    : sources_(sources),
      selection_{std::move(prefixes), {}},
      hooks_(std::move(hooks)),
      position_(next.position),
      reported_(next.position) {
    reader_.emplace(sources_, selection_, SampleReader::Start{next.epoch_ms, next.position}, hooks_.wake);
}

std::string SampleStream::id_of(std::uint64_t position) const {
    return "id: " + std::to_string(reader_->epoch_ms()) + '-' + std::to_string(position) + '\n';
}

/// The id of the position before the next one, so a client that reconnects with it continues there.
void SampleStream::add_id(std::string& out) const {
    if (position_ > 0) {
        out += id_of(position_ - 1);
    }
}

/// Continues at the start of the next epoch that the log has, or of this one.
void SampleStream::begin_next_epoch(std::string& out) {
    add_gap(out);
    const std::int64_t present_ms = sources_.text.epoch_ms();
    const std::int64_t next_ms = reader_->next_epoch_ms();
    const std::int64_t epoch_ms = next_ms > 0 && next_ms < present_ms ? next_ms : present_ms;
    std::optional<std::uint64_t> missed;
    if (hooks_.published_from) {
        missed = hooks_.published_from(reader_->epoch_ms(), position_, epoch_ms);
    }
    reader_.emplace(sources_, selection_, SampleReader::Start{epoch_ms}, hooks_.wake);
    position_ = reported_ = 0;
    out += "event: gap\ndata: {\"reason\":\"restart\",\"epoch\":" + std::to_string(epoch_ms);
    if (missed) {
        out += ",\"missed\":" + std::to_string(*missed);
        missed_ += *missed;
    }
    out += "}\n\n";
}

/// Reports the missing samples before the next one. Between samples of quiet channels there are many such gaps.
void SampleStream::report_missed(std::string& out, const SamplePage::Missing& missing) {
    if (gap_.missed > 0 && gap_.reason != missing.reason) {
        add_gap(out);
    }
    const std::uint64_t missed = missing.last - missing.first + 1;
    gap_.first = gap_.missed == 0 ? missing.first : gap_.first;
    gap_.last = missing.last;
    gap_.reason = missing.reason;
    gap_.missed += missed;
    missed_ += missed;
}

void SampleStream::add_gap(std::string& out) {
    if (gap_.missed == 0) {
        return;
    }
    out += id_of(gap_.last) + "event: gap\ndata: {\"reason\":\"";
    out += gap_.reason ? to_string(*gap_.reason) : "overwritten";
    out += "\",\"epoch\":" + std::to_string(reader_->epoch_ms()) + ",\"missed\":" + std::to_string(gap_.missed) +
           ",\"first_position\":" + std::to_string(gap_.first) + ",\"last_position\":" + std::to_string(gap_.last) +
           "}\n\n";
    reported_ = gap_.last + 1;
    gap_ = {};
}

void SampleStream::add_end(std::string& out) const {
    add_id(out);
    out += "event: end\ndata: {\"reason\":\"shutdown\",\"epoch\":" + std::to_string(sources_.text.epoch_ms()) +
           ",\"sent\":" + std::to_string(sent_) + ",\"missed\":" + std::to_string(missed_) + "}\n\n";
}

/// Appends the samples of the page until `out_max` is reached.
void SampleStream::add_samples(std::string& out, std::size_t out_max) {
    for (; next_ < page_.samples.size() && out.size() < out_max; ++next_) {
        const std::uint64_t position = page_.positions[next_];
        for (; next_missing_ < page_.missing.size() && page_.missing[next_missing_].first < position; ++next_missing_) {
            report_missed(out, page_.missing[next_missing_]);
        }
        add_gap(out);
        out += id_of(position) + "event: sample\ndata: ";
        page_.text->append(out, page_.samples[next_]);
        out += "\n\n";
        position_ = reported_ = position + 1;
        ++sent_;
    }
    if (next_ == page_.samples.size()) {
        for (; next_missing_ < page_.missing.size(); ++next_missing_) {
            report_missed(out, page_.missing[next_missing_]);
        }
        position_ = page_.end_position;
    }
}

StreamState SampleStream::pull(std::string& out, std::size_t bytes_max, bool ends) {
    const StreamState state = pull_some(out, out.size() + bytes_max);
    if (!ends || state != StreamState::waiting) {
        return state;
    }
    add_end(out);
    return StreamState::ended;
}

/// Reads the next page. Returns false, and the state of the stream, if there is none at present.
bool SampleStream::read_page(std::string& out, StreamState& state) {
    using Result = SampleReader::Result;
    const Result result = reader_->read(page_);
    next_ = 0;
    next_missing_ = 0;
    switch (result) {
        case Result::page: return true;
        case Result::end: add_gap(out); [[fallthrough]];
        case Result::waiting:
        case Result::late:
            page_ = {};
            page_.end_position = position_;
            state = StreamState::waiting;
            return false;
        case Result::ended:
        case Result::crashed:
        case Result::unknown_epoch:
        case Result::failed: break;
    }
    begin_next_epoch(out);
    page_ = {};
    state = StreamState::more;
    return false;
}

StreamState SampleStream::pull_some(std::string& out, std::size_t out_max) {
    StreamState state = StreamState::more;
    for (std::uint64_t looked_at = 0; looked_at < samples_per_pull_max && out.size() < out_max;) {
        if (next_ == page_.samples.size()) {
            if (!read_page(out, state)) {
                return state;
            }
            looked_at += page_.end_position - page_.position;
        }
        add_samples(out, out_max);
        // A client that receives no events for a long time could not resume, because the position of its last event
        // would be overwritten. An event without data only updates the id.
        if (gap_.missed == 0 && position_ - reported_ >= sources_.history.capacity() / 4) {
            out += id_of(position_ - 1) + '\n';
            reported_ = position_;
        }
    }
    return StreamState::more;
}

}  // namespace telegate
