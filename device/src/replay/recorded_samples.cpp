#include "replay/recorded_samples.hpp"

#include "core/topic.hpp"
#include "core/unique_fd.hpp"
#include "store/channel_cache.hpp"
#include "store/log_reader.hpp"
#include "store/segment_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace telegate::replay {

std::string_view ChannelNames::name_of(const recording::Channel& channel) {
    std::string topic;
    topic.append(channel.device).append("/").append(channel.channel);
    const auto known = names_.find(topic);
    if (known != names_.end()) {
        return known->second;
    }
    if (names_.size() == names_max) {
        return {};
    }
    std::string wanted(channel.channel);
    if (with_device_) {
        wanted.insert(0, std::string(channel.device) + '.');
    }
    return names_.emplace(std::move(topic), free_.take("", wanted, topic_part_bytes_max)).first->second;
}

/// An open recording.
struct RecordedSamples::File {
    explicit File(UniqueFd file) : descriptor(std::move(file)), source(descriptor.get()), reader(source) {}

    const UniqueFd descriptor;
    recording::FileSource source;
    recording::RecordingReader reader;
};

/// An open directory of segments, and its current block.
struct RecordedSamples::Log {
    explicit Log(const std::string& directory) : reader(store::real_file_system(), directory) {}

    store::LogReader reader;
    store::LogBatch block;
    store::ChannelCache<Slot> slots;
};

RecordedSamples::RecordedSamples(std::string source) : source_(std::move(source)), names_(source_.empty()) {}

RecordedSamples::~RecordedSamples() = default;

void RecordedSamples::rewind() noexcept {
    log_.reset();
    file_.reset();
    slots_.clear();
    samples_ = recording::Samples({});
    next_sample_ = 0;
    undeclared_ = 0;
    ++recorders_;
}

RecordedSamples::Step RecordedSamples::next(const std::string& file, SampleBatch& batch) {
    try {
        if (log_ == nullptr && file_ == nullptr && !open(file)) {
            return Step::failed;
        }
        return log_ != nullptr ? next_of_log(file, batch) : next_of_file(file, batch);
    } catch (const std::system_error& error) {
        rewind();
        return fail(file, error.what(), Step::failed);
    }
}

RecordedSamples::Step RecordedSamples::next_of_log(const std::string& file, SampleBatch& batch) {
    store::LogBatch& block = log_->block;
    while (next_sample_ < block.samples.size()) {
        sample_ = block.samples[next_sample_++];
        const Slot& slot = log_->slots.at(sample_.channel, [&](const store::SegmentChannel* channel) {
            return channel == nullptr
                       ? Slot()
                       : declare({to_index(channel->id), channel->device, channel->channel, channel->unit}, batch);
        });
        if (slot.is_beyond_limit()) {
            return fail_at_limit(file);
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
    recorders_ += block.begins_epoch ? 1 : 0;
    const bool is_damaged = std::any_of(block.gaps.begin(), block.gaps.end(), [](const store::BlockGap& each) {
        return each.gap.reason == store::GapReason::damaged;
    });
    return is_damaged ? fail(file, "position " + std::to_string(block.position) + ": damaged samples", Step::damaged)
                      : Step::searching;
}

RecordedSamples::Step RecordedSamples::next_of_file(const std::string& file, SampleBatch& batch) {
    using ReaderStep = recording::RecordingReader::Step;
    for (std::size_t records = 0; records < records_per_step; ++records) {
        if (take_sample()) {
            return Step::sample;
        }
        if (std::exchange(undeclared_, 0) > 0) {
            return fail(file,
                        "offset " + std::to_string(file_->reader.offset()) +
                            ": the previous record has samples of an undeclared channel",
                        Step::damaged);
        }
        switch (file_->reader.next()) {
            case ReaderStep::record:
                if (!note_record(file_->reader.record(), batch)) {
                    return fail_at_limit(file);
                }
                break;
            case ReaderStep::searching: return Step::searching;
            case ReaderStep::damaged: return fail(file, file_->reader.fault(), Step::damaged);
            case ReaderStep::end: return Step::end;
            case ReaderStep::failed: {
                const Step step = fail(file, file_->reader.fault(), Step::failed);
                rewind();
                return step;
            }
        }
    }
    return Step::searching;
}

bool RecordedSamples::open(const std::string& file) {
    // Opening a pipe would block without O_NONBLOCK.
    UniqueFd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat facts {};
    if (opened.get() < 0 || ::fstat(opened.get(), &facts) != 0) {
        fault_ = file + ": " + std::generic_category().message(errno);
        return false;
    }
    if (S_ISDIR(facts.st_mode) && !store::list_segments(store::real_file_system(), file).empty()) {
        log_ = std::make_unique<Log>(file);
        return true;
    }
    if (!S_ISREG(facts.st_mode)) {
        fault_ = file + ": not a recording";
        return false;
    }
    file_ = std::make_unique<File>(std::move(opened));
    return true;
}

/// Takes the next wanted sample of the current record, if any.
bool RecordedSamples::take_sample() {
    while (next_sample_ < samples_.size()) {
        sample_ = samples_[next_sample_++];
        const std::uint32_t id = to_index(sample_.channel);
        if (id >= slots_.size() || !slots_[id].is_declared) {
            ++undeclared_;
        } else if (slots_[id].is_wanted) {
            channel_ = slots_[id].channel;
            return true;
        }
    }
    return false;
}

/// Returns whether the channel table has capacity for the record.
bool RecordedSamples::note_record(const recording::Record& record, SampleBatch& batch) {
    samples_ = recording::Samples({});
    next_sample_ = 0;
    if (std::holds_alternative<recording::Start>(record)) {
        slots_.clear();
        ++recorders_;
    } else if (const auto* const samples = std::get_if<recording::Samples>(&record)) {
        samples_ = *samples;
    } else if (const auto* const channel = std::get_if<recording::Channel>(&record)) {
        slots_.resize(std::max<std::size_t>(slots_.size(), channel->id + std::size_t{1}));
        slots_[channel->id] = declare(*channel, batch);
        return !slots_[channel->id].is_beyond_limit();
    }
    return true;  // gaps and ends have no effect
}

RecordedSamples::Slot RecordedSamples::declare(const recording::Channel& channel, SampleBatch& batch) {
    Slot slot{.is_declared = true, .is_wanted = source_.empty() || channel.device == source_};
    const std::string_view name = slot.is_wanted ? names_.name_of(channel) : std::string_view();
    if (!name.empty()) {
        slot.channel = batch.add_channel(name, channel.unit);
    }
    return slot;
}

RecordedSamples::Step RecordedSamples::fail_at_limit(std::string_view file) {
    return fail(file, "has more than " + std::to_string(ChannelNames::names_max) + " channels", Step::damaged);
}

RecordedSamples::Step RecordedSamples::fail(std::string_view file, std::string_view what, Step step) {
    fault_.assign(file).append(": ").append(what);
    return step;
}

}  // namespace telegate::replay
