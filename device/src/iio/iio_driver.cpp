#include "iio/iio_driver.hpp"
#include "device/option_error.hpp"

#include "core/topic.hpp"
#include "device/cancel_signal.hpp"
#include "host/channel_names.hpp"
#include "iio/attribute.hpp"
#include "iio/found_device.hpp"
#include "iio/frame_buffer.hpp"
#include "path_fault.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate {
namespace {

/// Timestamps that differ more from the current time are assumed to be from the wrong clock.
constexpr std::int64_t timestamp_age_max_ns = 3'600'000'000'000;
/// Reading a scale can wait for the device, during which frames are not read.
constexpr std::chrono::seconds scales_again_after{1};

void check(const IioDriverOptions& options) {
    if (options.device.empty()) {
        refuse_value("device", "\"\"", "the name or the label of a device, or iio:deviceN");
    }
    for (const std::string& channel : options.channels) {
        if (channel.empty() || channel.find('/') != std::string::npos || channel == "timestamp") {
            refuse_value("channels", '"' + channel + '"', "names such as voltage0 or accel_x");
        }
    }
}

/// Reads one device, and searches for it again after it was removed.
///
/// Threads: those of Driver.
/// Limits: inputs_max inputs; further ones are counted in left_out. channels_max channels in total. Allocates when the
/// device is found, and for the text of a failure.
/// Failure: an input that cannot be read is absent, and so is one whose scale or offset cannot be read; these are read
/// again. If no input can be read, the reading fails, and the next read()
/// searches for the device again.
class IioDriver final : public Driver {
  public:
    static constexpr std::size_t channels_max = 512;  // total number of names ever found

    explicit IioDriver(IioDriverOptions options) : options_(std::move(options)) { check(options_); }

    [[nodiscard]] DriverTraits traits() const noexcept override {
        return {.own_thread = true, .streams = options_.buffered};
    }
    void cancel_with(const CancelSignal& signal) noexcept override { cancel_ = &signal; }

    void open(SampleBatch& batch) override {
        for (const std::string& name : options_.channels) {
            channel(batch, name);
        }
    }

    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const override {
        if (options_.channels.empty()) {
            return std::nullopt;
        }
        std::vector<std::string> names{"left_out"};
        for (const std::string& name : options_.channels) {
            names.push_back(to_topic_part(name) + ".*");  // for buffers with several values
        }
        return names;
    }

    [[nodiscard]] std::vector<MissingPart> missing_parts() const override {
        const iio::Search search = iio::find_device(options_.sys_root, options_.device);
        std::vector<MissingPart> missing;
        if (!search.problem.empty()) {
            missing.push_back({"device", search.problem});
            return missing;
        }
        const iio::Inputs found = iio::list_inputs(search.device);
        for (const std::string& name : options_.channels) {
            const bool is_there = std::any_of(found.inputs.begin(), found.inputs.end(),
                                              [&](const iio::Input& input) { return input.name == name; });
            if (!is_there && !options_.buffered) {  // a buffer may have other channels
                missing.push_back({"channels", search.device.path + " has no channel " + name});
            }
        }
        std::string fault = path_fault(options_.dev_root + '/' + search.device.name, R_OK);
        if (options_.buffered && !fault.empty()) {
            missing.push_back({"device", std::move(fault)});
        }
        return missing;
    }

    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override {
        try {
            if (!is_connected_ && !connect(batch, now)) {
                return {ReadResult::Status::failed, problem_};
            }
            return options_.buffered ? read_frames(batch) : read_attributes(batch);
        } catch (const std::exception& problem) {
            problem_ = problem.what();
            return {ReadResult::Status::failed, problem_};
        }
    }

    void reset() noexcept override { disconnect(); }

  private:
    struct Known {
        std::string name;
        SampleBatch::Channel channel;
    };
    struct Polled {
        iio::Input input;
        iio::AttributeFile file;
        SampleBatch::Channel channel;
    };

