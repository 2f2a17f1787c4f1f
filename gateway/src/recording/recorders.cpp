#include "recording/recorders.hpp"

#include "log/log_line.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace telegate {
namespace {

recording::GapReason reason_of(DropReason reason) noexcept {
    return reason == DropReason::shutdown ? recording::GapReason::shutdown : recording::GapReason::queue_overflow;
}

}  // namespace

void Recorders::take(std::span<const TelemetrySample> samples) noexcept {
    ledger_.taken += samples.size();
    if (any_.load(std::memory_order_relaxed)) {
        const std::lock_guard lock(mutex_);
        for (const auto& recorder : list_) {
            recorder->put(samples);
        }
    }
}

void Recorders::gap(const SampleGap& gap) noexcept {
    ledger_.missing += gap.samples();
    if (any_.load(std::memory_order_relaxed)) {
        const std::lock_guard lock(mutex_);
        for (const auto& recorder : list_) {
            recorder->put_gap({to_index(gap.channel), reason_of(gap.reason), gap.first_seq, gap.last_seq});
        }
    }
}

Recorders::List Recorders::list() const {
    const std::lock_guard lock(mutex_);
    return list_;
}

void Recorders::set(List list) {
    const std::lock_guard lock(mutex_);
    any_ = !list.empty();
    list_.swap(list);
}

void Recorders::change(const std::vector<RecorderOptions>& wanted) {
    const List before = list();
    List stays;
    for (const auto& recorder : before) {
        if (std::find(wanted.begin(), wanted.end(), recorder->options()) != wanted.end()) {
            stays.push_back(recorder);
        }
    }
    set(stays);
    for (const auto& recorder : before) {  // close these first, because a new recorder may use the same file
        if (std::find(stays.begin(), stays.end(), recorder) == stays.end()) {
            recorder->close();
        }
    }
    {
        const std::lock_guard lock(mutex_);
        left_out_.clear();
    }
    List after;
    for (const RecorderOptions& options : wanted) {
        const auto known = std::find_if(stays.begin(), stays.end(),
                                        [&](const auto& recorder) { return recorder->options() == options; });
        auto recorder = known == stays.end() ? make(options) : *known;
        if (recorder != nullptr) {
            after.push_back(std::move(recorder));
        }
    }
    set(std::move(after));
}

std::shared_ptr<Recorder> Recorders::make(const RecorderOptions& options) {
    try {
        return std::make_shared<Recorder>(options, parts_);
    } catch (const std::exception& error) {
        parts_.log.error(LogLine("cannot start recorder").add("file", options.path).quote("reason", error.what()));
        const std::lock_guard lock(mutex_);
        left_out_.push_back({.path = options.path, .device = options.device, .error = error.what()});
        return nullptr;
    }
}

std::vector<RecorderStatus> Recorders::status() const {
    std::vector<RecorderStatus> result;
    for (const auto& recorder : list()) {
        result.push_back(recorder->status());
    }
    const std::lock_guard lock(mutex_);
    result.insert(result.end(), left_out_.begin(), left_out_.end());
    return result;
}

}  // namespace telegate
