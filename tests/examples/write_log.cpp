// Writes a log directory that has everything that docs/log-format.md describes: all value types, gaps, several segments
// and epochs, data that was written twice because a sync failed, damaged bytes, and a truncated tail. Prints every
// sample that a reader must find, in the order of the log, as tab-separated fields: epoch, topic, sequence number,
// time, type, value. A real value is in hexadecimal floating-point notation, a text in hexadecimal digits. Then it
// prints the gaps that LogReader reports: "gap", epoch, topic, first and last sequence number, reason.
#include "store/log_reader.hpp"
#include "store/sample_log.hpp"
#include "store/segment_reader.hpp"
#include "store/simulated_disk.hpp"
#include "support/manual_clock.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace telegate;
using namespace telegate::store;

constexpr std::uint64_t segment_bytes = 6'000;
constexpr std::int64_t first_epoch_ms = 1'700'000'000'000;
constexpr const char* directory = "/log";

/// The channels, and which values they have.
enum class Kind : std::uint8_t { decimal, noise, special, counter, extreme, boolean, text, none, mixed };
constexpr std::array<std::pair<const char*, Kind>, 9> channels = {{{"temp", Kind::decimal},
                                                                   {"noise", Kind::noise},
                                                                   {"special", Kind::special},
                                                                   {"counter", Kind::counter},
                                                                   {"extreme", Kind::extreme},
                                                                   {"alarm", Kind::boolean},
                                                                   {"state", Kind::text},
                                                                   {"failed", Kind::none},
                                                                   {"mixed", Kind::mixed}}};

std::uint64_t mix(std::uint64_t value) noexcept {
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EB;
    return value ^ (value >> 31U);
}

void set_real(TelemetrySample& sample, double value) {
    sample.type = ValueType::real;
    sample.value.real = value;
}

void set_integer(TelemetrySample& sample, std::int64_t value) {
    sample.type = ValueType::integer;
    sample.value.integer = value;
}

void set_text(TelemetrySample& sample, std::string_view text) {
    sample.type = ValueType::text;
    sample.text_bytes = static_cast<std::uint8_t>(text.size());
    std::copy(text.begin(), text.end(), sample.value.text);
}

