#include "state/state_file.hpp"

#include "base/setting_failure.hpp"
#include "base/whole_file.hpp"
#include "config/load.hpp"
#include "encode/time_text.hpp"
#include "log/log_line.hpp"
#include "state/saved_file.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>
#include <utility>
#include <variant>

namespace telegate {
namespace {

constexpr std::int64_t epoch_ms_ns = 1'000'000;
constexpr const char* setting = "[gateway] state_file";

/// Throws std::system_error; device_or_resource_busy if another process holds the lock.
UniqueFd locked(const std::string& name) {
    UniqueFd file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (file.get() < 0 || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        const int error = errno == EWOULDBLOCK ? EBUSY : errno;
        throw std::system_error(error, std::generic_category(), "lock " + name);
    }
    return file;
}

}  // namespace

StateFile::StateFile(const std::string& path, Log& log)
    : path_(path.empty() ? path : get_for(setting, path, [&] { return link_target(path); })), log_(log) {
    if (is_kept()) {
        lock();
        read();
    }
}

std::int64_t StateFile::choose_epoch(std::int64_t now_ms, std::int64_t logged_ms) const {
    const std::int64_t last = std::max(logged_ms, epochs_.empty() ? 0 : epochs_.back().epoch_ms);
    if (last < now_ms) {
        return now_ms;
    }
    log_.warn(LogLine("a previous run has a later epoch; using the next higher epoch (is the system clock wrong?)")
                  .add("last_epoch", last)
                  .add("now", now_ms)
                  .add("epoch", last + 1));
    return last + 1;
}

void StateFile::learn(std::int64_t epoch_ms, std::map<std::string, std::uint64_t, std::less<>> last_seqs) {
    for (PastEpoch& epoch : epochs_) {
        if (epoch.epoch_ms == epoch_ms && !epoch.has_ended) {
            epoch.last_seqs = std::move(last_seqs);
            return;
        }
    }
}

void StateFile::begin(std::int64_t epoch_ms) {
    if (is_kept()) {
        log_unclean();
        if (epochs_.size() == past_epochs_max) {
            epochs_.erase(epochs_.begin());
        }
        epochs_.push_back({.epoch_ms = epoch_ms});
        has_begun_ = true;
        write();
    }
}

/// Logs what is known about a run that was killed or lost power.
void StateFile::log_unclean() const {
    if (epochs_.empty() || epochs_.back().has_ended) {
        return;
    }
    const PastEpoch& last = epochs_.back();
    LogLine line = LogLine("previous run did not stop cleanly")
                       .add("epoch", last.epoch_ms)
                       .add("started", to_iso8601(last.epoch_ms * epoch_ms_ns));
    if (last.ledger) {
        line.add("last_known", to_iso8601(last.ledger->time_utc_ms * epoch_ms_ns))
            .append(ledger_fields(last.ledger->counts));
    } else {
        line.add("last_known", "none");
    }
    log_.warn(line);
}

std::size_t StateFile::record(const EpochLedger& ledger) {
    if (!has_begun_) {
        return 0;
    }
    epochs_.back().ledger = ledger;
    return write();
}

std::vector<PreviousRun> StateFile::previous_runs() const {
    std::vector<PreviousRun> starts;
    for (std::size_t i = 0; i + (has_begun_ ? 1 : 0) < epochs_.size(); ++i) {
        starts.push_back({epochs_[i].epoch_ms, epochs_[i].has_ended, epochs_[i].ledger});
    }
    return starts;
}

void StateFile::end(std::map<std::string, std::uint64_t, std::less<>> last_seqs, std::uint64_t published,
                    const EpochLedger& ledger) {
    if (has_begun_) {
        epochs_.back().ledger = ledger;
        epochs_.back().has_ended = true;
        epochs_.back().published = published;
        epochs_.back().last_seqs = std::move(last_seqs);
        write();
    }
}

const PastEpoch* StateFile::find(std::int64_t epoch_ms) const noexcept {
    const auto found = std::find_if(epochs_.begin(), epochs_.end(),
                                    [&](const PastEpoch& epoch) { return epoch.epoch_ms == epoch_ms; });
    return found == epochs_.end() ? nullptr : &*found;
}

std::int64_t StateFile::after(std::int64_t epoch_ms) const noexcept {
    const PastEpoch* const epoch = find(epoch_ms);
    return epoch == nullptr || epoch == &epochs_.back() ? 0 : std::next(epoch)->epoch_ms;
}

std::optional<std::uint64_t> StateFile::published_from(std::int64_t epoch_ms, std::uint64_t position,
                                                       std::int64_t before_ms) const noexcept {
    const PastEpoch* const first = find(epoch_ms);
    if (first == nullptr || !has_begun_) {
        return std::nullopt;
    }
    std::uint64_t published = 0;
    for (const PastEpoch* epoch = first; epoch != &epochs_.back() && epoch->epoch_ms < before_ms; ++epoch) {
        if (!epoch->has_ended || !epoch->published) {
            return std::nullopt;
        }
        published += *epoch->published;
    }
    return published - std::min(published, position);
}

/// Two gateways with the same file would overwrite each other's changes.
void StateFile::lock() {
    try {
        lock_ = locked(path_ + ".lock");
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::device_or_resource_busy) {
            throw SettingsError({{.place = {},
                                  .key = setting,
                                  .what = path_ + " is in use by another gateway: each gateway needs its own file"}});
        }
        log_.error(LogLine("cannot lock state file").add("file", path_).quote("reason", error.what()));
    }
}

void StateFile::read() {
    std::variant<std::vector<PastEpoch>, std::string> result;
    try {
        result = read_past_epochs(read_whole_file(path_, state_bytes_max));
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::no_such_file_or_directory) {
            return;
        }
        if (error.code() != std::errc::file_too_large && error.code() != std::errc::invalid_argument) {
            throw SettingFailure(error, setting, path_);  // the file may be valid
        }
        return rename_broken(log_, "state file", path_, "cannot be read: " + error.code().message());
    }
    if (const auto* const fault = std::get_if<std::string>(&result)) {
        return rename_broken(log_, "state file", path_, *fault);
    }
    epochs_ = std::get<std::vector<PastEpoch>>(std::move(result));
}

std::size_t StateFile::write() {
    const std::string text = past_epochs_text(epochs_);
    write_saved(log_, "state file", path_, text);
    return text.size();
}

}  // namespace telegate
