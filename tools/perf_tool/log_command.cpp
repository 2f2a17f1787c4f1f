#include "command.hpp"
#include "footprint/scratch.hpp"
#include "log/data_sets.hpp"
#include "log/stores.hpp"
#include "process_figures.hpp"
#include "system.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace telegate::perf {

namespace {

constexpr double mebibyte = 1'048'576;
constexpr const char* log_name = "log";

struct LogOptions {
    std::vector<std::string> data{"process"};
    std::size_t channels = 1'000;
    std::uint64_t samples = 200'000;  // that each store gets
    double hours = 0.1;               // of the log that is recovered and queried
};

/// Wall and CPU time of calls.
class Stopwatch {
  public:
    template <class Call>
    void measure(const Call& call) {
        const auto began = std::chrono::steady_clock::now();
        const double cpu_began_ns = cpu_ns_of(CLOCK_THREAD_CPUTIME_ID);
        call();
        cpu_ns_ += cpu_ns_of(CLOCK_THREAD_CPUTIME_ID) - cpu_began_ns;
        seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    }
    void subtract(const Stopwatch& part) noexcept {
        seconds_ -= part.seconds_;
        cpu_ns_ -= part.cpu_ns_;
    }
    [[nodiscard]] double seconds() const noexcept { return seconds_; }
    [[nodiscard]] double cpu_ns() const noexcept { return cpu_ns_; }
    [[nodiscard]] double cpu_seconds() const noexcept { return cpu_ns_ / 1e9; }

  private:
    double seconds_ = 0;
    double cpu_ns_ = 0;
};

double number(std::uint64_t count) {
    return static_cast<double>(count);
}

double bytes_in(const std::string& folder) {
    double bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        bytes += static_cast<double>(file.file_size());
    }
    return bytes;
}

/// The ticks of a data set.
struct Work {
    DataSet set;
    std::size_t channels = 0;
    std::uint64_t ticks = 0;

    [[nodiscard]] double samples() const noexcept { return number(channels * ticks); }
};

void require_equal(bool is_equal) {
    if (!is_equal) {
        throw std::runtime_error("a sample that was read differs from the one that was written");
    }
}

struct Appended {
    Stopwatch time;
    double heap_bytes_max = 0;
};

/// Appends everything, with a sync for each second of writing.
Appended append(SampleStore& store, const Work& work) {
    Appended appended;
    std::vector<TelemetrySample> samples(work.channels);
    const double heap_before = number(bytes_allocated());
    double synced_seconds = 0;
    for (std::uint64_t tick = 0; tick < work.ticks; ++tick) {
        make_tick(work.set, tick, samples);
        appended.time.measure([&] {
            store.append(samples);
            if (tick + 1 == work.ticks || appended.time.seconds() - synced_seconds >= 1.0) {
                store.sync();
                synced_seconds = appended.time.seconds();
            }
        });
        appended.heap_bytes_max = std::max(appended.heap_bytes_max, number(bytes_allocated()) - heap_before);
    }
    return appended;
}

/// Reads all samples and compares them with the appended ones. Returns the time without that of the comparison.
Stopwatch read_all(SampleStore& store, const Work& work) {
    std::vector<TelemetrySample> expected(work.channels);
    std::uint64_t next = 0;
    Stopwatch whole;
    Stopwatch comparing;
    const auto compare = [&](std::span<const TelemetrySample> samples) {
        for (const TelemetrySample& sample : samples) {
            const std::uint64_t channel = next % work.channels;
            if (channel == 0) {
                make_tick(work.set, next / work.channels, expected);
            }
            require_equal(equal(sample, expected[channel]));
            ++next;
        }
    };
    whole.measure([&] {
        store.read([&](std::span<const TelemetrySample> samples) { comparing.measure([&] { compare(samples); }); });
    });
    require_equal(next == work.channels * work.ticks);
    whole.subtract(comparing);
    return whole;
}