void set_value(TelemetrySample& sample, Kind kind) {
    using Real = std::numeric_limits<double>;
    using Integer = std::numeric_limits<std::int64_t>;
    constexpr std::array specials = {0.0,         -0.0,        Real::quiet_NaN(),  Real::infinity(), -Real::infinity(),
                                     Real::min(), Real::max(), Real::denorm_min(), 1.0 / 3.0,        -1e300};
    constexpr std::array<std::string_view, 4> texts = {"", "running", "stopped \"now\"\t\n",
                                                       "32 bytes, with \u00b0 and \u20ac: ....."};
    const std::uint64_t seq = sample.seq;
    switch (kind) {
        case Kind::decimal: return set_real(sample, static_cast<double>(2'000 + seq % 37) / 100.0);
        case Kind::noise: return set_real(sample, static_cast<double>(mix(seq)) * 1e-7);
        case Kind::special: return set_real(sample, specials.at(static_cast<std::size_t>(seq % specials.size())));
        case Kind::counter: return set_integer(sample, static_cast<std::int64_t>(seq * 1'000));
        case Kind::extreme: return set_integer(sample, seq % 2 == 0 ? Integer::max() : Integer::min());
        case Kind::boolean:
            sample.type = ValueType::boolean;
            sample.value.boolean = seq % 3 == 0;
            return;
        case Kind::text: return set_text(sample, texts.at(static_cast<std::size_t>(seq % texts.size())));
        case Kind::none: sample.quality = Quality::bad; return;
        case Kind::mixed:
            sample.quality = static_cast<Quality>(seq % 4);
            sample.flags = seq % 7 == 0 ? sample_flag::time_unsynchronized : std::uint8_t{0};
            return set_value(sample, static_cast<Kind>(seq % static_cast<std::uint64_t>(Kind::mixed)));
    }
}

std::string value_text(const TelemetrySample& sample) {
    std::array<char, 64> buffer{};
    switch (sample.type) {
        case ValueType::none: return "none\t";
        case ValueType::real:
            static_cast<void>(std::snprintf(buffer.data(), buffer.size(), "real\t%a", sample.value.real));
            return buffer.data();
        case ValueType::integer: return "integer\t" + std::to_string(sample.value.integer);
        case ValueType::boolean: return sample.value.boolean ? "boolean\t1" : "boolean\t0";
        case ValueType::text: break;
    }
    std::string text = "text\t";
    for (const char byte : sample.text()) {
        static_cast<void>(std::snprintf(buffer.data(), buffer.size(), "%02x",
                                        static_cast<unsigned>(static_cast<unsigned char>(byte))));
        text += buffer.data();
    }
    return text;
}

/// A log on a simulated disk, and the samples that a reader must find in it.
class Log {
  public:
    Log() {
        for (const auto& [name, kind] : channels) {
            table_.add(DeviceId{0}, kind == Kind::mixed ? "other" : "boiler", name, "");
        }
    }

    /// Starts the next epoch. The one before it stops cleanly only if stop() was called.
    void start() {
        log_.reset();
        epoch_ms_ += 100'000;
        seqs_.fill(0);
        log_ = std::make_unique<SampleLog>(
            SampleLog::Parts{disk_, table_, clock_},
            SampleLog::Options{directory, epoch_ms_, LogId{std::byte{0x7A}, std::byte{0x67}}, {}, segment_bytes},
            [this](std::int64_t) { return known_; });
    }

    void stop() { log_->close(); }

    /// Writes one block: `readings` readings of the first `count` channels, sometimes with channels omitted,
    /// reversed or skipped.
    void write_block(int readings, std::size_t count) {
        add_samples(readings, count);
        log_->sync();
    }

    /// Like write_block(), but the first attempt to sync fails, so that the block is in two segments.
    void write_block_twice(int readings, std::size_t count) {
        add_samples(readings, count);
        log_->write();
        disk_.fail_always(std::errc::io_error);
        try {
            log_->sync();
        } catch (const std::system_error&) {
            disk_.clear_faults();
        }
        log_->sync();
    }

    void add_gap(std::size_t channel, std::uint64_t samples, GapReason reason) {
        const std::uint64_t first = seqs_.at(channel) + 1;
        seqs_.at(channel) += samples;
        log_->append(LogGap{static_cast<ChannelId>(channel), first, seqs_.at(channel), reason});
    }

    /// The next start learns that the channel had more samples than the log has.
    void set_known(std::size_t channel, std::uint64_t more) {
        known_ = {{table_.at(static_cast<ChannelId>(channel)).topic, seqs_.at(channel) + more}};
    }

    [[nodiscard]] std::vector<std::string> segments() const {
        std::vector<std::string> names;
        for (const SegmentRef& segment : list_segments(disk_, directory)) {
            names.push_back(segment.name);
        }
        return names;
    }

    enum class Damage : std::uint8_t { head, payload, tail };
    /// Damages block `index` of a segment, and expects its samples no longer.
    void damage_block(const std::string& segment, std::size_t index, Damage damage) {
        const auto reader = SegmentReader::open(disk_, path_of(segment));
        const BlockEntry block = reader->index().blocks.at(index);
        std::vector<std::byte>& content = disk_.content(path_of(segment));
        constexpr std::size_t in_head = 40;
        constexpr std::size_t from_end = 20;
        switch (damage) {
            case Damage::head: content.at(static_cast<std::size_t>(block.offset) + in_head) ^= std::byte{4}; break;
            case Damage::payload: {
                const std::uint64_t end = index + 1 < reader->index().blocks.size()
                                              ? reader->index().blocks.at(index + 1).offset
                                              : content.size();
                content.at(static_cast<std::size_t>(end) - from_end) ^= std::byte{1};
                break;
            }
            case Damage::tail: content.resize(content.size() - from_end); break;
        }
        std::erase_if(expected_, [&](const Expected& each) { return each.position == block.position; });
    }
    /// Damages all of a segment, and no longer expects its samples.
    void damage_segment(const std::string& segment) {
        const auto reader = SegmentReader::open(disk_, path_of(segment));
        const Position first = reader->head().first_position;
        const Position end = reader->index().end_position;
        for (std::byte& each : disk_.content(path_of(segment))) {
            each ^= std::byte{0x55};
        }
        std::erase_if(expected_, [&](const Expected& each) { return each.position >= first && each.position < end; });
    }

    /// Writes the files to a directory of the machine.
    void save(const std::filesystem::path& to) {
        std::filesystem::create_directories(to);
        for (const std::string& name : disk_.list(directory)) {
            const std::vector<std::byte>& content = disk_.content(path_of(name));
            std::ofstream file(to / name, std::ios::binary);
            file.exceptions(std::ios::failbit | std::ios::badbit);
            file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::ptrdiff_t>(content.size()));
        }
    }

    void print_samples() const {
        for (const Expected& each : expected_) {
            static_cast<void>(std::puts(each.line.c_str()));
        }
    }

    void print_gaps() {
        LogReader reader(disk_, directory);
        LogBatch batch;
        while (reader.next(batch)) {
            for (const BlockGap& each : batch.gaps) {
                const SegmentChannel* const channel = batch.find(each.gap.channel);
                const std::string line = "gap\t" + std::to_string(batch.epoch_ms) + "\t" + channel->topic() + "\t" +
                                         std::to_string(each.gap.first_seq) + "\t" + std::to_string(each.gap.last_seq) +
                                         "\t" + std::string(to_string(each.gap.reason));
                static_cast<void>(std::puts(line.c_str()));
            }
        }
    }

  private:
    struct Expected {
        Position position = 0;  // of its block
        std::string line;
    };

    static std::string path_of(const std::string& segment) { return std::string(directory) + "/" + segment; }

    TelemetrySample next_sample(std::size_t channel) {
        TelemetrySample sample;
        std::memset(static_cast<void*>(&sample), 0, sizeof sample);
        sample.time_utc_ns = clock_.utc_now_ns();
        sample.time_mono_ns = to_ns(clock_.mono_now());
        sample.seq = ++seqs_.at(channel);
        sample.channel = static_cast<ChannelId>(channel);
        set_value(sample, channels.at(channel).second);
        return sample;
    }

    void add_samples(int readings, std::size_t count) {
        const Position position = log_->status().next;
        std::vector<TelemetrySample> samples;
        for (int reading = 0; reading < readings; ++reading) {
            clock_.advance(std::chrono::milliseconds(100) + std::chrono::nanoseconds(reading % 5));
            if (reading % 11 == 0) {
                clock_.step_utc(std::chrono::microseconds(3));
            }
            const std::size_t first = samples.size();
            for (std::size_t channel = 0; channel < count; ++channel) {
                if ((static_cast<std::size_t>(reading) + channel) % 13 == 0) {
                    continue;  // the device has no new value
                }
                if (reading % 17 == 3 && channel % 4 == 0) {
                    ++seqs_.at(channel);  // a sample that never arrives
                }
                samples.push_back(next_sample(channel));
            }
            if (reading % 19 == 5) {
                std::reverse(samples.begin() + static_cast<std::ptrdiff_t>(first), samples.end());
            }
        }
        log_->append(samples);
        for (const TelemetrySample& sample : samples) {
            expected_.push_back({position, std::to_string(epoch_ms_) + "\t" + table_.at(sample.channel).topic + "\t" +
                                               std::to_string(sample.seq) + "\t" + std::to_string(sample.time_utc_ns) +
                                               "\t" + value_text(sample)});
        }
    }

    SimulatedDisk disk_{1};
    test::ManualClock clock_;
    ChannelTable table_;
    LastSeqs known_;
    std::unique_ptr<SampleLog> log_;
    std::int64_t epoch_ms_ = first_epoch_ms;
    std::array<std::uint64_t, channels.size()> seqs_{};
    std::vector<Expected> expected_;
};

/// The first epoch stops cleanly. It has several segments, and damage in them.
void write_first_epoch(Log& log) {
    log.start();
    log.write_block(60, channels.size());
    log.add_gap(3, 20, GapReason::queue_overflow);
    log.write_block(3, 4);
    log.write_block(200, 4);
    log.add_gap(0, 5, GapReason::log_slow);
    log.write_block(0, 0);  // a block of one gap
    for (int i = 0; i < 12; ++i) {
        log.write_block(40, channels.size());
    }
    log.stop();
}

/// The second epoch crashes; the next start adds a gap for a sample that was lost.
void write_second_epoch(Log& log) {
    log.start();
    log.write_block(5, channels.size());
    log.write_block_twice(30, channels.size());
    log.write_block(30, channels.size());
    log.set_known(1, 3);
}

/// The third epoch has a truncated block at its end.
void write_third_epoch(Log& log) {
    log.start();
    log.write_block(3, channels.size());
    log.write_block(50, channels.size());
    log.write_block(20, channels.size());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        static_cast<void>(std::fputs("usage: write_log DIRECTORY\n", stderr));
        return 64;
    }
    try {
        Log log;
        write_first_epoch(log);
        const std::vector<std::string> segments = log.segments();
        write_second_epoch(log);
        write_third_epoch(log);
        log.damage_block(segments.at(0), 2, Log::Damage::payload);
        log.damage_block(segments.at(1), 0, Log::Damage::head);
        log.damage_segment(segments.at(2));
        log.damage_block(log.segments().back(), 2, Log::Damage::tail);
        log.save(argv[1]);
        log.print_samples();
        log.print_gaps();
    } catch (const std::exception& error) {
        static_cast<void>(std::fprintf(stderr, "write_log: %s\n", error.what()));
        return 70;
    }
    return 0;
}
