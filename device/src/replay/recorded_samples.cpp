#include "replay/recorded_samples.hpp"

#include "core/topic.hpp"
#include "host/channel_names.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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
    std::string name =
        host::free_part(wanted, topic_part_bytes_max, [&](const std::string& part) { return taken_.contains(part); });
    taken_.insert(name);
    return names_.emplace(std::move(topic), std::move(name)).first->second;
}

/// An open recording.
struct RecordedSamples::File {
    explicit File(int the_descriptor) : descriptor(the_descriptor), source(descriptor), reader(source) {}
    ~File() { ::close(descriptor); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    const int descriptor;
    recording::FileSource source;
    recording::RecordingReader reader;
};

RecordedSamples::RecordedSamples(std::string source) : source_(std::move(source)), names_(source_.empty()) {}

RecordedSamples::~RecordedSamples() = default;

void RecordedSamples::rewind() noexcept {
    file_.reset();
    slots_.clear();
    samples_ = recording::Samples({});
    next_sample_ = 0;
    undeclared_ = 0;
    ++recorders_;
}

RecordedSamples::Step RecordedSamples::next(const std::string& file, SampleBatch& batch) {
    using ReaderStep = recording::RecordingReader::Step;
    if (file_ == nullptr && !open(file)) {
        return Step::failed;
    }
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
                    return fail(file, "has more than " + std::to_string(ChannelNames::names_max) + " channels",
                                Step::damaged);
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
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat facts {};
    if (descriptor < 0 || ::fstat(descriptor, &facts) != 0) {
        fault_ = file + ": " + std::generic_category().message(errno);
        if (descriptor >= 0) {
            ::close(descriptor);
        }
        return false;
    }
    if (!S_ISREG(facts.st_mode)) {
        ::close(descriptor);
        fault_ = file + ": not a regular file";
        return false;
    }
    file_ = std::make_unique<File>(descriptor);
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
        return declare(*channel, batch);
    }
    return true;  // gaps and ends have no effect
}

bool RecordedSamples::declare(const recording::Channel& channel, SampleBatch& batch) {
    if (channel.id >= slots_.size()) {
        slots_.resize(channel.id + std::size_t{1});
    }
    Slot& slot = slots_[channel.id];
    slot = {.is_declared = true, .is_wanted = source_.empty() || channel.device == source_};
    if (!slot.is_wanted) {
        return true;
    }
    const std::string_view name = names_.name_of(channel);
    if (!name.empty()) {
        slot.channel = batch.add_channel(name, channel.unit);
    }
    return !name.empty();
}

RecordedSamples::Step RecordedSamples::fail(std::string_view file, std::string_view what, Step step) {
    fault_.assign(file).append(": ").append(what);
    return step;
}

}  // namespace telegate::replay
