#include "host/process_source.hpp"

#include "core/page_size.hpp"
#include "core/text.hpp"
#include "host/channel_names.hpp"
#include "host/proc_file.hpp"
#include "host/text_scan.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace telegate::host {
namespace {

/// About 300 entries of <proc>, which take a few milliseconds to check.
constexpr std::size_t piece_bytes = 8 * 1'024;

/// Exists on every machine and in every container, and belongs to a different user than a service.
constexpr std::uint32_t first_pid = 1;

bool is_procfs(const std::string& path) noexcept {
    struct statfs status {};
    return ::statfs(path.c_str(), &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

template <class Value, class Sum>
void add_sum(SampleBatch& batch, SampleBatch::Channel channel, const Sum& sum, std::int64_t count) {
    if (sum.parts > 0) {
        const bool is_whole = sum.parts == count && !sum.is_cut;
        batch.add(channel, Value{sum.value}, is_whole ? Quality::good : Quality::uncertain);
    }
}

// Numbers of the fields after the state: number 0 is field 4 in proc_pid_stat(5).
enum StatField : std::size_t {
    user_ticks = 10,
    system_ticks = 11,
    thread_count = 16,
    start = 18,
    resident = 20,
    stat_field_count = 21,
};

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) noexcept {
    const std::size_t open = text.find('(');
    const std::size_t close = text.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
        return std::nullopt;
    }
    ProcessStat stat;
    stat.name = text.substr(open + 1, close - open - 1);
    text.remove_prefix(close + 1);
    const std::string_view state = take_word(text);
    std::array<std::int64_t, stat_field_count> fields{};  // some are negative
    for (std::int64_t& field : fields) {
        const auto number = parse_number<std::int64_t>(take_word(text));
        if (!number) {
            return std::nullopt;
        }
        field = *number;
    }
    if (state.size() != 1) {
        return std::nullopt;
    }
    stat.state = state.front();
    stat.cpu_ticks = static_cast<std::uint64_t>(fields[user_ticks]) + static_cast<std::uint64_t>(fields[system_ticks]);
    stat.threads = fields[thread_count];
    stat.start_ticks = static_cast<std::uint64_t>(fields[start]);
    stat.resident_pages = fields[resident];
    return stat;
}

std::string_view program_of(std::string_view command_line) noexcept {
    const std::string_view path = command_line.substr(0, command_line.find('\0'));
    return path.substr(path.rfind('/') + 1);
}

ProcessSource::ProcessSource(const std::string& proc_root, const std::vector<std::string>& names)
    : ticks_per_second_(static_cast<double>(::sysconf(_SC_CLK_TCK))),
      tells_descriptors_(is_procfs(proc_root)),
      path_(proc_root + '/'),
      root_bytes_(path_.size()) {
    if (names.size() > names_max) {
        throw refused_option("processes", names[names_max], "one of at most " + std::to_string(names_max) + " names");
    }
    for (const std::string& name : names) {
        if (name.empty() || name.find('/') != std::string::npos) {
            throw refused_option("processes", name, "the name of a program, without its directory");
        }
        if (find_name(name) < names_.size()) {
            throw refused_option("processes", name, "listed only once");
        }
        names_.emplace_back().name = name;
    }
}

void ProcessSource::open(const Tick& tick) {
    if (names_.empty()) {
        return;
    }
    constexpr std::size_t part_bytes_max = 32;
    FreeNames free;
    for (Name& name : names_) {
        const std::string stem = free.claim("proc.", name.name, part_bytes_max) + '.';
        name.count_channel = tick.batch.add_channel(stem + "count", "1");
        name.rss_channel = tick.batch.add_channel(stem + "rss", "By");
        name.cpu_channel = tick.batch.add_channel(stem + "cpu", "%");
        name.descriptors_channel = tick.batch.add_channel(stem + "descriptors", "1");
        name.threads_channel = tick.batch.add_channel(stem + "threads", "1");
    }
    left_out_channel_ = tick.batch.add_channel("proc.left_out", "1");
    state_channel_ = tick.batch.add_channel("proc.state", "");
    constexpr std::size_t pid_path_bytes = 32;
    path_.reserve(path_.size() + pid_path_bytes);
    processes_.clear();
    processes_.reserve(processes_max);
    pass_.close();
    reads_before_pass_ = 0;
    do {
        scan(tick);
    } while (pass_.is_open());
}

void ProcessSource::read(const Tick& tick) {
    if (names_.empty()) {
        return;
    }
    scan(tick);
    for (Name& name : names_) {
        name.count = 0;
        name.rss_bytes = {};
        name.cpu_percent = {};
        name.descriptors = {};
        name.threads = {};
    }
    descriptors_counted_ = 0;
    const auto gone =
        std::remove_if(processes_.begin(), processes_.end(), [&](Process& process) { return !measure(tick, process); });
    if (gone != processes_.end()) {
        processes_.erase(gone, processes_.end());
        reads_before_pass_ = 0;  // another process may have taken its place
    }
    add_samples(tick);
}

void ProcessSource::reset() noexcept {
    for (Process& process : processes_) {
        process.has_reading = false;
    }
}

void ProcessSource::scan(const Tick& tick) {
    if (!pass_.is_open()) {
        if (reads_before_pass_ > 0) {
            --reads_before_pass_;
            return;
        }
        reads_before_pass_ = scan_ticks - 1;
        are_hidden_ = !stat_of(first_pid, tick.buffer);
        path_.resize(root_bytes_);
        if (!pass_.open(path_.c_str())) {
            left_out_last_.reset();
            return;
        }
        pids_seen_ = 0;
        left_out_ = 0;
    }
    const std::span<char> texts = tick.buffer.subspan(piece_bytes);
    const DirectoryNames::Step step = pass_.next(tick.buffer.first(piece_bytes), [&](std::string_view name) {
        const auto pid = parse_number<std::uint32_t>(name);
        if (!pid) {
            return;
        }
        if (pids_seen_ == pids_max) {
            ++left_out_;
            return;
        }
        ++pids_seen_;
        read_process(*pid, texts);
    });
    if (step == DirectoryNames::Step::end) {
        left_out_last_ = left_out_;
    } else if (step == DirectoryNames::Step::failed) {
        left_out_last_.reset();
    }
}

void ProcessSource::read_process(std::uint32_t pid, std::span<char> buffer) {
    const auto stat = stat_of(pid, buffer);
    const std::size_t name = stat ? name_of(stat->name, pid, buffer.subspan(buffer.size() / 2)) : names_.size();
    const auto known =
        std::find_if(processes_.begin(), processes_.end(), [&](const Process& process) { return process.pid == pid; });
    if (known != processes_.end()) {
        if (name == names_.size()) {  // the process has another program or name now
            processes_.erase(known);
        } else {
            known->name = name;  // measure() detects whether it is still the same process
        }
        return;
    }
    if (name == names_.size()) {
        return;
    }
    if (processes_.size() == processes_max) {
        ++left_out_;
        return;
    }
    Process process;
    process.pid = pid;
    process.name = name;
    process.start_ticks = stat->start_ticks;
    processes_.push_back(process);
}

bool ProcessSource::measure(const Tick& tick, Process& process) {
    const auto stat = stat_of(process.pid, tick.buffer);
    if (!stat) {
        return false;
    }
    if (stat->start_ticks != process.start_ticks) {
        return false;  // another process has this PID; the next pass checks which one
    }
    Name& name = names_[process.name];
    ++name.count;
    name.rss_bytes.add(stat->resident_pages * static_cast<std::int64_t>(page_bytes));
    name.threads.add(stat->threads);
    const double seconds = std::chrono::duration<double>(tick.now - process.time).count();
    if (process.has_reading && seconds > 0.0 && stat->cpu_ticks >= process.cpu_ticks) {
        const auto ticks = static_cast<double>(stat->cpu_ticks - process.cpu_ticks);
        name.cpu_percent.add(ticks * 100.0 / ticks_per_second_ / seconds);
    }
    process.cpu_ticks = stat->cpu_ticks;
    process.time = tick.now;
    process.has_reading = true;
    count_descriptors(tick, process.pid, name);
    return true;
}

void ProcessSource::count_descriptors(const Tick& tick, std::uint32_t pid, Name& name) {
    const char* const path = path_of(pid, "/fd");
    struct stat status {};
    if (tells_descriptors_ && ::stat(path, &status) == 0 && status.st_size > 0) {  // since Linux 6.2
        name.descriptors.add(status.st_size);
        return;
    }
    DirectoryNames directory;
    if (!directory.open(path)) {  // usually a process of another user
        return;
    }
    std::int64_t count = 0;
    auto step = DirectoryNames::Step::more;
    while (step == DirectoryNames::Step::more && descriptors_counted_ + count < descriptors_max) {
        step = directory.next(tick.buffer, [&](std::string_view) { ++count; });
    }
    descriptors_counted_ += count;
    if (step != DirectoryNames::Step::failed) {
        name.descriptors.add(count);
        name.descriptors.is_cut |= step == DirectoryNames::Step::more;
    }
}

void ProcessSource::add_samples(const Tick& tick) const {
    if (are_hidden_) {  // then the count is incomplete
        tick.batch.add(state_channel_, std::string_view("hidden by hidepid (ProtectProc)"), Quality::bad);
        return;
    }
    tick.batch.add(state_channel_, std::string_view("visible"));
    for (const Name& name : names_) {
        tick.batch.add(name.count_channel, name.count);
        add_sum<std::int64_t>(tick.batch, name.rss_channel, name.rss_bytes, name.count);
        add_sum<double>(tick.batch, name.cpu_channel, name.cpu_percent, name.count);
        add_sum<std::int64_t>(tick.batch, name.descriptors_channel, name.descriptors, name.count);
        add_sum<std::int64_t>(tick.batch, name.threads_channel, name.threads, name.count);
    }
    if (left_out_last_) {
        tick.batch.add(left_out_channel_, *left_out_last_);
    }
}

std::size_t ProcessSource::name_of(std::string_view name, std::uint32_t pid, std::span<char> buffer) {
    const std::size_t index = find_name(name);
    if (index < names_.size()) {
        return index;
    }
    return find_name(program_of(file_text(path_of(pid, "/cmdline"), buffer).value_or("")));
}

std::size_t ProcessSource::find_name(std::string_view name) const noexcept {
    const auto found = std::find_if(names_.begin(), names_.end(), [&](const Name& each) { return each.name == name; });
    return static_cast<std::size_t>(found - names_.begin());
}

const char* ProcessSource::path_of(std::uint32_t pid, std::string_view file) {
    std::array<char, 10> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), pid);
    path_.resize(root_bytes_);
    path_.append(digits.data(), end).append(file);
    return path_.c_str();
}

std::optional<ProcessStat> ProcessSource::stat_of(std::uint32_t pid, std::span<char> buffer) {
    const auto text = file_text(path_of(pid, "/stat"), buffer.first(buffer.size() / 2));
    const auto stat = text ? parse_process_stat(*text) : std::nullopt;
    return stat && !stat->is_over() ? stat : std::nullopt;
}

}  // namespace telegate::host
