#include "recording/recording_pieces.hpp"

#include <algorithm>
#include <span>

namespace telegate {
namespace {

/// One record of samples and a declaration for each of them fit in a piece.
constexpr std::size_t samples_per_piece = 256;
/// Gaps and declarations of gaps are added to a piece up to this size.
constexpr std::size_t piece_bytes_wanted = 65'536;

constexpr std::size_t declaration_bytes_max = recording::record_header_bytes + 400;
static_assert(piece_bytes_wanted + declaration_bytes_max + recording::record_header_bytes + 64 <=
              RecordingPieces::piece_bytes_max);
static_assert(samples_per_piece * (declaration_bytes_max + recording::sample_bytes) + recording::record_header_bytes <=
              RecordingPieces::piece_bytes_max);

}  // namespace

void RecordingPieces::begin(const recording::Start& start, std::uint32_t next_number, bool is_new) {
    declared_.clear();
    if (is_new) {
        encoder_.file_header();
    } else {
        encoder_.go_on_at(next_number);
    }
    encoder_.start(start);
}

void RecordingPieces::give(const RecorderLoad& load) noexcept {
    load_ = &load;
    next_ = {};
    piece_begin_ = {};
}

void RecordingPieces::clear() noexcept {
    encoder_.clear();
    samples_ = 0;
    piece_begin_ = next_;
}

void RecordingPieces::put_back() noexcept {
    next_ = piece_begin_;
    clear();
}

std::size_t RecordingPieces::samples_left() const noexcept {
    return load_ == nullptr ? 0 : load_->samples.size() - next_.sample;
}

bool RecordingPieces::next() {
    if (load_ == nullptr) {
        return false;
    }
    while (encoder_.bytes().size() < piece_bytes_wanted) {
        const bool is_gap_next = next_.gap < load_->gaps.size() && load_->gaps[next_.gap].before <= next_.sample;
        if (is_gap_next) {
            add_gap(load_->gaps[next_.gap++].gap);
        } else if (next_.sample < load_->samples.size()) {
            if (!encoder_.bytes().empty()) {
                break;  // samples get a piece of their own, so that its size is known
            }
            add_samples();
            break;
        } else if (next_.lost < load_->lost_channels.size()) {
            const ChannelId channel = load_->lost_channels[next_.lost++];
            const RecorderLoad::Lost& lost = load_->lost[to_index(channel)];
            add_gap({to_index(channel), recording::GapReason::recorder, lost.first_seq, lost.last_seq});
        } else {
            break;
        }
    }
    return !encoder_.bytes().empty();
}

/// Adds samples up to the next gap.
void RecordingPieces::add_samples() {
    std::size_t end = std::min(load_->samples.size(), next_.sample + samples_per_piece);
    if (next_.gap < load_->gaps.size()) {
        end = std::min(end, load_->gaps[next_.gap].before);
    }
    const auto samples = std::span(load_->samples).subspan(next_.sample, end - next_.sample);
    for (const TelemetrySample& sample : samples) {
        declare(sample.channel);
    }
    encoder_.samples(samples);
    samples_ = samples.size();
    next_.sample = end;
}

void RecordingPieces::add_gap(const recording::Gap& gap) {
    declare(ChannelId{gap.channel});
    encoder_.gap(gap);
}

void RecordingPieces::declare(ChannelId channel) {
    const std::size_t index = to_index(channel);
    if (index >= declared_.size()) {
        declared_.resize(index + 1);
    }
    if (!declared_[index]) {
        const ChannelInfo& info = channels_.at(channel);
        encoder_.channel({to_index(channel), info.device, info.channel, info.unit});
        declared_[index] = true;
    }
}

}  // namespace telegate
