#include "services/hole_replay.hpp"

#include "base/json_excerpt.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace telegate {
namespace {

constexpr const char* reason_dropped = "dropped";
constexpr const char* reason_not_retained = "not_retained";

/// Returns the reason for a gap in the log as it appears in replies.
std::string_view reason_of(store::GapReason reason) {
    return !store::was_published(reason)         ? reason_dropped
           : reason == store::GapReason::unknown ? std::string_view(reason_not_retained)
                                                 : to_string(reason);
}

}  // namespace

void add_gone(std::string& out, std::string_view topic, const ServiceHole& lost, std::string_view reason) {
    out += (out.empty() ? "" : ",");
    out += "{\"topic\":" + json_text(topic);
    out += ",\"first_seq\":" + std::to_string(lost.first_seq) + ",\"last_seq\":" + std::to_string(lost.last_seq);
    out.append(",\"reason\":\"").append(reason).append("\"}");
}

HoleReplay::HoleReplay(const ReplayParts& parts, std::string out, const Wanted& wanted, TopicOrder& topics)
    : HistoryReplay(parts, std::move(out), wanted.limit),
      past_(wanted.past),
      epoch_ms_(wanted.past_epoch_ms.value_or(parts.sources.text.epoch_ms())),
      topics_(topics),
      out_bytes_(out_.size()) {
    std::map<std::string, std::vector<Hole>> holes;
    for (const ServiceHole& hole : wanted.holes) {
        if (wanted.past_epoch_ms || topics.find(hole.topic)) {  // otherwise, no sample of the topic is published
            holes[hole.topic].push_back({hole.first_seq, hole.last_seq});
        }
    }
    for (auto& [topic, of_topic] : holes) {
        std::sort(of_topic.begin(), of_topic.end(), [](const Hole& a, const Hole& b) { return a.next < b.next; });
        std::vector<Hole> merged;
        for (const Hole& hole : of_topic) {
            if (!merged.empty() && hole.next <= merged.back().last) {
                merged.back().last = std::max(merged.back().last, hole.last);
            } else {
                merged.push_back(hole);
            }
        }
        wanted_.push_back({topic, std::move(merged)});
    }
    begin(wanted.past_epoch_ms ? Pass::in_log : Pass::from_hint, wanted.position);
}

void HoleReplay::begin(Pass pass, std::uint64_t position) {
    SampleSources sources = parts_.sources;
    SampleSelection selection;
    SampleReader::Start start{epoch_ms_};
    if (pass == Pass::in_log) {
        for (const Track& track : wanted_) {
            selection.topics[track.topic] = {track.holes.front().next, track.holes.back().last};
        }
        start.finds_topics = true;
        is_from_first_ = true;
    } else {
        const std::uint64_t first = sources.history.first();
        pass = position <= first ? Pass::from_oldest : Pass::from_hint;
        is_from_first_ = pass == Pass::from_oldest && first == 0;
        sources.log = nullptr;
        start.position = std::max(position, first);
    }
    pass_ = pass;
    needs_more_ = false;
    tracks_ = wanted_;
    tracks_open_ = tracks_.size();
    page_ = {};
    next_ = 0;
    next_gap_ = 0;
    reader_.emplace(sources, std::move(selection), start, parts_.wake);
}

/// Returns a pass that may find more.
std::optional<HoleReplay::Pass> HoleReplay::next_pass() const noexcept {
    switch (pass_) {
        case Pass::from_hint: return Pass::from_oldest;
        case Pass::from_oldest: return parts_.sources.log != nullptr ? std::optional(Pass::in_log) : std::nullopt;
        case Pass::in_log: break;
    }
    return std::nullopt;
}

