#include "replay/logged_samples.hpp"

#include "core/topic.hpp"
#include "path_fault.hpp"
#include "store/channel_cache.hpp"
#include "store/log_reader.hpp"
#include "store/segment_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace telegate::replay {

std::string_view ChannelNames::name_of(const store::SegmentChannel& channel) {
    std::string topic = channel.topic();
    const auto known = names_.find(topic);
    if (known != names_.end()) {
        return known->second;
    }
    if (names_.size() == names_max) {
        return {};
    }
    const std::string wanted = with_device_ ? channel.device + '.' + channel.channel : channel.channel;
    return names_.emplace(std::move(topic), free_.claim("", wanted, topic_part_bytes_max)).first->second;
}

std::string log_fault(const std::string& directory) {
    std::string fault = path_fault(directory, R_OK | X_OK);
    struct stat facts {};
    if (::stat(directory.c_str(), &facts) == 0 && !S_ISDIR(facts.st_mode)) {
        fault = directory + ": not a log: must be a directory with segments";
    }
    return fault;
}

/// An open log, and its current block.
struct LoggedSamples::Log {
    explicit Log(const std::string& directory) : reader(store::real_file_system(), directory) {}

    store::LogReader reader;
    store::LogBatch block;
    store::ChannelCache<Slot> slots;
};

LoggedSamples::LoggedSamples(std::string directory, std::string source)
    : directory_(std::move(directory)), source_(std::move(source)), names_(source_.empty()) {}

LoggedSamples::~LoggedSamples() = default;

void LoggedSamples::rewind() noexcept {
    log_.reset();
    next_sample_ = 0;
    ++runs_;
}

LoggedSamples::Step LoggedSamples::next(SampleBatch& batch) {
    try {
        if (log_ == nullptr) {
            fault_ = log_fault(directory_);
            if (!fault_.empty()) {
                return Step::failed;
            }
            if (store::list_segments(store::real_file_system(), directory_).empty()) {
                return fail("not a log: the directory has no segments", Step::failed);
            }
            log_ = std::make_unique<Log>(directory_);
        }
        return read(batch);
    } catch (const std::system_error& error) {
        rewind();
        return fail(error.what(), Step::failed);
    }
}

LoggedSamples::Step LoggedSamples::read(SampleBatch& batch) {
    store::LogBatch& block = log_->block;
    while (next_sample_ < block.samples.size()) {
        sample_ = block.samples[next_sample_++];
        const Slot& slot = log_->slots.at(sample_.channel, [&](const store::SegmentChannel* channel) {
            return channel == nullptr ? Slot() : declare(*channel, batch);
        });
        if (slot.is_wanted && slot.channel == SampleBatch::Channel::none) {
            return fail("has more than " + std::to_string(ChannelNames::names_max) + " channels", Step::damaged);
        }
        if (slot.is_wanted) {
            channel_ = slot.channel;
            return Step::sample;
        }
    }
    if (!log_->reader.next(block)) {
        return Step::end;
    }
    log_->slots.begin(block);
    next_sample_ = 0;
    runs_ += block.begins_epoch ? 1 : 0;
    const bool is_damaged = std::any_of(block.gaps.begin(), block.gaps.end(), [](const store::BlockGap& each) {
        return each.gap.reason == store::GapReason::damaged;
    });
    return is_damaged ? fail("position " + std::to_string(block.position) + ": damaged samples", Step::damaged)
                      : Step::nothing;
}

LoggedSamples::Slot LoggedSamples::declare(const store::SegmentChannel& channel, SampleBatch& batch) {
    Slot slot{.is_wanted = source_.empty() || channel.device == source_};
    const std::string_view name = slot.is_wanted ? names_.name_of(channel) : std::string_view();
    if (!name.empty()) {
        slot.channel = batch.add_channel(name, channel.unit);
    }
    return slot;
}

LoggedSamples::Step LoggedSamples::fail(std::string_view what, Step step) {
    fault_.assign(directory_).append(": ").append(what);
    return step;
}

}  // namespace telegate::replay