    SampleBatch::Channel channel(SampleBatch& batch, const std::string& name) {
        const auto known =
            std::find_if(known_.begin(), known_.end(), [&](const Known& each) { return each.name == name; });
        if (known != known_.end()) {
            return known->channel;
        }
        if (known_.size() == channels_max) {
            ++left_out_;
            return SampleBatch::Channel::none;
        }
        const std::string free = names_.find("", name, topic_part_bytes_max);
        Known added{name, batch.add_channel(free, iio::kind_of(name).unit)};
        names_.use(free);
        known_.push_back(std::move(added));
        return known_.back().channel;
    }

    bool connect(SampleBatch& batch, MonoTime now) {
        iio::Search search = iio::find_device(options_.sys_root, options_.device);
        problem_ = std::move(search.problem);
        const double hertz = options_.sampling_frequency.value_or(0.0);
        if (problem_.empty() && hertz > 0.0) {
            problem_ = iio::set_sampling_frequency(options_.sys_root, search.device, options_.trigger, hertz);
        }
        if (problem_.empty()) {
            left_out_ = 0;
            device_ = search.device;
            problem_ = options_.buffered ? capture(batch, search.device) : poll_attributes(batch, search.device);
        }
        is_connected_ = problem_.empty();
        if (left_out_ > 0) {
            left_out_channel_ = batch.add_channel("left_out", "1");
        }
        heard_ = now;
        return is_connected_;
    }

    void disconnect() noexcept {
        polled_.clear();
        buffer_.stop();
        is_connected_ = false;
    }

    ReadResult fail(std::string problem) {
        disconnect();
        problem_ = std::move(problem);
        return {ReadResult::Status::failed, problem_};
    }

    [[nodiscard]] std::string poll_attributes(SampleBatch& batch, const iio::FoundDevice& device) {
        iio::Inputs found = iio::list_inputs(device);
        left_out_ = static_cast<std::int64_t>(found.left_out);
        for (iio::Input& input : found.inputs) {
            const auto& wanted = options_.channels;
            if (wanted.empty() || std::find(wanted.begin(), wanted.end(), input.name) != wanted.end()) {
                const SampleBatch::Channel own = channel(batch, input.name);
                iio::AttributeFile file(input.path);
                polled_.push_back(Polled{std::move(input), std::move(file), own});
            }
        }
        return polled_.empty() ? device.path + ": none of the requested channels exists" : std::string();
    }

    ReadResult read_attributes(SampleBatch& batch) {
        std::size_t good = 0;
        int first_error = 0;
        const std::string* first_path = nullptr;
        for (Polled& each : polled_) {
            if (cancel_ != nullptr && cancel_->is_set()) {
                return {ReadResult::Status::interrupted};
            }
            if (each.input.fault != 0) {
                each.input = iio::scaled_input(device_, each.input.name, false);
            }
            const auto raw = each.input.fault == 0 ? each.file.read_number() : std::nullopt;
            if (raw) {
                batch.stamp_now();
                batch.add(each.channel, (*raw + each.input.offset) * each.input.scale);
                ++good;
            } else if (first_path == nullptr) {
                const bool is_scaled = each.input.fault == 0;
                first_error = is_scaled ? each.file.error() : each.input.fault;
                first_path = is_scaled ? &each.input.path : &each.input.fault_path;
            }
        }
        if (good == 0 || first_error == ENODEV) {
            return fail(iio::failure_text(*first_path, first_error));
        }
        batch.add(left_out_channel_, left_out_);
        batch.add_absent_for_missing();
        return {};
    }

    [[nodiscard]] std::string capture(SampleBatch& batch, const iio::FoundDevice& device) {
        std::string problem = buffer_.start(device, options_);
        if (!problem.empty()) {
            return problem;
        }
        frame_channels_.clear();
        for (std::size_t element = 0; element < buffer_.inputs().size(); ++element) {
            const std::string& name = buffer_.inputs()[element].name;
            const std::uint32_t repeat = buffer_.layout().type(element).repeat;
            for (std::uint32_t number = 0; number < repeat; ++number) {
                const bool has_channel = name != "timestamp";
                const std::string own = repeat == 1 ? name : name + '.' + std::to_string(number);
                frame_channels_.push_back(has_channel ? channel(batch, own) : SampleBatch::Channel::none);
            }
        }
        return {};
    }