HoleReplay::Track* HoleReplay::track_of(ChannelId channel) {
    if (index_of_ != page_.text.get()) {
        index_of_ = page_.text.get();
        index_.clear();
    }
    index_.resize(std::max<std::size_t>(index_.size(), to_index(channel) + std::size_t{1}));
    std::uint16_t& place = index_[to_index(channel)];
    if (place == place_unknown) {
        const std::string& topic = page_.text->channels().at(channel).topic;
        const auto found =
            std::lower_bound(wanted_.begin(), wanted_.end(), topic,
                             [](const Track& track, const std::string& text) { return track.topic < text; });
        const bool is_wanted = found != wanted_.end() && found->topic == topic;
        place = static_cast<std::uint16_t>(is_wanted ? place_first + (found - wanted_.begin()) : place_none);
    }
    Track* const track = place == place_none ? nullptr : &tracks_[place - place_first];
    return track == nullptr || track->is_done() ? nullptr : track;
}

/// Handles positions that are not retained: the samples between them are unknown.
void HoleReplay::record_missed() noexcept {
    for (Track& track : tracks_) {
        track.seen = 0;
    }
    is_from_first_ = false;
}

/// Whether nothing of the topic was published before the pass. The log of an earlier epoch may have left the topic out.
bool HoleReplay::covers_start(const Track& track) const {
    const bool is_complete =
        pass_ != Pass::in_log || (epoch_ms_ == parts_.sources.text.epoch_ms() &&
                                  parts_.sources.log->parts().durable.options().has_topic(track.topic));
    return is_from_first_ && is_complete;
}

/// Reports samples that nothing explains.
void HoleReplay::lose(const Track& track, std::uint64_t first, std::uint64_t last) {
    const bool was_never_there = !page_.is_from_log && (track.seen > 0 || covers_start(track));
    if (!was_never_there && next_pass()) {
        needs_more_ = true;
        return;
    }
    add_gone(gone_, track.topic, {"", first, last}, was_never_there ? reason_dropped : reason_not_retained);
}

/// Fills a range of sequence numbers, and calls `use` with the part of each hole that it fills.
template <class Use>
void HoleReplay::fill(Track& track, std::uint64_t first_seq, std::uint64_t last_seq, const Use& use) {
    while (!track.is_done() && track.holes[track.open].next <= last_seq) {
        Hole& hole = track.holes[track.open];
        if (hole.next < first_seq) {
            lose(track, hole.next, std::min(first_seq - 1, hole.last));
        }
        if (first_seq <= hole.last) {
            use(ServiceHole{"", std::max(hole.next, first_seq), std::min(hole.last, last_seq)});
            hole.next = last_seq + 1;
        }
        if (last_seq < hole.last) {
            break;
        }
        ++track.open;
    }
    tracks_open_ -= track.is_done() ? 1U : 0U;
    track.seen = last_seq;
}

void HoleReplay::fill(const store::LogGap& gap) {
    if (Track* const track = track_of(gap.channel)) {
        fill(*track, gap.first_seq, gap.last_seq,
             [&](const ServiceHole& part) { add_gone(gone_, track->topic, part, reason_of(gap.reason)); });
    }
}

void HoleReplay::fill(const TelemetrySample& sample) {
    if (Track* const track = track_of(sample.channel)) {
        fill(*track, sample.seq, sample.seq, [&](const ServiceHole& /*part*/) { add(sample); });
    }
}

/// Uses a part of the page.
void HoleReplay::read_some() {
    for (std::size_t i = 0; i < step_samples && !is_over() && !needs_more_; ++i) {
        if (next_gap_ < page_.gaps.size() && page_.gaps[next_gap_].before_sample <= next_) {
            fill(page_.gaps[next_gap_++].gap);
        } else if (next_ < page_.samples.size()) {
            fill(page_.samples[next_++]);
        }
    }
}

HistoryReplay::Step HoleReplay::step() {
    using Result = SampleReader::Result;
    if (next_ == page_.samples.size() && next_gap_ == page_.gaps.size()) {
        next_ = 0;
        next_gap_ = 0;
        const Result result = reader_->read(page_);
        switch (result) {
            case Result::page: break;
            case Result::waiting: page_ = {}; return Step::waiting;
            case Result::late: return finish();
            case Result::unknown_epoch: out_ = parts_.unknown_epoch(); return Step::done;
            case Result::end:
            case Result::ended:
            case Result::crashed:
            case Result::failed: return settle_ends(result);
        }
        if (!page_.missing.empty() && (!page_.is_from_log || page_.state == SamplePage::State::memory)) {
            record_missed();
        }
    }
    read_some();
    if (needs_more_) {
        return begin_again();
    }
    const bool is_all = pass_ != Pass::in_log && next_ == page_.samples.size() &&
                        reader_->position() == parts_.sources.history.position();
    return is_over() ? finish() : is_all ? settle_ends(Result::end) : Step::more;
}