/// Reads a channel from this tick on and compares its samples with the appended ones. Returns the time of both.
Stopwatch read_channel(SampleStore& store, const Work& work, std::uint64_t first_tick) {
    const std::size_t channel = work.channels / 2;
    const auto utc_of = [&](std::uint64_t tick) {
        return first_utc_ns + static_cast<std::int64_t>(tick) * tick_ns;
    };
    std::uint64_t next = first_tick;
    Stopwatch time;
    time.measure([&] {
        store.read_channel(channel, utc_of(first_tick), utc_of(work.ticks),
                           [&](std::span<const TelemetrySample> samples) {
                               for (const TelemetrySample& sample : samples) {
                                   require_equal(equal(sample, sample_of(work.set, channel, next++)));
                               }
                           });
    });
    require_equal(next == work.ticks);
    return time;
}

/// Measures one store; the log has goals.
void measure_store(Section& section, const std::string& name, const Work& work,
                   const std::function<std::unique_ptr<SampleStore>(const std::string& folder)>& open) {
    const ScratchFolder folder;
    const bool has_goals = name == log_name;
    const auto goal = [&](const Goal& of_log) {
        return has_goals ? of_log : Goal{};
    };
    std::unique_ptr<SampleStore> store = open(folder.path());
    const Appended appended = append(*store, work);
    const Stopwatch read = read_all(*store, work);
    const Stopwatch channel = read_channel(*store, work, 0);
    store.reset();
    section.add("append " + name + ", samples/s", work.samples() / appended.time.seconds(), goal(Goal::at_least(5e6)));
    section.add("append " + name + ", CPU ns/sample", appended.time.cpu_ns() / work.samples(),
                goal(Goal::at_most(120)));
    section.add("memory of " + name + ", MiB", appended.heap_bytes_max / mebibyte, goal(Goal::at_most(4)));
    section.add("size of " + name + ", bytes/sample", bytes_in(folder.path()) / work.samples(),
                goal(Goal::at_most(work.set.bytes_goal)));
    section.add("read " + name + ", samples/s of CPU time", work.samples() / read.cpu_seconds(),
                goal(Goal::at_least(15e6)));
    section.add("read a channel of " + name + ", CPU ms", channel.cpu_seconds() * 1e3);
}

/// Measures a log of hours whose process was killed. It is written once per second, as the gateway does at this rate.
void measure_hours(Section& section, const LogOptions& options, const DataSet& set) {
    const std::uint64_t hour_ticks = 3'600 * ticks_per_second;
    const Work work{set, options.channels,
                    std::max<std::uint64_t>(1, static_cast<std::uint64_t>(options.hours * number(hour_ticks)))};
    const ScratchFolder folder;
    const std::size_t samples_per_second = std::min(work.channels * ticks_per_second, log_samples_pending_max);
    (void)append(*open_log(folder.path(), work.channels, samples_per_second), work);  // it is not closed
    std::unique_ptr<SampleStore> log;
    Stopwatch recovery;
    recovery.measure([&] { log = open_log(folder.path(), work.channels); });
    section.add("size of all hours, MiB", bytes_in(folder.path()) / mebibyte);
    section.add("recovery, ms", recovery.seconds() * 1e3, Goal::at_most(100));
    section.add("read a channel of the last hour, CPU ms",
                read_channel(*log, work, work.ticks - std::min(work.ticks, hour_ticks)).cpu_seconds() * 1e3,
                Goal::at_most(50));
    const double heap_before = number(bytes_allocated());
    section.add("read all hours, samples/s", work.samples() / read_all(*log, work).seconds());
    section.add("memory in use after reading, MiB", (number(bytes_allocated()) - heap_before) / mebibyte);
}

/// Returns the bytes written to the disk with a folder by all processes, if the kernel counts them.
double bytes_to_disk(const std::string& folder) {
    struct stat status {};
    checked(::stat(folder.c_str(), &status), "stat");
    std::ifstream file("/sys/dev/block/" + std::to_string(major(status.st_dev)) + ":" +
                       std::to_string(minor(status.st_dev)) + "/stat");
    constexpr double sector_bytes = 512;
    constexpr int fields_to_sectors_written = 7;
    double field = 0;
    for (int fields = 0; fields < fields_to_sectors_written; ++fields) {
        file >> field;
    }
    return field * sector_bytes;
}

