#include "account.hpp"

#include "base/json_object.hpp"
#include "sample_text.hpp"
#include "time_words.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace telegate::tail {
namespace {

std::string duration_text(std::chrono::milliseconds duration) {
    const std::int64_t tenths = duration.count() / 100;
    if (tenths < 600) {
        return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " s";
    }
    const std::int64_t seconds = tenths / 10;
    const std::string minutes = std::to_string(seconds / 60 % 60) + " min " + std::to_string(seconds % 60) + " s";
    return seconds < 3'600 ? minutes : std::to_string(seconds / 3'600) + " h " + minutes;
}

}  // namespace

/// Returns false when entries_max is reached.
bool Account::take_entry() noexcept {
    if (entries_ == entries_max) {
        is_complete_ = false;
        return false;
    }
    ++entries_;
    return true;
}

/// Returns null when entries_max is reached.
Account::Epoch* Account::epoch_of(std::string_view topic, std::uint32_t index, std::int64_t id) {
    if (topics_.size() <= index) {
        topics_.resize(index + 1);
    }
    Topic& each = topics_[index];
    each.name = each.name.empty() ? std::string(topic) : std::move(each.name);
    if (each.epochs.empty() || each.epochs.back().id != id) {
        if (!take_entry()) {
            return nullptr;
        }
        each.epochs.push_back({id, {}, {}});
    }
    return &each.epochs.back();
}

void Account::add_first(const Sample& sample) {
    Epoch* const epoch = epoch_of(sample.topic, sample.topic_index, sample.epoch);
    if (epoch == nullptr) {
        return;
    }
    if (!epoch->received.empty() && epoch->received.back().last >= sample.seq) {
        ++epoch->duplicates;
        ++counts_.duplicates;
    } else if (take_entry()) {
        epoch->received.push_back({sample.seq, sample.seq, Reason::other});
    }
}

void Account::lose(const Gap& gap) {
    const std::uint64_t count = gap.last_seq - gap.first_seq + 1;
    counts_.lost += count;
    counts_.lost_by_reason[static_cast<std::size_t>(gap.reason)] += count;
    Epoch* const epoch = epoch_of(gap.topic, gap.topic_index, gap.epoch);
    if (epoch == nullptr) {
        return;
    }
    if (!epoch->lost.empty() && epoch->lost.back().last + 1 == gap.first_seq &&
        epoch->lost.back().reason == gap.reason) {
        epoch->lost.back().last = gap.last_seq;
    } else if (take_entry()) {
        epoch->lost.push_back({gap.first_seq, gap.last_seq, gap.reason});
    }
}

void Account::end_unknown(std::int64_t epoch) {
    if (unknown_ends_.size() < entries_max) {
        unknown_ends_.insert(epoch);
    }
}

void Account::append_lost(std::string& out, const Topic& topic, const Epoch& epoch, std::size_t count) {
    for (const Range& range : std::span(epoch.lost).first(count)) {
        out += "  lost (" + std::string(to_string(range.reason)) + ") ";
        append_printable(out, topic.name);
        out += ' ' + range_text(range.first, range.last);
        out += topic.epochs.size() > 1 ? " of epoch " + std::to_string(epoch.id) + '\n' : "\n";
    }
}

bool Account::has_sample_of(std::string_view prefix) const {
    return std::any_of(topics_.begin(), topics_.end(), [prefix](const Topic& topic) {
        return !topic.name.empty() && topic.name.starts_with(prefix) &&
               std::any_of(topic.epochs.begin(), topic.epochs.end(),
                           [](const Epoch& epoch) { return !epoch.received.empty(); });
    });
}

std::string Account::summary(std::chrono::milliseconds duration, std::size_t ranges_max) const {
    const auto topics =
        std::count_if(topics_.begin(), topics_.end(), [](const Topic& topic) { return !topic.epochs.empty(); });
    std::string out = counted(counts_.samples, "sample") + " of " +
                      counted(static_cast<std::uint64_t>(topics), "topic") + " in " + duration_text(duration) + "; " +
                      grouped(counts_.recovered) + " recovered by replay, " + grouped(counts_.lost) + " lost\n";
    std::size_t more = 0;
    for (const Topic& topic : topics_) {
        for (const Epoch& epoch : topic.epochs) {
            const std::size_t shown = std::min(ranges_max, epoch.lost.size());
            append_lost(out, topic, epoch, shown);
            ranges_max -= shown;
            more += epoch.lost.size() - shown;
        }
    }
    if (more > 0) {
        out += "  and " + counted(more, "more range") + "; use --report FILE to list all\n";
    }
    for (const std::int64_t epoch : unknown_ends_) {
        out += "  the end of epoch " + std::to_string(epoch) + " is unknown: its last samples may be lost\n";
    }
    for (const auto& [word, words] : doubts_) {
        out += "  " + words + '\n';
    }
    return out;
}

std::set<std::int64_t> Account::epochs() const {
    std::set<std::int64_t> ids = unknown_ends_;
    ids.insert(doubtful_ends_.begin(), doubtful_ends_.end());
    for (const Topic& topic : topics_) {
        for (const Epoch& epoch : topic.epochs) {
            ids.insert(epoch.id);
        }
    }
    return ids;
}

void Account::add_epoch(JsonObject& object, std::int64_t id) const {
    std::vector<std::pair<std::string_view, const Epoch*>> topics;
    for (const Topic& topic : topics_) {
        const auto found =
            std::find_if(topic.epochs.begin(), topic.epochs.end(), [id](const Epoch& epoch) { return epoch.id == id; });
        if (found != topic.epochs.end()) {
            topics.emplace_back(topic.name, &*found);
        }
    }
    object.add("epoch", id);
    object.add("end_known", !unknown_ends_.contains(id) && !doubtful_ends_.contains(id));
    object.array("topics", topics, [](JsonObject& each, const auto& topic) {
        each.add("topic", topic.first);
        each.values("received", topic.second->received, [](const Range& range) {
            return std::vector{range.first, range.last};
        });
        each.array("lost", topic.second->lost, [](JsonObject& lost, const Range& range) {
            lost.add("first_seq", range.first);
            lost.add("last_seq", range.last);
            lost.add("reason", range.reason);
        });
        each.add("duplicates", topic.second->duplicates);
    });
}

std::string Account::report() const {
    const auto add_reasons = [this](JsonObject& lost) {
        for (std::size_t reason = 0; reason < reasons; ++reason) {
            if (counts_.lost_by_reason[reason] > 0) {
                lost.add(to_string(static_cast<Reason>(reason)), counts_.lost_by_reason[reason]);
            }
        }
    };
    std::string out;
    JsonObject::write(out, [&](JsonObject& report) {
        report.add("samples", counts_.samples);
        report.add("recovered", counts_.recovered);
        report.add("lost", counts_.lost);
        report.add("duplicates", counts_.duplicates);
        report.add("complete", is_complete_);
        report.object("lost_by_reason", add_reasons);
        report.values("doubts", doubts_, [](const auto& doubt) { return doubt.first; });
        report.array("epochs", epochs(), [this](JsonObject& epoch, std::int64_t id) { add_epoch(epoch, id); });
    });
    return out += '\n';
}

}  // namespace telegate::tail
