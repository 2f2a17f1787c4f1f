#include "narrator.hpp"

#include "account.hpp"
#include "sample_text.hpp"
#include "time_words.hpp"

namespace telegate::tail {

void Narrator::lose(const Gap& gap) {
    const std::uint64_t count = gap.last_seq - gap.first_seq + 1;
    lost_[static_cast<std::size_t>(gap.reason)] += count;
    lost_total_ += count;
    if (ranges_shown_ == ranges_max) {
        ++ranges_left_out_;
        return;
    }
    ++ranges_shown_;
    if (gap.topic == last_topic_) {
        ranges_ += ',';
    } else {
        ranges_ += ranges_.empty() ? " " : ", ";
        append_printable(ranges_, gap.topic);
        last_topic_ = gap.topic;
    }
    ranges_ += ' ' + range_text(gap.first_seq, gap.last_seq);
}

std::string Narrator::line() const {
    std::string out = is_back_ ? "reconnected: " : "";
    if (recovered_ > 0) {
        out += counted(recovered_, "sample") + " recovered by replay";
    }
    if (lost_total_ > 0) {
        out += (recovered_ > 0 ? ", " : "") + grouped(lost_total_) + " lost (";
        std::string words;
        for (std::size_t reason = 0; reason < reasons; ++reason) {
            if (lost_[reason] > 0) {
                words += (words.empty() ? "" : ", ") + std::string(to_string(static_cast<Reason>(reason)));
            }
        }
        out += words + ')' + ranges_;
        out += ranges_left_out_ > 0 ? " and " + counted(ranges_left_out_, "more range") : "";
    }
    if (recovered_ + lost_total_ > 0) {
        return out;
    }
    return out + (recovers_ ? "nothing was missed" : "missed samples are not recovered (--no-recover)");
}

std::optional<std::string> Narrator::words(Time now, bool is_settled) {
    if (recovered_ + lost_total_ == 0 && !is_back_) {
        return std::nullopt;
    }
    since_ = since_ == Time::max() ? now : since_;
    if (now < said_ || (!is_settled && now - since_ < patience)) {
        return std::nullopt;
    }
    std::string said = line();
    *this = Narrator(recovers_);
    said_ = now + pause;
    return said;
}

}  // namespace telegate::tail
