#include "services/hole_replay.hpp"

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

constexpr const char* reason_dropped = "dropped";

}  // namespace

void add_gone(std::string& out, std::string_view topic, const ServiceHole& lost, std::string_view reason) {
    out += (out.empty() ? "" : ",");
    out.append("{\"topic\":\"").append(topic);
    out += "\",\"first_seq\":" + std::to_string(lost.first_seq) + ",\"last_seq\":" + std::to_string(lost.last_seq);
    out.append(",\"reason\":\"").append(reason).append("\"}");
}

HoleReplay::HoleReplay(ReplayParts parts, std::string out, const Wanted& wanted, TopicOrder& topics)
    : HistoryReplay(parts, std::move(out), wanted.limit), out_bytes_(out_.size()), cursor_(parts.history, 0) {
    for (const ServiceHole& hole : wanted.holes) {
        const auto channel = topics.find(hole.topic);
        if (!channel) {
            continue;  // nothing of the topic is published
        }
        index_.resize(std::max<std::size_t>(index_.size(), to_index(*channel) + 1));
        std::uint16_t& place = index_[to_index(*channel)];
        if (place == 0) {
            wanted_.push_back({*channel, {}});
            place = static_cast<std::uint16_t>(wanted_.size());
        }
        wanted_[place - 1U].holes.push_back({hole.first_seq, hole.last_seq});
    }
    for (Track& track : wanted_) {
        std::sort(track.holes.begin(), track.holes.end(), [](const Hole& a, const Hole& b) { return a.next < b.next; });
        std::vector<Hole> merged;
        for (const Hole& hole : track.holes) {
            if (!merged.empty() && hole.next <= merged.back().last) {
                merged.back().last = std::max(merged.back().last, hole.last);
            } else {
                merged.push_back(hole);
            }
        }
        track.holes = std::move(merged);
    }
    begin(wanted.position);
}

void HoleReplay::begin(std::uint64_t position) {
    const std::uint64_t first = parts_.history.first();
    is_from_oldest_ = position <= first;
    is_from_first_ = is_from_oldest_ && first == 0;
    cursor_ = SampleCursor(parts_.history, std::max(position, first));
    tracks_ = wanted_;
    tracks_open_ = tracks_.size();
}

bool HoleReplay::start_over() {
    out_.resize(out_bytes_);
    gone_.clear();
    samples_ = 0;
    begin(0);
    return false;
}

HoleReplay::Track* HoleReplay::track_of(ChannelId channel) noexcept {
    const std::size_t at = to_index(channel);
    const std::size_t place = at < index_.size() ? index_[at] : 0;
    return place == 0 || tracks_[place - 1].is_done() ? nullptr : &tracks_[place - 1];
}

/// Handles positions that are not retained: the samples between them are unknown.
void HoleReplay::note_missed() noexcept {
    for (Track& track : tracks_) {
        track.seen = 0;
    }
    is_from_first_ = false;
}

bool HoleReplay::is_hint_late(const Track& track) const noexcept {
    return track.seen == 0 && !is_from_oldest_;
}

void HoleReplay::lose(const Track& track, std::uint64_t first, std::uint64_t last) {
    const bool was_never_there = track.seen > 0 || is_from_first_;
    add_gone(gone_, parts_.channels.at(track.channel).topic, {"", first, last},
             was_never_there ? reason_dropped : "not_retained");
}

bool HoleReplay::take(Track& track, const TelemetrySample& sample) {
    while (!track.is_done() && track.holes[track.open].next <= sample.seq) {
        Hole& hole = track.holes[track.open];
        if (hole.next < sample.seq) {
            if (is_hint_late(track)) {
                return false;
            }
            lose(track, hole.next, std::min(sample.seq - 1, hole.last));
        }
        if (sample.seq <= hole.last) {
            add(sample);
            hole.next = sample.seq + 1;
        }
        if (sample.seq < hole.last) {
            break;
        }
        ++track.open;
    }
    tracks_open_ -= track.is_done() ? 1U : 0U;
    track.seen = sample.seq;
    return true;
}

/// Adds samples from read_. Returns false if the pass has restarted.
bool HoleReplay::take_all(std::size_t count) {
    for (const TelemetrySample& sample : std::span(read_).first(count)) {
        if (is_full() || gone_.size() >= samples_bytes_max / 2) {
            return true;
        }
        Track* const track = track_of(sample.channel);
        if (track != nullptr && !take(*track, sample)) {
            return start_over();
        }
        cursor_.advance(1);
    }
    return true;
}

bool HoleReplay::step() {
    const SampleCursor::Read read = cursor_.read(read_);
    if (read.missed > 0) {
        note_missed();
    }
    if (!take_all(read.count)) {
        return false;
    }
    if (tracks_open_ == 0 || is_full() || gone_.size() >= samples_bytes_max / 2) {
        return finish();
    }
    return cursor_.position() == parts_.history.position() && settle_ends();
}

/// Reports the rest of a hole at the end of the pass: published samples are no longer retained; samples lost by the
/// queue after them were never published.
void HoleReplay::settle(const Track& track, const Hole& hole) {
    const std::uint64_t published = parts_.pump.last_seq(track.channel);
    if (hole.next <= published) {
        lose(track, hole.next, std::min(hole.last, published));
    }
    const std::uint64_t reached = parts_.pump.reached(track.channel);
    const ServiceHole behind{"", std::max(hole.next, published + 1), std::min(hole.last, reached)};
    if (behind.first_seq <= behind.last_seq) {
        add_gone(gone_, parts_.channels.at(track.channel).topic, behind, reason_dropped);
    }
}

bool HoleReplay::settle_ends() {
    for (Track& track : tracks_) {
        const std::uint64_t published = parts_.pump.last_seq(track.channel);
        const std::uint64_t reached = parts_.pump.reached(track.channel);
        for (; !track.is_done() && track.holes[track.open].next <= reached; ++track.open) {
            const Hole& hole = track.holes[track.open];
            if (hole.next <= published && is_hint_late(track)) {
                return start_over();
            }
            settle(track, hole);
        }
        track.open = track.holes.size();  // samples that are not published yet are not missing
    }
    return finish();
}

void HoleReplay::add_left(std::string& out) const {
    for (const Track& track : tracks_) {
        const std::uint64_t reached = parts_.pump.reached(track.channel);
        for (const Hole& hole : std::span(track.holes).subspan(track.open)) {
            if (hole.next > reached) {
                break;
            }
            out += (out.empty() ? "" : ",");
            out += "{\"topic\":\"" + parts_.channels.at(track.channel).topic +
                   "\",\"first_seq\":" + std::to_string(hole.next);
            out += hole.last == ServiceHole::open_end ? "}" : ",\"last_seq\":" + std::to_string(hole.last) + '}';
        }
    }
}

bool HoleReplay::finish() {
    std::string left;
    add_left(left);
    const char* const end = left.empty() ? "true" : "false";
    out_ += "],\"gone\":[" + gone_ + "],\"left\":[" + left + "],\"position\":" + std::to_string(cursor_.position()) +
            ",\"end\":" + end + '}';
    return true;
}

}  // namespace telegate
