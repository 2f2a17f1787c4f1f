#include "encode/notice.hpp"

#include "encode/encoders.hpp"

#include <type_traits>

namespace telegate {
namespace {

std::string topic_of(const ChannelInfo& channel, std::string_view suffix) {
    std::string topic;
    topic.reserve(channel.topic.size() + suffix.size());
    return topic.append(channel.topic).append(suffix);
}

}  // namespace

void NoticeEncoder::append(const GapNotice& notice, std::string& out) const {
    with_encoder(format_,
                 [&]<class Encoder>(std::type_identity<Encoder>) { Encoder::Notices::append(context_, notice, out); });
}

void NoticeEncoder::append(const BeatNotice& notice, std::string& out) const {
    with_encoder(format_,
                 [&]<class Encoder>(std::type_identity<Encoder>) { Encoder::Notices::append(context_, notice, out); });
}

std::optional<NoticeFields> read_notice(PayloadFormat format, NoticeKind kind, std::string_view payload) {
    const auto fields = with_encoder(
        format, [&]<class Encoder>(std::type_identity<Encoder>) { return Encoder::Notices::read(kind, payload); });
    const bool is_plausible =
        fields && (kind == NoticeKind::beat || (fields->seqs.first != 0 && fields->seqs.first <= fields->seqs.last));
    return is_plausible ? fields : std::nullopt;
}

std::string gap_topic(const ChannelInfo& channel) {
    return topic_of(channel, gap_suffix);
}

std::string beat_topic(const ChannelInfo& channel) {
    return topic_of(channel, beat_suffix);
}

}  // namespace telegate
