#pragma once

#include "store/file_system.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace telegate::store {

/// Thrown by the call during which the power failed. Not a std::exception, so that nothing handles it by mistake.
struct PowerFailure {};

/// A file system in memory with faults: it fails chosen calls, tears and reorders writes that were not
/// synced when the power fails, and forgets writes after a failed sync while still showing them.
///
/// Threads: one. Limits: memory. Failure: functions throw std::system_error, as a disk would, or PowerFailure.
class SimulatedDisk final : public FileSystem {
  public:
    explicit SimulatedDisk(std::uint64_t seed) : random_(seed) {}

    /// The call with this number, counted from now, fails with an error of the disk.
    void fail_at(std::uint64_t call, std::errc error) { fault_ = {calls_ + call, error}; }
    /// Every call fails like this until clear_faults().
    void fail_always(std::errc error) { always_ = error; }
    void clear_faults() noexcept {
        fault_.reset();
        always_.reset();
        crash_at_.reset();
    }
    /// The power fails during the call with this number, counted from now.
    void crash_at(std::uint64_t call) { crash_at_ = calls_ + call; }
    /// The power fails now, and returns. Unsynced writes are lost, in whole or in part.
    void crash();
    void set_capacity(std::uint64_t bytes) noexcept { capacity_ = bytes; }
    /// Files can neither grow nor be created, as at a quota, regardless of the free space. nullopt: they can.
    void fail_growth(std::optional<std::error_code> error) { growth_error_ = error; }
    /// The directory is unmounted and mounted again: locks of it are no longer held.
    void remount() noexcept { ++mounts_; }
    /// Called after a file was removed or truncated, such as for another process that takes its space.
    void after_freeing(std::function<void()> call) { after_freeing_ = std::move(call); }
    [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }
    [[nodiscard]] std::uint64_t used_bytes() const;

    /// Direct access, for damage.
    [[nodiscard]] std::vector<std::byte>& content(const std::string& path);
    void drop(const std::string& path);
    /// From now on, the file cannot be read from offset `at` to before `end`.
    void make_unreadable(const std::string& path, std::uint64_t at, std::uint64_t end);

    void make_directory(const std::string& directory) override;
    [[nodiscard]] std::vector<std::string> list(const std::string& directory) const override;
    [[nodiscard]] bool exists(const std::string& path) const noexcept override { return names_.contains(path); }
    [[nodiscard]] std::unique_ptr<DirectoryLock> lock(const std::string& directory) override;
    void sync_directory(const std::string& directory) override;
    [[nodiscard]] std::uint64_t free_bytes(const std::string& directory) const override;
    [[nodiscard]] std::unique_ptr<File> open(const std::string& path, Mode mode) override;
    void remove(const std::string& path) override;
    void rename(const std::string& from, const std::string& to) override;

  private:
    friend class SimulatedFile;
    struct Change {  // to a file: a write, or a truncation if there are no bytes
        std::uint64_t at = 0;
        std::vector<std::byte> bytes;
    };
    struct Inode {
        std::vector<std::byte> seen;     // as read() returns it
        std::vector<std::byte> durable;  // certainly on the disk
        std::vector<Change> unsynced;
        std::uint64_t unreadable_at = 0;  // to before unreadable_end
        std::uint64_t unreadable_end = 0;
    };
    using Names = std::map<std::string, std::shared_ptr<Inode>>;
    using Rename = std::function<void(Names&)>;

    /// Counts a call and fails it if that is planned. `partial` is done before an error or the loss of power.
    void call(const std::function<void()>& partial = {});
    void check_growth() const;
    static void apply(const Change& change, std::vector<std::byte>& content);
    void apply_some(Inode& inode);
    [[nodiscard]] bool chance(double probability) {
        return std::uniform_real_distribution<>(0, 1)(random_) < probability;
    }
    [[nodiscard]] std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
    }

    std::mt19937_64 random_;
    Names names_;
    Names durable_names_;
    std::vector<Rename> unsynced_names_;
    std::uint64_t calls_ = 0;
    std::uint64_t capacity_ = UINT64_MAX;
    struct Fault {
        std::uint64_t call;
        std::errc error;
    };
    std::optional<Fault> fault_;
    std::optional<std::errc> always_;
    std::optional<std::uint64_t> crash_at_;
    std::optional<std::error_code> growth_error_;
    std::function<void()> after_freeing_;
    bool is_locked_ = false;
    unsigned mounts_ = 0;
};

}  // namespace telegate::store