    ReadResult read_frames(SampleBatch& batch) {
        const MonoTime until = std::chrono::steady_clock::now() + wait_max;
        const Woken woken = wait_for(buffer_.descriptor(), POLLIN, cancel_, until).woken;
        if (woken == Woken::canceled) {
            return {ReadResult::Status::interrupted};
        }
        batch.stamp_now();
        const MonoTime now = batch.clock().mono_now();
        if (woken == Woken::timed_out) {
            const bool is_silent =
                options_.silence_ms > 0 && now - heard_ >= std::chrono::milliseconds(options_.silence_ms);
            return is_silent ? fail(options_.device + ": no frame for " + std::to_string(options_.silence_ms) + " ms")
                             : ReadResult{};
        }
        if (now >= scales_at_) {
            buffer_.read_missing_scales(device_);
            scales_at_ = now + scales_again_after;
        }
        if (const int error = buffer_.fill()) {
            return fail(iio::failure_text(buffer_.node(), error));
        }
        const ClockPair taken_at = read_both(batch.clock());
        for (auto frame = buffer_.next_frame(); !frame.empty(); frame = buffer_.next_frame()) {
            heard_ = now;
            add_frame(batch, frame, taken_at);
        }
        batch.add(left_out_channel_, left_out_);
        return {};
    }

    void add_frame(SampleBatch& batch, std::span<const std::byte> frame, ClockPair now) {
        Quality quality = Quality::good;
        if (const auto taken = buffer_.timestamp_of(frame)) {
            // A wrong timestamp can have any value, so the comparison avoids overflow.
            const std::int64_t own = buffer_.is_realtime() ? now.utc_ns : now.mono_ns;
            const bool is_near =
                *taken > 0 && *taken <= own + timestamp_age_max_ns && *taken >= own - timestamp_age_max_ns;
            const std::int64_t age_ns = is_near ? own - *taken : 0;
            batch.stamp(now.utc_ns - age_ns, now.mono_ns - age_ns);
            quality = is_near ? Quality::good : Quality::uncertain;
        }
        std::size_t at = 0;  // index in frame_channels_
        const iio::FrameLayout& layout = buffer_.layout();
        for (std::size_t element = 0; element < layout.elements(); ++element) {
            const iio::ScanType& type = layout.type(element);
            const iio::Input& input = buffer_.inputs()[element];
            for (std::uint32_t number = 0; number < type.repeat; ++number) {
                const double raw = iio::decode_value(type, layout.value_bytes(frame, element, number));
                if (input.fault == 0) {
                    batch.add(frame_channels_[at], (raw + input.offset) * input.scale, quality);
                } else {
                    batch.add_absent(frame_channels_[at]);
                }
                ++at;
            }
        }
    }

    const IioDriverOptions options_;
    const CancelSignal* cancel_ = nullptr;
    std::vector<Known> known_;
    host::FreeNames names_;  // of the channels
    bool is_connected_ = false;
    std::string problem_;
    iio::FoundDevice device_;
    std::vector<Polled> polled_;
    iio::FrameBuffer buffer_;
    std::vector<SampleBatch::Channel> frame_channels_;  // one per value of a frame
    MonoTime scales_at_{};                              // when missing scales are read again
    MonoTime heard_{};                                  // when the last frame arrived
    std::int64_t left_out_ = 0;
    SampleBatch::Channel left_out_channel_ = SampleBatch::Channel::none;
};

}  // namespace

std::vector<std::string> iio_channels_now(const std::string& sys_root, const std::string& device) {
    const iio::Search search = iio::find_device(sys_root, device);
    std::vector<std::string> names;
    if (search.problem.empty()) {
        for (const iio::Input& input : iio::list_inputs(search.device).inputs) {
            names.push_back(to_topic_part(input.name));
        }
    }
    return names;
}

std::unique_ptr<Driver> make_iio_driver(IioDriverOptions options) {
    return std::make_unique<IioDriver>(std::move(options));
}

}  // namespace telegate
