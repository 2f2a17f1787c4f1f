#include "encode/notice_encoder.hpp"

#include "encode/encoders.hpp"

#include <array>
#include <cstddef>
#include <tuple>

namespace telegate {
namespace {

struct NoticeRow {
    void (*append_gap)(const NoticeContext& context, const GapNotice& notice, std::string& out);
    void (*append_beat)(const NoticeContext& context, const BeatNotice& notice, std::string& out);
    std::optional<NoticeFields> (*read)(NoticeKind kind, std::string_view payload) noexcept;
    std::optional<SeqRange> (*read_seqs)(std::string_view payload) noexcept;
};

template <class... Encoder>
constexpr std::array<NoticeRow, sizeof...(Encoder)> rows_of(std::tuple<Encoder...>* /*types*/) {
    return {NoticeRow{Encoder::Notices::append, Encoder::Notices::append, Encoder::Notices::read,
                      Encoder::Notices::read_seqs}...};
}

const NoticeRow& row_of(PayloadFormat format) noexcept {
    static constexpr auto rows = rows_of(static_cast<Encoders*>(nullptr));
    return rows[static_cast<std::size_t>(format)];
}

std::string topic_of(const ChannelInfo& channel, std::string_view suffix) {
    std::string topic;
    topic.reserve(channel.topic.size() + suffix.size());
    return topic.append(channel.topic).append(suffix);
}

}  // namespace

void NoticeEncoder::append(const GapNotice& notice, std::string& out) const {
    row_of(format_).append_gap(context_, notice, out);
}

void NoticeEncoder::append(const BeatNotice& notice, std::string& out) const {
    row_of(format_).append_beat(context_, notice, out);
}

std::optional<NoticeFields> read_notice(PayloadFormat format, NoticeKind kind, std::string_view payload) noexcept {
    const auto fields = row_of(format).read(kind, payload);
    const bool is_plausible =
        fields && (kind == NoticeKind::beat || (fields->seqs.first != 0 && fields->seqs.first <= fields->seqs.last));
    return is_plausible ? fields : std::nullopt;
}

std::optional<SeqRange> read_seqs(PayloadFormat format, std::string_view payload) noexcept {
    return row_of(format).read_seqs(payload);
}

std::string gap_topic(const ChannelInfo& channel) {
    return topic_of(channel, gap_suffix);
}

std::string beat_topic(const ChannelInfo& channel) {
    return topic_of(channel, beat_suffix);
}

}  // namespace telegate