HistoryReplay::Step HoleReplay::begin_again() {
    out_.resize(out_bytes_);
    gone_.clear();
    samples_ = 0;
    begin(*next_pass(), 0);
    return Step::more;
}

HoleReplay::Reached HoleReplay::reached(const Track& track) const {
    const auto channel = epoch_ms_ == parts_.sources.text.epoch_ms() ? topics_.find(track.topic) : std::nullopt;
    return channel ? Reached{parts_.pump.last_seq(*channel), parts_.pump.reached(*channel)} : Reached{};
}

/// Reports the rest of a hole of this epoch: published samples are no longer retained; samples lost by the queue after
/// them were never published.
void HoleReplay::settle(const Track& track, const Hole& hole) {
    const Reached to = reached(track);
    if (hole.next <= to.published) {
        lose(track, hole.next, std::min(hole.last, to.published));
    }
    const ServiceHole behind{"", std::max(hole.next, to.published + 1), std::min(hole.last, to.all)};
    if (behind.first_seq <= behind.last_seq) {
        add_gone(gone_, track.topic, behind, reason_dropped);
    }
}

/// Reports the rest of a hole of an earlier epoch, as far as its end is known.
void HoleReplay::settle_past(const Track& track, const Hole& hole, SampleReader::Result end) {
    if (past_ != nullptr && past_->has_ended) {
        const auto last = past_->last_seqs.find(track.topic);
        if (last != past_->last_seqs.end() && hole.next <= last->second) {
            lose(track, hole.next, std::min(hole.last, last->second));
        }
    } else if (end != SampleReader::Result::ended) {
        is_end_known_ = false;
        if (hole.last != ServiceHole::open_end) {
            const bool is_crash = end == SampleReader::Result::crashed;
            add_gone(gone_, track.topic, {"", hole.next, hole.last},
                     to_string(is_crash ? store::GapReason::crash : store::GapReason::damaged));
        }
    }
}

HistoryReplay::Step HoleReplay::settle_ends(SampleReader::Result end) {
    page_.is_from_log = false;
    for (Track& track : tracks_) {
        for (; !track.is_done(); ++track.open) {
            const Hole& hole = track.holes[track.open];
            end == SampleReader::Result::end ? settle(track, hole) : settle_past(track, hole, end);
        }
    }
    return needs_more_ ? begin_again() : finish();
}

void HoleReplay::add_left(std::string& out) const {
    const bool is_past = epoch_ms_ != parts_.sources.text.epoch_ms();
    for (const Track& track : tracks_) {
        const std::uint64_t reached = is_past ? ServiceHole::open_end : this->reached(track).all;
        for (const Hole& hole : std::span(track.holes).subspan(track.open)) {
            if (hole.next > reached) {
                break;
            }
            out += (out.empty() ? "" : ",");
            out += "{\"topic\":" + json_text(track.topic) + ",\"first_seq\":" + std::to_string(hole.next);
            out += hole.last == ServiceHole::open_end ? "}" : ",\"last_seq\":" + std::to_string(hole.last) + '}';
        }
    }
}

HistoryReplay::Step HoleReplay::finish() {
    std::string left;
    add_left(left);
    const char* const end = left.empty() ? "true" : "false";
    out_ += "],\"gone\":[" + gone_ + "],\"left\":[" + left + "],\"position\":" + std::to_string(reader_->position()) +
            ",\"end\":" + end + (is_end_known_ ? "}" : ",\"end_known\":false}");
    return Step::done;
}

}  // namespace telegate