/// Measures how much is written to the disk at 1,000 samples/s, in simulated time. The gateway writes the log once per
/// second.
void measure_flash(Section& section, const DataSet& set, std::uint64_t sync_seconds, double goal_gb) {
    constexpr std::size_t channels = 100;
    constexpr std::uint64_t syncs = 20;
    constexpr double bytes_per_gb = 1e9;
    const double days = number(syncs * sync_seconds) / 86'400;
    const ScratchFolder folder;
    const auto written = [&] {
        return std::pair{number(number_after(content_of("/proc/self/io"), "write_bytes").value_or(0)),
                         bytes_to_disk(folder.path())};
    };
    const auto log = open_log(folder.path(), channels, channels * ticks_per_second);
    std::vector<TelemetrySample> samples(channels);
    const auto before = written();
    for (std::uint64_t tick = 0; tick < syncs * sync_seconds * ticks_per_second; ++tick) {
        make_tick(set, tick, samples);
        log->append(samples);
        if ((tick + 1) % (sync_seconds * ticks_per_second) == 0) {
            log->sync();
        }
    }
    const auto after = written();
    const std::string unit = ", " + std::to_string(sync_seconds) + " s sync, GB/day";
    section.add("pages" + unit, (after.first - before.first) / days / bytes_per_gb, Goal::at_most(goal_gb));
    section.add("all disk writes" + unit, (after.second - before.second) / days / bytes_per_gb);
}

/// Adds the ratios of the other stores to the log.
void add_ratios(Report& report, const std::string& set, const Section& section) {
    for (const OtherStore& other : other_stores()) {
        const auto compare = [&](std::string_view before, std::string_view after) {
            const auto name_of = [&](std::string_view store) {
                return std::string(before).append(store).append(after);
            };
            report.add_ratio((set + ": ").append(name_of(other.name)), find_row(section.rows, name_of(other.name)),
                             find_row(section.rows, name_of(log_name)));
        };
        compare("append ", ", CPU ns/sample");
        compare("size of ", ", bytes/sample");
        compare("read a channel of ", ", CPU ms");
    }
}

void measure(const LogOptions& options, Steps& steps, Report& report) {
    report = {log_name, ""};
    report.ratios_heading = "other stores over the log, run by run";
    report.parameters = {{"folder", std::filesystem::temp_directory_path().string() + " (TMPDIR)"}};
    steps.expect(steps.runs() * options.data.size());
    for (std::size_t run = 0; run < steps.runs(); ++run) {
        for (const DataSet& set : data_sets()) {
            if (!contains(options.data, set.name)) {
                continue;
            }
            steps.next(set.name);
            const Work work{set, options.channels, std::max<std::uint64_t>(1, options.samples / options.channels)};
            Section& stores = report.section(set.name, "all stores");
            measure_store(stores, log_name, work,
                          [&](const std::string& folder) { return open_log(folder, options.channels); });
            for (const OtherStore& other : other_stores()) {
                steps.check();
                measure_store(stores, other.name, work, other.open);
            }
            measure_hours(report.section(set.name + ", hours", log_name), options, set);
            Section& flash = report.section(set.name + ", flash", log_name);
            measure_flash(flash, set, 1, 2.0);
            measure_flash(flash, set, 10, 0.5);
        }
    }
    for (const DataSet& set : data_sets()) {
        if (const auto found = std::ranges::find(report.sections, set.name, &Section::title);
            found != report.sections.end()) {
            add_ratios(report, set.name, *found);
        }
    }
}

void add_options(CLI::App& app, LogOptions& chosen) {
    app.add_option("--data", chosen.data, "Data sets")->check(CLI::IsMember({"process", "counters", "noise"}));
    app.add_option("--channels", chosen.channels, "Channels")->check(CLI::Range(1, 65'536));
    app.add_option("--samples", chosen.samples, "Samples for each store")->check(CLI::Range(1, 1'000'000'000));
    app.add_option("--hours", chosen.hours, "Hours of samples in the log that is recovered and queried")
        ->check(CLI::Range(0.0, 1'000.0));
}

}  // namespace

Command::Action describe_log_command(CLI::App& app) {
    return make_action<LogOptions>(app, add_options, measure);
}

}  // namespace telegate::perf
