#include "model_gateway.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace telegate::tail::test {

Sample ModelGateway::sample_of(std::string_view topic, std::int64_t epoch, std::uint64_t seq) {
    Sample sample;
    sample.topic = topic;
    sample.epoch = epoch;
    sample.seq = seq;
    sample.value.type = ValueType::integer;
    sample.value.integer = value_of(epoch, seq);
    return sample;
}

void ModelGateway::add(Answer& answer, const std::string& topic, std::uint64_t seq) const {
    answer.samples.push_back(sample_of(truths_.find({topic, epoch_})->first.first, epoch_, seq));
}

void ModelGateway::send(Message message) {
    if (!is_connected_) {
        return;
    }
    const bool is_slow = message.kind == Kind::sample && chance(troubles_.slow);
    if (is_slow) {
        message.kind = Kind::gap;
        message.last = message.first;
        message.reason = Reason::slow;
    }
    stream_.push_back(std::move(message));
}

void ModelGateway::report_dropped(const std::string& topic) {
    Truth& each = truth(topic);
    std::uint64_t first = each.last_reported + 1;
    while (first <= each.fates.size() && each.fates[static_cast<std::size_t>(first - 1)] == Fate::queue_overflow) {
        ++first;
    }
    if (first > each.last_reported + 1) {
        send({Kind::gap, topic, epoch_, each.last_reported + 1, first - 1, Reason::queue_overflow});
        each.last_reported = first - 1;
    }
}

void ModelGateway::sample(const std::string& topic) {
    Truth& each = truth(topic);
    const bool is_dropped = chance(troubles_.dropped);
    each.fates.push_back(is_dropped ? Fate::queue_overflow : Fate::published);
    if (is_dropped) {
        return;
    }
    report_dropped(topic);
    each.last_reported = each.fates.size();
    history_.push_back({topic, each.last_reported});
    ++positions_;
    if (history_.size() > troubles_.history_samples) {
        truth(history_.front().topic).first_held = history_.front().seq + 1;
        history_.pop_front();
    }
    send({Kind::sample, topic, epoch_, each.last_reported, 0, Reason::other});
}

void ModelGateway::beat_all() {
    std::vector<std::string> topics;
    for (const auto& [key, each] : truths_) {
        if (key.second == epoch_) {
            topics.push_back(key.first);
        }
    }
    for (const std::string& topic : topics) {
        report_dropped(topic);
        send({Kind::beat, topic, epoch_, truth(topic).last_reported, 0, Reason::other});
    }
    send({Kind::beat, "silent/x", epoch_, 0, 0, Reason::other});
}

void ModelGateway::restart() {
    const bool is_clean = !chance(troubles_.unclean_restart);
    const bool is_forgetful = !is_clean && chance(50);
    for (auto& [key, each] : truths_) {
        each.end_is_known = key.second == epoch_ ? is_clean : each.end_is_known;
    }
    disconnect();
    const std::int64_t before = epoch_;
    if (is_forgetful) {  // the clock was set back, and the file with the earlier epochs was removed
        epoch_ -= 37;
        next_epochs_.clear();
        has_forgotten_ = true;
    } else {
        epoch_ += 41;
        next_epochs_[before] = {epoch_, is_clean};
    }
    history_.clear();
    positions_ = 0;
}

void ModelGateway::connect() {
    if (!std::exchange(was_connected_, true)) {
        for (auto& [key, each] : truths_) {
            each.reported_before = each.last_reported;
        }
    }
    is_connected_ = true;
}

void ModelGateway::disconnect() {
    is_connected_ = false;
    stream_.clear();
}

void ModelGateway::deliver(Merger& merger, std::size_t count) {
    for (; count > 0 && !stream_.empty(); --count) {
        const Message message = stream_.front();
        stream_.pop_front();
        switch (message.kind) {
            case Kind::sample: {
                std::uint64_t& first = truths_[{message.topic, message.epoch}].first_early;
                first = first == 0 && !has_replied_ ? message.first : first;
                merger.live(sample_of(message.topic, message.epoch, message.first));
                break;
            }
            case Kind::gap:
                merger.gap({message.topic, message.epoch, message.first, message.last, message.reason});
                break;
            case Kind::beat: merger.beat({message.topic, message.epoch, message.first}); break;
        }
    }
}

bool ModelGateway::answer(const Request& request, Answer& answer) {
    if (chance(troubles_.lost_answers)) {
        return false;
    }
    has_replied_ = true;
    answer.id = request.id;
    answer.epoch = epoch_;
    if (chance(troubles_.busy)) {
        answer.error = AnswerError{"busy", "", std::chrono::milliseconds(20)};
        return true;
    }
    if (request.position && (request.kind == Request::Kind::past || request.kind == Request::Kind::snapshot)) {
        answer.error = AnswerError{"bad_request", "", {}, "/position"};
        return true;
    }
    answer.position = positions_;
    if (troubles_.is_old && refuse_as_old(request, answer)) {
        return true;
    }
    switch (request.kind) {
        case Request::Kind::snapshot: answer_snapshot(request, answer); break;
        case Request::Kind::since: answer_since(request, answer); break;
        case Request::Kind::past: answer_past(request, answer); break;
        case Request::Kind::holes:
            request.epoch == epoch_ ? answer_holes(request, answer) : answer_former(request, answer);
            break;
    }
    return true;
}

