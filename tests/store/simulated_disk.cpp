#include "store/simulated_disk.hpp"

#include <algorithm>
#include <span>
#include <system_error>
#include <utility>

namespace telegate::store {
namespace {

constexpr std::size_t sector_bytes = 512;

[[noreturn]] void fail(std::errc error) {
    throw std::system_error(std::make_error_code(error), "simulated disk");
}

}  // namespace

class SimulatedFile final : public File {
  public:
    SimulatedFile(SimulatedDisk& disk, std::shared_ptr<SimulatedDisk::Inode> inode)
        : disk_(disk), inode_(std::move(inode)) {}

    std::uint64_t bytes() const override { return inode_->seen.size(); }

    std::size_t read(std::uint64_t at, std::span<std::byte> to) const override {
        disk_.call();
        if (at < inode_->unreadable_end && at + to.size() > inode_->unreadable_at) {
            fail(std::errc::io_error);
        }
        if (at >= inode_->seen.size()) {
            return 0;
        }
        const auto found = std::span(inode_->seen).subspan(static_cast<std::size_t>(at));
        const std::size_t count = std::min(to.size(), found.size());
        std::copy_n(found.begin(), count, to.begin());
        return count;
    }

    void write(std::uint64_t at, Bytes from) override {
        const auto put = [&](std::size_t bytes) {
            SimulatedDisk::Change change{at, {from.begin(), from.begin() + static_cast<std::ptrdiff_t>(bytes)}};
            if (bytes > 0) {
                SimulatedDisk::apply(change, inode_->seen);
                inode_->unsynced.push_back(std::move(change));
            }
        };
        disk_.call([&] { put(disk_.below(from.size() + 1)); });
        const std::uint64_t grows =
            std::max<std::uint64_t>(at + from.size(), inode_->seen.size()) - inode_->seen.size();
        if (grows > 0) {
            disk_.check_growth();
        }
        const std::uint64_t free = disk_.free_bytes("");
        if (grows > free) {
            const std::uint64_t lacking = std::min<std::uint64_t>(grows - free, from.size());
            put(from.size() - static_cast<std::size_t>(lacking));
            fail(std::errc::no_space_on_device);
        }
        put(from.size());
    }

    void truncate(std::uint64_t bytes) override {
        disk_.call();
        SimulatedDisk::Change change{bytes, {}};
        SimulatedDisk::apply(change, inode_->seen);
        inode_->unsynced.push_back(std::move(change));
        if (disk_.after_freeing_) {
            disk_.after_freeing_();
        }
    }

    void sync() override {
        disk_.call([&] {  // some of it is on the disk, the rest never will be
            disk_.apply_some(*inode_);
            inode_->unsynced.clear();
        });
        for (const SimulatedDisk::Change& change : inode_->unsynced) {
            SimulatedDisk::apply(change, inode_->durable);
        }
        inode_->unsynced.clear();
    }

  private:
    SimulatedDisk& disk_;
    const std::shared_ptr<SimulatedDisk::Inode> inode_;
};

namespace {

class SimulatedLock final : public DirectoryLock {
  public:
    SimulatedLock(bool& is_locked, const unsigned& mounts) : is_locked_(is_locked), mounts_(mounts), mount_(mounts) {
        is_locked_ = true;
    }
    ~SimulatedLock() override { is_locked_ = false; }
    SimulatedLock(const SimulatedLock&) = delete;
    SimulatedLock& operator=(const SimulatedLock&) = delete;

    bool is_held() const noexcept override { return mount_ == mounts_; }

