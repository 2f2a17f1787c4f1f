#pragma once

#include "durable/durable_log.hpp"
#include "log/log.hpp"
#include "store/log_reader.hpp"
#include "support/eventually.hpp"
#include "support/scratch_dir.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace telegate::test {

/// The content of a log, in order.
struct ReadLog {
    explicit ReadLog(const std::string& directory) {
        store::LogReader reader(store::real_file_system(), directory);
        store::LogBatch batch;
        const auto topic = [&](ChannelId channel) {
            return batch.find(channel)->topic();
        };
        while (reader.next(batch)) {
            starts += batch.begins_epoch ? 1 : 0;
            stops += batch.ends_epoch ? 1 : 0;
            for (const TelemetrySample& sample : batch.samples) {
                samples.emplace_back(topic(sample.channel), sample);
            }
            for (const store::BlockGap& each : batch.gaps) {
                gaps.emplace_back(topic(each.gap.channel), each.gap.first_seq, each.gap.last_seq, each.gap.reason);
            }
        }
    }

    /// Returns whether samples and gaps of a topic are all numbers up to this one. They are never out of order.
    [[nodiscard]] bool is_whole(const std::string& topic, std::uint64_t last_seq) const {
        std::uint64_t count = 0;
        for (const auto& [name, sample] : samples) {
            count += name == topic ? 1U : 0U;
        }
        for (const auto& [name, first, last, reason] : gaps) {
            count += name == topic ? last - first + 1 : 0;
        }
        return count == last_seq;
    }

    using Gap = std::tuple<std::string, std::uint64_t, std::uint64_t, store::GapReason>;
    std::vector<std::pair<std::string, TelemetrySample>> samples;
    std::vector<Gap> gaps;
    int starts = 0;
    int stops = 0;
};

/// The disk of the machine, on which opening and writing files waits or fails on request. Threads: any.
class FaultyDisk final : public store::FileSystem {
  public:
    void block(bool blocks) {
        const std::lock_guard lock(mutex_);
        blocks_ = blocks;
        changed_.notify_all();
    }
    /// Lets only syncs wait.
    void block_syncs(bool blocks) {
        const std::lock_guard lock(mutex_);
        blocks_syncs_ = blocks;
        changed_.notify_all();
    }
    /// Fails only for files whose names end like this.
    void fail(bool fails, std::string ending = "") {
        const std::lock_guard lock(mutex_);
        fails_ = fails;
        ending_ = std::move(ending);
    }
    [[nodiscard]] bool is_waiting() const { return is_waiting_; }

    void make_directory(const std::string& directory) override { disk_.make_directory(directory); }
    [[nodiscard]] std::vector<std::string> list(const std::string& directory) const override {
        return disk_.list(directory);
    }
    [[nodiscard]] bool exists(const std::string& path) const noexcept override { return disk_.exists(path); }
    [[nodiscard]] std::unique_ptr<store::DirectoryLock> lock(const std::string& directory) override {
        return disk_.lock(directory);
    }
    void sync_directory(const std::string& directory) override { disk_.sync_directory(directory); }
    [[nodiscard]] std::uint64_t free_bytes(const std::string& directory) const override {
        return disk_.free_bytes(directory);
    }
    [[nodiscard]] std::unique_ptr<store::File> open(const std::string& path, Mode mode) override {
        pass(path);
        return std::make_unique<FaultyFile>(*this, path, disk_.open(path, mode));
    }
    void remove(const std::string& path) override { disk_.remove(path); }
    void rename(const std::string& from, const std::string& to) override { disk_.rename(from, to); }

  private:
    class FaultyFile final : public store::File {
      public:
        FaultyFile(FaultyDisk& disk, std::string path, std::unique_ptr<store::File> file)
            : disk_(disk), path_(std::move(path)), file_(std::move(file)) {}
        [[nodiscard]] std::uint64_t bytes() const override { return file_->bytes(); }
        std::size_t read(std::uint64_t at, std::span<std::byte> to) const override { return file_->read(at, to); }
        void write(std::uint64_t at, Bytes from) override {
            disk_.pass(path_);
            file_->write(at, from);
        }
        void truncate(std::uint64_t bytes) override { file_->truncate(bytes); }
        void sync() override {
            disk_.pass_sync();
            file_->sync();
        }

      private:
        FaultyDisk& disk_;
        const std::string path_;
        const std::unique_ptr<store::File> file_;
    };

    void pass(const std::string& path) {
        std::unique_lock lock(mutex_);
        is_waiting_ = blocks_;
        changed_.wait(lock, [this] { return !blocks_; });
        is_waiting_ = false;
        if (fails_ && path.ends_with(ending_)) {
            throw std::system_error(std::make_error_code(std::errc::io_error), "the disk");
        }
    }

    void pass_sync() {
        std::unique_lock lock(mutex_);
        is_waiting_ = blocks_syncs_;
        changed_.wait(lock, [this] { return !blocks_syncs_; });
        is_waiting_ = false;
    }

    store::FileSystem& disk_ = store::real_file_system();
    std::mutex mutex_;  // guards the members below
    std::condition_variable changed_;
    bool blocks_ = false;
    bool blocks_syncs_ = false;
    bool fails_ = false;
    std::string ending_;
    std::atomic<bool> is_waiting_{false};
};

/// Two devices and the parts that logs need.
struct LogBench {
    [[nodiscard]] DurableLog::Parts parts() {
        return {channels, clock, log, epoch_ms, [this](std::int64_t) { return known; }, [] {}, {}, {}, disk};
    }
    [[nodiscard]] std::unique_ptr<DurableLog> start() { return std::make_unique<DurableLog>(parts(), options()); }
    [[nodiscard]] DurableLogOptions options(const std::string& name = "a") const {
        DurableLogOptions options;
        options.path = dir.path(name);
        return options;
    }
    [[nodiscard]] static std::vector<TelemetrySample> samples(ChannelId channel, std::uint64_t first_seq,
                                                              std::uint64_t count) {
        std::vector<TelemetrySample> result(static_cast<std::size_t>(count));
        for (TelemetrySample& sample : result) {
            sample.channel = channel;
            sample.seq = first_seq++;
            sample.type = ValueType::integer;
            sample.value.integer = static_cast<std::int64_t>(sample.seq);
        }
        return result;
    }
    [[nodiscard]] ReadLog read(const std::string& name = "a") const { return ReadLog(dir.path(name)); }

    const ScratchDir dir;
    const SystemClock clock{};
    Log log{"off"};
    FaultyDisk disk;
    std::int64_t epoch_ms = 5;
    store::LastSeqs known;  // of every epoch
    ChannelTable channels;
    ChannelId a = channels.add(DeviceId{0}, "d", "a", "Cel").value();
    ChannelId b = channels.add(DeviceId{0}, "d", "b", "").value();
    ChannelId c = channels.add(DeviceId{1}, "e", "c", "").value();
};

}  // namespace telegate::test
