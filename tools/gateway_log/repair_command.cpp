#include "commands.hpp"
#include "gateway_tail/time_words.hpp"
#include "segment_files.hpp"
#include "store/sample_log.hpp"
#include "store/segment_writer.hpp"

#include <system_error>

namespace telegate::log_tool {
namespace {

std::unique_ptr<store::DirectoryLock> lock(const LogOptions& options, const Surroundings& surroundings) {
    try {
        return surroundings.files.lock(options.directory);
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::resource_unavailable_try_again) {
            throw Failure(exit_code::in_use, "a gateway is using the log in " + options.directory + ": stop it first");
        }
        throw;
    }
}

/// Reports what a repair does.
class RepairReport {
  public:
    explicit RepairReport(std::ostream& out) : out_(out) {}

    void add(const std::string& line) {
        out_ << line << '\n';
        is_empty_ = false;
    }
    [[nodiscard]] bool is_empty() const noexcept { return is_empty_; }

  private:
    std::ostream& out_;
    bool is_empty_ = true;
};

std::string removed_text(std::uint64_t bytes) {
    return bytes == 0 ? "" : ", and " + tail::counted(bytes, "unreadable byte") + " at its end removed";
}

/// Writes the footers that are missing in segments before the last one.
void rebuild_footers(const LogOptions& options, const Surroundings& surroundings, RepairReport& report) {
    for_segment_files(surroundings.files, options.directory, [&](const SegmentFile& file) {
        if (file.reader == nullptr || file.reader->has_footer()) {
            return;
        }
        const bool is_kept = file.reader->keep_end() > file.reader->end_offset();
        report.add("rebuilt the footer of " + file.name +
                   removed_text(is_kept ? 0 : file.bytes - file.reader->end_offset()));
        store::SegmentWriter writer(surroundings.files, *file.reader);
        writer.seal();
        writer.sync();
    });
}

}  // namespace

int repair(const LogOptions& options, const Surroundings& surroundings) {
    check_directory(options.directory, surroundings);
    const auto held = lock(options, surroundings);
    RepairReport report(surroundings.out);
    std::string open_segment;  // the last one that can be read, if it has no footer
    for_segment_files(surroundings.files, options.directory, [&](const SegmentFile& file) {
        if (file.reader != nullptr) {
            open_segment = file.reader->has_footer() ? "" : file.name;
        }
    });
    store::RecoveryReport recovery;
    static_cast<void>(store::recover_log(surroundings.files, options.directory, {}, recovery));
    for (const std::string& name : recovery.repaired) {
        report.add("rebuilt the header of " + name);
    }
    for (const std::string& name : recovery.renamed) {
        std::string line = "renamed ";
        report.add(line.append(name).append(", which cannot be read, to ").append(name).append(".damaged"));
    }
    if (!recovery.not_sealed.empty()) {
        throw Failure(exit_code::not_ok, recovery.not_sealed);
    }
    if (!recovery.left.empty()) {
        throw Failure(exit_code::not_ok, recovery.left.front());
    }
    if (!open_segment.empty()) {
        report.add("sealed " + open_segment + removed_text(recovery.truncated_bytes));
    }
    if (recovery.unnamed > 0) {
        report.add("kept samples of " + tail::counted(recovery.unnamed, "channel") +
                   " in the last segment, although the names are damaged");
    }
    rebuild_footers(options, surroundings, report);
    surroundings.files.sync_directory(options.directory);
    if (report.is_empty()) {
        report.add("nothing to repair");
    }
    return exit_code::ok;
}

}  // namespace telegate::log_tool