bool ModelGateway::refuse_as_old(const Request& request, Answer& answer) const {
    const bool has_removed = request.kind == Request::Kind::snapshot && request.removed;
    const bool has_earlier = request.kind == Request::Kind::since && !request.position && request.earlier_runs;
    if (!has_removed && !has_earlier && request.kind != Request::Kind::past) {
        return false;
    }
    answer.error = AnswerError{"bad_request",
                               "",
                               {},
                               has_removed   ? "/removed"
                               : has_earlier ? "/earlier_runs"
                                             : "/epoch"};
    return true;
}

void ModelGateway::answer_snapshot(const Request& request, Answer& answer) {
    answer.is_end = true;
    for (const auto& [key, each] : truths_) {
        const auto found = std::find(each.fates.rbegin(), each.fates.rend(), Fate::published);
        const auto published = static_cast<std::uint64_t>(each.fates.rend() - found);
        const std::uint64_t reached = std::max(published, each.last_reported);
        if (key.second != epoch_ || key.first <= request.after || reached == 0) {
            continue;
        }
        if (std::max(answer.samples.size(), answer.gone.size()) == 2) {
            answer.is_end = false;
            break;
        }
        answer.after = key.first;
        if (published > 0) {
            add(answer, key.first, published);
        }
        if (published < reached) {
            answer.gone.push_back({key.first, epoch_, published + 1, reached, Reason::dropped});
        }
    }
}

void ModelGateway::answer_past(const Request& request, Answer& answer) {
    const auto next = next_epochs_.find(request.epoch);
    if (next == next_epochs_.end()) {
        answer.error = AnswerError{"unknown_epoch", "", {}};
        return;
    }
    std::tie(answer.next_epoch, answer.is_end_known) = next->second;
    answer.is_end = true;
    for (const auto& [key, each] : truths_) {
        if (key.second != request.epoch || key.first <= request.after || !answer.is_end_known) {
            continue;
        }
        if (answer.past.size() == 2) {
            answer.is_end = false;
            break;
        }
        answer.after = key.first;
        answer.past.push_back({key.first, each.fates.size()});
    }
}

/// "since" returns everything that is retained.
void ModelGateway::answer_since(const Request& request, Answer& answer) {
    if (request.epoch != epoch_) {
        answer.error = AnswerError{"unknown_epoch", "", {}};
        return;
    }
    const std::uint64_t first_position = positions_ - history_.size();
    std::uint64_t position = std::max(request.position.value_or(0), first_position);
    for (std::size_t limit = 1 + any(40); limit > 0 && position < positions_; --limit, ++position) {
        const Held& held = history_[static_cast<std::size_t>(position - first_position)];
        add(answer, held.topic, held.seq);
    }
    answer.position = position;
    answer.is_end = position == positions_;
}

void ModelGateway::answer_holes(const Request& request, Answer& answer) {
    std::size_t limit = 1 + any(60);
    for (const TopicHole& hole : request.holes) {
        const auto found = truths_.find({hole.topic, epoch_});
        if (found == truths_.end()) {
            continue;
        }
        const Truth& each = found->second;
        const std::uint64_t end = hole.last_seq == 0 ? each.last_reported : std::min(hole.last_seq, each.last_reported);
        for (std::uint64_t seq = hole.first_seq; seq <= end; ++seq) {
            if (each.fates[static_cast<std::size_t>(seq - 1)] == Fate::queue_overflow) {
                answer.gone.push_back({found->first.first, epoch_, seq, seq, Reason::dropped});
            } else if (seq < each.first_held) {
                answer.gone.push_back({found->first.first, epoch_, seq, seq, Reason::not_retained});
            } else if (limit == 0) {
                answer.left.push_back(hole.topic);
                break;
            } else {
                --limit;
                add(answer, hole.topic, seq);
            }
        }
    }
    answer.is_end = answer.left.empty();
}

void ModelGateway::answer_former(const Request& request, Answer& answer) {
    for (const TopicHole& hole : request.holes) {
        const auto found = truths_.find({hole.topic, request.epoch});
        const bool has_log = request.epoch % 2 == 0;
        if (found == truths_.end() || !next_epochs_.contains(request.epoch) ||
            (!found->second.end_is_known && !has_log)) {
            answer.error = AnswerError{"unknown_epoch", "", {}};
            return;
        }
        answer.is_end_known = answer.is_end_known && found->second.end_is_known;
        const std::uint64_t end = answer.is_end_known ? found->second.fates.size() : found->second.last_reported;
        const std::uint64_t last = hole.last_seq == 0 ? end : std::min(hole.last_seq, end);
        if (hole.first_seq <= last) {
            answer.gone.push_back({found->first.first, request.epoch, hole.first_seq, last, Reason::not_retained});
        }
    }
    answer.is_end = true;
}

}  // namespace telegate::tail::test
