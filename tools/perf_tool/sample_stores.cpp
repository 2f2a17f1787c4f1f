#include "sample_stores.hpp"

#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "store/log_reader.hpp"
#include "store/sample_log.hpp"
#include "system.hpp"

#ifdef TELEGATE_SQLITE
#include <sqlite3.h>
#endif

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace telegate::perf {

namespace {

constexpr const char* device_name = "perf";
constexpr std::int64_t first_mono_ns = 5'000'000'000'000;

/// Returns a number that looks random: the finalizer of SplitMix64.
constexpr std::uint64_t mixed(std::uint64_t number) noexcept {
    number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9;
    number = (number ^ (number >> 27U)) * 0x94D049BB133111EB;
    return number ^ (number >> 31U);
}
constexpr std::uint64_t mixed(std::uint64_t one, std::uint64_t other) noexcept {
    return mixed(one * 0x9E3779B97F4A7C15 + mixed(other + 1));
}

void set_real(TelemetrySample& sample, double value) noexcept {
    sample.type = ValueType::real;
    sample.value.real = value;
}
void set_integer(TelemetrySample& sample, std::uint64_t value) noexcept {
    sample.type = ValueType::integer;
    sample.value.integer = static_cast<std::int64_t>(value);
}

/// Temperatures and pressures in steps of 0.01: slow waves with the noise of a converter.
void set_process_value(TelemetrySample& sample, std::size_t channel, std::uint64_t tick, std::uint64_t random) {
    const double period = 6'000.0 + 37.0 * static_cast<double>(channel);
    const double wave = 4'000.0 * std::sin(2 * std::numbers::pi * static_cast<double>(tick) / period);
    const double noise = random % 8 == 0 ? 1.0 : 0.0;
    set_real(sample, (std::round(wave) + noise + 5'000.0) / 100.0);
}

/// Counters of bytes and of events, shares in steps of 0.1 that change every 6.4 s, and states.
void set_counter(TelemetrySample& sample, std::size_t channel, std::uint64_t tick, std::uint64_t random) {
    constexpr std::uint64_t rate = 1'500;
    constexpr std::uint64_t steps = 64;
    switch (channel % 4) {
        case 0: return set_integer(sample, tick * rate + random % rate);
        case 1: return set_integer(sample, channel + tick);
        case 2: return set_real(sample, static_cast<double>(mixed(channel, tick / steps) % 1'000) / 10.0);
        default: break;
    }
    sample.type = ValueType::boolean;
    sample.value.boolean = mixed(channel, tick / steps) % 2 == 1;
}

/// All 52 bits of the fraction are random.
void set_noise(TelemetrySample& sample, std::size_t /*channel*/, std::uint64_t /*tick*/, std::uint64_t random) {
    set_real(sample, static_cast<double>(random >> 11U) * 0x1p-53);
}

ChannelTable& add_channels(ChannelTable& table, std::size_t channels) {
    for (std::size_t channel = 0; channel < channels; ++channel) {
        (void)table.add(DeviceId{0}, device_name, "c" + std::to_string(channel), "1");
    }
    return table;
}

class LogStore final : public SampleStore {
  public:
    LogStore(const std::string& folder, std::size_t channels, std::size_t pending_max)
        : folder_(folder),
          pending_max_(pending_max),
          log_({files_, add_channels(table_, channels), clock_}, options(folder)) {}

    void append(std::span<const TelemetrySample> samples) override {
        log_.append(samples);
        appended_ += samples.size();
        if (appended_ >= pending_max_) {
            appended_ = 0;
            log_.write();
        }
        if (!log_.has_capacity()) {
            log_.sync();
        }
    }
    void sync() override { log_.sync(); }
    void read(const Each& each) override {
        store::LogReader reader(files_, folder_);
        store::LogBatch batch;
        while (reader.next(batch)) {
            if (!batch.gaps.empty()) {
                throw std::runtime_error("the log names samples that are missing");
            }
            each(batch.samples);
        }
    }
    void read_channel(std::size_t channel, std::int64_t since_ns, std::int64_t until_ns, const Each& each) override {
        store::LogReader reader(files_, folder_);
        reader.select({table_.at(static_cast<ChannelId>(channel)).topic, since_ns, until_ns});
        reader.seek_time(since_ns);
        store::LogBatch batch;
        while (reader.next(batch)) {
            each(batch.samples);
        }
    }

  private:
    static store::SampleLog::Options options(const std::string& folder) {
        return {folder, 1, {}, {0, 0, 0, store::WhenFull::drop_oldest}};
    }

    const std::string folder_;
    const std::size_t pending_max_;
    store::FileSystem& files_ = store::real_file_system();
    ChannelTable table_;
    const SystemClock clock_;
    store::SampleLog log_;
    std::size_t appended_ = 0;  // since the last write
};

/// Samples as they are in memory.
class RowStore final : public SampleStore {
  public:
    explicit RowStore(const std::string& folder)
        : file_(checked(::open((folder + "/rows").c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600), "open")) {}

    void append(std::span<const TelemetrySample> samples) override {
        const auto bytes = static_cast<ssize_t>(samples.size_bytes());
        if (checked(::write(file_.get(), samples.data(), samples.size_bytes()), "write") != bytes) {
            throw std::runtime_error("the disk is full");
        }
    }
    void sync() override { checked(::fdatasync(file_.get()), "fdatasync"); }
    void read(const Each& each) override {
        constexpr std::size_t rows = 16'384;
        std::vector<TelemetrySample> samples(rows);
        off_t at = 0;
        while (const ssize_t bytes =
                   checked(::pread(file_.get(), samples.data(), rows * sizeof(TelemetrySample), at), "pread")) {
            at += bytes;
            each(std::span(samples).first(static_cast<std::size_t>(bytes) / sizeof(TelemetrySample)));
        }
    }
    void read_channel(std::size_t channel, std::int64_t since_ns, std::int64_t until_ns, const Each& each) override {
        read([&](std::span<const TelemetrySample> samples) {
            for (const TelemetrySample& sample : samples) {
                if (to_index(sample.channel) == channel && sample.time_utc_ns >= since_ns &&
                    sample.time_utc_ns < until_ns) {
                    each({&sample, 1});
                }
            }
        });
    }

  private:
    const UniqueFd file_;
};

#ifdef TELEGATE_SQLITE

/// A table in write-ahead mode; what is appended between two calls of sync() is one transaction.
class SqliteStore final : public SampleStore {
  public:
    SqliteStore(const std::string& folder, bool has_index) {
        sqlite3* opened = nullptr;
        const int result = ::sqlite3_open((folder + "/samples.db").c_str(), &opened);
        database_.reset(opened);
        check(result);
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = FULL");
        run("CREATE TABLE samples (channel INTEGER, seq INTEGER, utc INTEGER, mono INTEGER, type INTEGER,"
            " quality INTEGER, flags INTEGER, value)");
        if (has_index) {
            run("CREATE INDEX by_channel ON samples (channel, utc)");
        }
        insert_ = prepare("INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
        run("BEGIN");
    }

    void append(std::span<const TelemetrySample> samples) override {
        sqlite3_stmt* const row = insert_.get();
        for (const TelemetrySample& sample : samples) {
            ::sqlite3_bind_int64(row, 1, to_index(sample.channel));
            ::sqlite3_bind_int64(row, 2, static_cast<std::int64_t>(sample.seq));
            ::sqlite3_bind_int64(row, 3, sample.time_utc_ns);
            ::sqlite3_bind_int64(row, 4, sample.time_mono_ns);
            ::sqlite3_bind_int(row, 5, static_cast<int>(sample.type));
            ::sqlite3_bind_int(row, 6, static_cast<int>(sample.quality));
            ::sqlite3_bind_int(row, 7, sample.flags);
            if (sample.type == ValueType::real) {
                ::sqlite3_bind_double(row, 8, sample.value.real);
            } else {
                ::sqlite3_bind_int64(
                    row, 8,
                    sample.type == ValueType::integer ? sample.value.integer : std::int64_t{sample.value.boolean});
            }
            if (::sqlite3_step(row) != SQLITE_DONE) {
                check(SQLITE_ERROR);
            }
            ::sqlite3_reset(row);
        }
    }
    void sync() override {
        run("COMMIT");
        run("BEGIN");
    }
    void read(const Each& each) override { select("SELECT * FROM samples ORDER BY rowid", each); }
    void read_channel(std::size_t channel, std::int64_t since_ns, std::int64_t until_ns, const Each& each) override {
        select("SELECT * FROM samples WHERE channel = " + std::to_string(channel) + " AND utc >= " +
                   std::to_string(since_ns) + " AND utc < " + std::to_string(until_ns) + " ORDER BY utc",
               each);
    }

  private:
    using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

    void check(int result) const {
        if (result != SQLITE_OK) {
            throw std::runtime_error(std::string("SQLite: ") + ::sqlite3_errmsg(database_.get()));
        }
    }
    void run(const char* text) const { check(::sqlite3_exec(database_.get(), text, nullptr, nullptr, nullptr)); }
    [[nodiscard]] Statement prepare(const std::string& text) const {
        sqlite3_stmt* statement = nullptr;
        check(::sqlite3_prepare_v2(database_.get(), text.c_str(), -1, &statement, nullptr));
        return {statement, ::sqlite3_finalize};
    }
    void select(const std::string& text, const Each& each) const {
        constexpr std::size_t rows = 1'024;
        const Statement statement = prepare(text);
        sqlite3_stmt* const row = statement.get();
        std::vector<TelemetrySample> samples;
        while (::sqlite3_step(row) == SQLITE_ROW) {
            TelemetrySample sample{};
            sample.channel = static_cast<ChannelId>(::sqlite3_column_int(row, 0));
            sample.seq = static_cast<std::uint64_t>(::sqlite3_column_int64(row, 1));
            sample.time_utc_ns = ::sqlite3_column_int64(row, 2);
            sample.time_mono_ns = ::sqlite3_column_int64(row, 3);
            sample.type = static_cast<ValueType>(::sqlite3_column_int(row, 4));
            sample.quality = static_cast<Quality>(::sqlite3_column_int(row, 5));
            sample.flags = static_cast<std::uint8_t>(::sqlite3_column_int(row, 6));
            if (sample.type == ValueType::real) {
                sample.value.real = ::sqlite3_column_double(row, 7);
            } else if (sample.type == ValueType::integer) {
                sample.value.integer = ::sqlite3_column_int64(row, 7);
            } else {
                sample.value.boolean = ::sqlite3_column_int(row, 7) == 1;
            }
            samples.push_back(sample);
            if (samples.size() == rows) {
                each(samples);
                samples.clear();
            }
        }
        each(samples);
    }

    std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_{nullptr, ::sqlite3_close};
    Statement insert_{nullptr, ::sqlite3_finalize};
};

template <bool has_index>
std::unique_ptr<SampleStore> open_sqlite(const std::string& folder) {
    return std::make_unique<SqliteStore>(folder, has_index);
}

#endif

std::unique_ptr<SampleStore> open_rows(const std::string& folder) {
    return std::make_unique<RowStore>(folder);
}

}  // namespace

std::vector<DataSet> data_sets() {
    return {{"process", 1.2, set_process_value}, {"counters", 3.0, set_counter}, {"noise", 8.0, set_noise}};
}

TelemetrySample sample_of(const DataSet& set, std::size_t channel, std::uint64_t tick) {
    constexpr std::size_t device_channels = 100;
    constexpr std::uint64_t lateness_ns = 50'000;
    constexpr std::int64_t device_ns = 200'000;
    const std::uint64_t device = channel / device_channels;
    TelemetrySample sample{};
    sample.time_mono_ns = first_mono_ns + static_cast<std::int64_t>(tick) * tick_ns +
                          static_cast<std::int64_t>(device) * device_ns +
                          static_cast<std::int64_t>(mixed(~device, tick) % lateness_ns);
    sample.time_utc_ns = sample.time_mono_ns + (first_utc_ns - first_mono_ns);
    sample.seq = tick + 1;
    sample.channel = static_cast<ChannelId>(channel);
    set.set_value(sample, channel, tick, mixed(channel, tick));
    return sample;
}

void make_tick(const DataSet& set, std::uint64_t tick, std::vector<TelemetrySample>& samples) {
    for (std::size_t channel = 0; channel < samples.size(); ++channel) {
        samples[channel] = sample_of(set, channel, tick);
    }
}

bool equal(const TelemetrySample& a, const TelemetrySample& b) noexcept {
    const auto value_of = [](const TelemetrySample& sample) {
        switch (sample.type) {
            case ValueType::real: return std::bit_cast<std::uint64_t>(sample.value.real);
            case ValueType::integer: return static_cast<std::uint64_t>(sample.value.integer);
            default: return std::uint64_t{sample.value.boolean};
        }
    };
    return a.time_utc_ns == b.time_utc_ns && a.time_mono_ns == b.time_mono_ns && a.seq == b.seq &&
           a.channel == b.channel && a.type == b.type && a.quality == b.quality && a.flags == b.flags &&
           value_of(a) == value_of(b);
}

std::unique_ptr<SampleStore> open_log(const std::string& folder, std::size_t channels, std::size_t pending_max) {
    return std::make_unique<LogStore>(folder, channels, pending_max);
}

std::vector<OtherStore> other_stores() {
    std::vector<OtherStore> stores{{"rows", open_rows}};
#ifdef TELEGATE_SQLITE
    stores.push_back({"sqlite", open_sqlite<false>});
    stores.push_back({"sqlite, index", open_sqlite<true>});
#endif
    return stores;
}

}  // namespace telegate::perf