  private:
    bool& is_locked_;
    const unsigned& mounts_;
    const unsigned mount_;
};

}  // namespace

void SimulatedDisk::call(const std::function<void()>& partial) {
    ++calls_;
    const bool is_crash = crash_at_ == calls_;
    const bool is_fault = fault_ && fault_->call == calls_;
    if (!is_crash && !is_fault && !always_) {
        return;
    }
    if (partial) {
        partial();
    }
    if (is_crash) {
        throw PowerFailure{};
    }
    fail(is_fault ? fault_->error : *always_);
}

void SimulatedDisk::check_growth() const {
    if (growth_error_) {
        throw std::system_error(*growth_error_, "simulated disk");
    }
}

void SimulatedDisk::apply(const Change& change, std::vector<std::byte>& content) {
    const auto at = static_cast<std::size_t>(change.at);
    if (change.bytes.empty()) {
        content.resize(at);
        return;
    }
    content.resize(std::max(content.size(), at + change.bytes.size()));
    std::copy(change.bytes.begin(), change.bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Puts some of what was not synced on the disk: nothing, everything, all up to a point within a write, or any sectors.
void SimulatedDisk::apply_some(Inode& inode) {
    const std::size_t how = below(4);
    const std::size_t whole = how == 2 ? below(inode.unsynced.size() + 1) : 0;
    for (std::size_t i = 0; i < inode.unsynced.size(); ++i) {
        const Change& change = inode.unsynced[i];
        if (how == 1 || (how == 2 && i < whole)) {
            apply(change, inode.durable);
            continue;
        }
        if (how == 0 || (how == 2 && i > whole)) {
            continue;
        }
        if (change.bytes.empty()) {
            if (chance(0.5)) {
                apply(change, inode.durable);
            }
            continue;
        }
        const std::size_t torn = below(change.bytes.size() / sector_bytes + 1);
        std::uint64_t sector = 0;
        for (std::size_t at = 0; at < change.bytes.size(); ++sector) {
            const std::size_t to_boundary = sector_bytes - (change.at + at) % sector_bytes;
            const std::size_t end = std::min(change.bytes.size(), at + to_boundary);
            if (how == 2 ? sector < torn : chance(0.5)) {
                apply({change.at + at,
                       {change.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                        change.bytes.begin() + static_cast<std::ptrdiff_t>(end)}},
                      inode.durable);
            }
            at = end;
        }
    }
}

void SimulatedDisk::crash() {
    clear_faults();
    const std::size_t how = below(3);
    const std::size_t whole = below(unsynced_names_.size() + 1);
    for (std::size_t i = 0; i < unsynced_names_.size(); ++i) {
        if (how == 0 ? i < whole : how == 1 || chance(0.5)) {
            unsynced_names_[i](durable_names_);
        }
    }
    unsynced_names_.clear();
    names_ = durable_names_;
    for (auto& [name, inode] : names_) {
        apply_some(*inode);
        inode->unsynced.clear();
        inode->seen = inode->durable;
    }
    is_locked_ = false;
}

std::uint64_t SimulatedDisk::used_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [name, inode] : names_) {
        bytes += inode->seen.size();
    }
    return bytes;
}

std::vector<std::byte>& SimulatedDisk::content(const std::string& path) {
    return names_.at(path)->seen;
}

void SimulatedDisk::drop(const std::string& path) {
    names_.erase(path);
    durable_names_.erase(path);
}

void SimulatedDisk::make_unreadable(const std::string& path, std::uint64_t at, std::uint64_t end) {
    names_.at(path)->unreadable_at = at;
    names_.at(path)->unreadable_end = end;
}

void SimulatedDisk::make_directory(const std::string& /*directory*/) {
    call();
}

std::vector<std::string> SimulatedDisk::list(const std::string& directory) const {
    std::vector<std::string> names;
    for (const auto& [name, inode] : names_) {
        if (name.starts_with(directory + "/")) {
            names.push_back(name.substr(directory.size() + 1));
        }
    }
    return names;
}

std::unique_ptr<DirectoryLock> SimulatedDisk::lock(const std::string& /*directory*/) {
    call();
    if (is_locked_) {
        fail(std::errc::resource_unavailable_try_again);
    }
    return std::make_unique<SimulatedLock>(is_locked_, mounts_);
}

void SimulatedDisk::sync_directory(const std::string& /*directory*/) {
    call();
    durable_names_ = names_;
    unsynced_names_.clear();
}

std::uint64_t SimulatedDisk::free_bytes(const std::string& /*directory*/) const {
    const std::uint64_t used = used_bytes();
    return capacity_ > used ? capacity_ - used : 0;
}

std::unique_ptr<File> SimulatedDisk::open(const std::string& path, Mode mode) {
    call();
    const auto found = names_.find(path);
    if (mode != Mode::create) {
        if (found == names_.end()) {
            fail(std::errc::no_such_file_or_directory);
        }
        return std::make_unique<SimulatedFile>(*this, found->second);
    }
    if (found != names_.end()) {
        fail(std::errc::file_exists);
    }
    check_growth();
    auto inode = std::make_shared<Inode>();
    names_[path] = inode;
    unsynced_names_.push_back([path, inode](Names& names) { names[path] = inode; });
    return std::make_unique<SimulatedFile>(*this, inode);
}

void SimulatedDisk::remove(const std::string& path) {
    call();
    if (names_.erase(path) > 0) {
        unsynced_names_.push_back([path](Names& names) { names.erase(path); });
        if (after_freeing_) {
            after_freeing_();
        }
    }
}

void SimulatedDisk::rename(const std::string& from, const std::string& to) {
    call();
    if (!names_.contains(from)) {
        fail(std::errc::no_such_file_or_directory);
    }
    const auto move = [from, to](Names& names) {
        if (auto node = names.extract(from)) {
            names.erase(to);
            node.key() = to;
            names.insert(std::move(node));
        }
    };
    move(names_);
    unsynced_names_.push_back(move);
}

}  // namespace telegate::store
