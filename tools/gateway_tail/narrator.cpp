#include "narrator.hpp"

#include "sample_text.hpp"
#include "time_words.hpp"

namespace telegate::tail {

void Narrator::lose(const Gap& gap) {
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

std::string Narrator::line(const Account::Counts& counts) const {
    const std::uint64_t recovered = counts.recovered - reported_.recovered;
    const std::uint64_t lost = counts.lost - reported_.lost;
    std::string out = is_back_ ? "reconnected: " : "";
    if (recovered > 0) {
        out += counted(recovered, "sample") + " recovered by replay";
    }
    if (lost > 0) {
        out += (recovered > 0 ? ", " : "") + grouped(lost) + " lost (";
        std::string words;
        for (std::size_t reason = 0; reason < reasons; ++reason) {
            if (counts.lost_by_reason[reason] != reported_.lost_by_reason[reason]) {
                words += (words.empty() ? "" : ", ") + std::string(to_string(static_cast<Reason>(reason)));
            }
        }
        out += words + ')' + ranges_;
        out += ranges_left_out_ > 0 ? " and " + counted(ranges_left_out_, "more range") : "";
    }
    if (recovered + lost > 0) {
        return out;
    }
    return out + (recovers_ ? "nothing was missed" : "missed samples are not recovered (--no-recover)");
}

std::optional<std::string> Narrator::words(Time now, bool is_settled, const Account::Counts& counts) {
    if (counts.recovered == reported_.recovered && counts.lost == reported_.lost && !is_back_) {
        return std::nullopt;
    }
    since_ = since_ == Time::max() ? now : since_;
    if (now < said_ || (!is_settled && now - since_ < patience)) {
        return std::nullopt;
    }
    std::string said = line(counts);
    *this = Narrator(recovers_);
    reported_ = counts;
    said_ = now + pause;
    return said;
}

}  // namespace telegate::tail
