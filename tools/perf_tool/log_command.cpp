#include "command.hpp"
#include "sample_stores.hpp"
#include "system.hpp"

#include <array>
#include <filesystem>

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
        seconds_ += seconds_since(began);
    }
    void subtract(const Stopwatch& part) noexcept {
        seconds_ -= part.seconds_;
        cpu_ns_ -= part.cpu_ns_;
    }
    [[nodiscard]] double seconds() const noexcept { return seconds_; }
    [[nodiscard]] double cpu_ns() const noexcept { return cpu_ns_; }

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

using OpenStore = std::function<std::unique_ptr<SampleStore>(const std::string& folder)>;

/// Measures one store; the log has goals.
void measure_store(Report& report, const std::string& name, const Work& work, const OpenStore& open) {
    const ScratchFolder folder;
    const auto add = [&](const std::string& figure, double value, const Goal& of_log = {}) {
        report.add(work.set.name + ", all stores", figure, value, name == log_name ? of_log : Goal{});
    };
    std::unique_ptr<SampleStore> store = open(folder.path());
    const Appended appended = append(*store, work);
    const Stopwatch read = read_all(*store, work);
    const Stopwatch channel = read_channel(*store, work, 0);
    store.reset();
    add("append " + name + ", samples/s", work.samples() / appended.time.seconds(), Goal::at_least(5e6));
    add("append " + name + ", CPU ns/sample", appended.time.cpu_ns() / work.samples(), Goal::at_most(120));
    add("memory of " + name + ", MiB", appended.heap_bytes_max / mebibyte, Goal::at_most(4));
    add("size of " + name + ", bytes/sample", bytes_in(folder.path()) / work.samples(),
        Goal::at_most(work.set.bytes_goal));
    add("read " + name + ", samples/s of CPU time", work.samples() / read.cpu_ns() * 1e9, Goal::at_least(15e6));
    add("read a channel of " + name + ", CPU ms", channel.cpu_ns() / 1e6);
}

/// Measures a log of hours whose process was killed. It is written once per second, as the gateway does at this rate.
void measure_hours(Report& report, const LogOptions& options, const DataSet& set) {
    const std::uint64_t hour_ticks = 3'600 * ticks_per_second;
    const Work work{set, options.channels,
                    std::max<std::uint64_t>(1, static_cast<std::uint64_t>(options.hours * number(hour_ticks)))};
    const ScratchFolder folder;
    const std::string table = set.name + ", hours of the log";
    const std::size_t samples_per_second = std::min(work.channels * ticks_per_second, log_samples_pending_max);
    (void)append(*open_log(folder.path(), work.channels, samples_per_second), work);  // it is not closed
    std::unique_ptr<SampleStore> log;
    Stopwatch recovery;
    recovery.measure([&] { log = open_log(folder.path(), work.channels); });
    report.add(table, "size of all hours, MiB", bytes_in(folder.path()) / mebibyte);
    report.add(table, "recovery, ms", recovery.seconds() * 1e3, Goal::at_most(100));
    report.add(table, "read a channel of the last hour, CPU ms",
               read_channel(*log, work, work.ticks - std::min(work.ticks, hour_ticks)).cpu_ns() / 1e6,
               Goal::at_most(50));
    report.add(table, "read all hours, samples/s", work.samples() / read_all(*log, work).seconds());
}

/// Measures how many pages are written at 1,000 samples/s, in simulated time. The gateway writes the log once per
/// second.
void measure_flash(Report& report, const DataSet& set, std::uint64_t sync_seconds, double goal_gb) {
    constexpr std::size_t channels = 100;
    constexpr std::uint64_t syncs = 20;
    const ScratchFolder folder;
    const auto written = [] {
        return number(number_after(content_of("/proc/self/io"), "write_bytes").value_or(0));
    };
    const auto log = open_log(folder.path(), channels, channels * ticks_per_second);
    std::vector<TelemetrySample> samples(channels);
    const double before = written();
    for (std::uint64_t tick = 0; tick < syncs * sync_seconds * ticks_per_second; ++tick) {
        make_tick(set, tick, samples);
        log->append(samples);
        if ((tick + 1) % (sync_seconds * ticks_per_second) == 0) {
            log->sync();
        }
    }
    const double days = number(syncs * sync_seconds) / 86'400;
    report.add(set.name + ", pages written, GB/day", std::to_string(sync_seconds) + " s sync",
               (written() - before) / days / 1e9, Goal::at_most(goal_gb));
}

/// Adds the ratios of another store to the log.
void add_ratios(Report& report, const std::string& set, const std::string& other) {
    const std::array<std::pair<const char*, const char*>, 3> figures{
        {{"append ", ", CPU ns/sample"}, {"size of ", ", bytes/sample"}, {"read a channel of ", ", CPU ms"}}};
    for (const auto& [before, after] : figures) {
        report.add_ratio(set + ", other stores over the log, run by run", before + other + after,
                         {report.find(set + ", all stores", before + other + after),
                          report.find(set + ", all stores", before + std::string(log_name) + after)});
    }
}

Plan plan(const LogOptions& options, Report& report) {
    report.parameters.emplace_back("folder", std::filesystem::temp_directory_path().string() + " (TMPDIR)");
    Plan groups;
    for (const DataSet& set : data_sets()) {
        if (!contains(options.data, set.name)) {
            continue;
        }
        Group& group = groups.emplace_back(Group{set.name});
        const auto add_store = [&](const std::string& name, const OpenStore& open) {
            const Work work{set, options.channels, std::max<std::uint64_t>(1, options.samples / options.channels)};
            group.engines.push_back({name, [=, &report] {
                                         measure_store(report, name, work, open);
                                     }});
        };
        add_store(log_name, [=](const std::string& folder) { return open_log(folder, options.channels); });
        for (const OtherStore& other : other_stores()) {
            add_store(other.name, other.open);
        }
        group.engines.push_back({"hours", [=, &report] {
                                     measure_hours(report, options, set);
                                 }});
        group.engines.push_back({"flash", [=, &report] {
                                     measure_flash(report, set, 1, 2.0);
                                     measure_flash(report, set, 10, 0.5);
                                 }});
        group.finish = [=, &report] {
            for (const OtherStore& other : other_stores()) {
                add_ratios(report, set.name, other.name);
            }
        };
    }
    return groups;
}

void add_options(CLI::App& app, LogOptions& chosen) {
    app.add_option("--data", chosen.data, "Data sets")->check(CLI::IsMember({"process", "counters", "noise"}));
    app.add_option("--channels", chosen.channels, "Channels")->check(CLI::Range(1, 65'536));
    app.add_option("--samples", chosen.samples, "Samples for each store")->check(CLI::Range(1, 1'000'000'000));
    app.add_option("--hours", chosen.hours, "Hours of samples in the log that is recovered and queried")
        ->check(CLI::Range(0.0, 1'000.0));
}

}  // namespace

Planner describe_log_command(CLI::App& app) {
    return make_planner<LogOptions>(app, add_options, plan);
}

}  // namespace telegate::perf
