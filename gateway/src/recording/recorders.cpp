#include "recording/recorders.hpp"

#include "log/log_line.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace telegate {
namespace {

std::shared_ptr<DurableLog> find_same(const std::vector<std::shared_ptr<DurableLog>>& logs,
                                      const DurableLogOptions& wanted) {
    const auto found = std::find_if(logs.begin(), logs.end(), [&](const auto& log) {
        const DurableLogOptions options = log->options();
        return options.path == wanted.path && options.device == wanted.device;
    });
    return found == logs.end() ? nullptr : *found;
}

}  // namespace

void Recorders::take(std::span<const TelemetrySample> samples) noexcept {
    ledger_.taken += samples.size();
    if (any_.load(std::memory_order_relaxed)) {
        const std::lock_guard lock(mutex_);
        for (const auto& recording : list_) {
            recording->take(samples);
        }
    }
}

void Recorders::gap(const SampleGap& gap) noexcept {
    ledger_.missing += gap.samples();
    if (any_.load(std::memory_order_relaxed)) {
        const std::lock_guard lock(mutex_);
        for (const auto& recording : list_) {
            recording->gap(gap);
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

void Recorders::change(const std::vector<DurableLogOptions>& wanted) {
    const List before = list();
    List stays;
    for (const DurableLogOptions& options : wanted) {
        if (auto recording = find_same(before, options)) {
            recording->change(options);
            stays.push_back(std::move(recording));
        }
    }
    set(stays);
    for (const auto& recording : before) {  // close these first, because a new recording may use the same directory
        if (std::find(stays.begin(), stays.end(), recording) == stays.end()) {
            recording->close();
        }
    }
    {
        const std::lock_guard lock(mutex_);
        left_out_.clear();
    }
    List after;
    for (const DurableLogOptions& options : wanted) {
        auto known = find_same(stays, options);
        if (auto recording = known == nullptr ? make(options) : std::move(known)) {
            after.push_back(std::move(recording));
        }
    }
    set(std::move(after));
}

std::shared_ptr<DurableLog> Recorders::make(const DurableLogOptions& options) {
    try {
        DurableLog::Parts parts = parts_;
        parts.known = [known = parts_.known, prefix = options.device + '/'](std::int64_t epoch_ms) {
            store::LastSeqs seqs = known(epoch_ms);
            std::erase_if(seqs, [&](const auto& each) { return prefix.size() > 1 && !each.first.starts_with(prefix); });
            return seqs;
        };
        return std::make_shared<DurableLog>(std::move(parts), options);
    } catch (const std::exception& error) {
        parts_.log.error(LogLine("cannot start recording").add("log", options.path).quote("reason", error.what()));
        const std::lock_guard lock(mutex_);
        DurableLogStatus status;
        status.path = options.path;
        status.device = options.device;
        status.error = error.what();
        left_out_.push_back(std::move(status));
        return nullptr;
    }
}

std::vector<DurableLogStatus> Recorders::status() const {
    std::vector<DurableLogStatus> result;
    for (const auto& recording : list()) {
        result.push_back(recording->status());
    }
    const std::lock_guard lock(mutex_);
    result.insert(result.end(), left_out_.begin(), left_out_.end());
    return result;
}

}  // namespace telegate
