#include "durable/channel_read.hpp"
#include "durable/durable_log.hpp"
#include "durable/log_history.hpp"
#include "durable/sample_reader.hpp"
#include "gateway/durable/request_place.hpp"
#include "line/history.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/rounds.hpp"
#include "support/scratch_dir.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace telegate::test {
namespace {

using Result = SampleReader::Result;

/// The samples that were published in one epoch.
struct Published {
    std::vector<std::pair<ChannelId, std::uint64_t>> samples;  // by position: channel and number
    std::map<ChannelId, std::uint64_t> last_seqs;              // published or dropped
    std::vector<SampleGap> dropped;                            // before publication
};

enum class Logged : std::uint8_t { all, without_c };

/// One run of a gateway's pump, history and log, without the rest.
struct Run {
    Run(const std::string& directory, std::int64_t epoch, std::size_t history_samples, std::uint64_t bytes_max,
        Logged logged = Logged::all)
        : epoch_ms(epoch), history(history_samples * sizeof(TelemetrySample)), text(channels, epoch) {
        DurableLogOptions options{directory};
        ids = {*channels.add(DeviceId{0}, "device", "a", "Cel"), *channels.add(DeviceId{0}, "device", "b", "Cel"),
               *channels.add(DeviceId{1}, "other", "c", "Cel")};
        if (logged == Logged::without_c) {
            options.devices = {"dev*"};
        }
        options.limits.bytes_max = bytes_max;
        options.sync_interval = std::chrono::milliseconds(5);
        durable = std::make_unique<DurableLog>(DurableLog::Parts{channels,
                                                                 clock,
                                                                 log,
                                                                 epoch,
                                                                 {},
                                                                 [] {
                                                                 }},
                                               options);
        log_history = std::make_unique<LogHistory>(LogHistory::Parts{history, *durable, directory, text, log});
    }
    ~Run() { stop(); }
    void stop() {
        log_history->close();
        durable->close();
    }

    void publish(std::mt19937& random, std::size_t count) {
        std::vector<TelemetrySample> batch;
        for (std::size_t i = 0; i < count; ++i) {
            const ChannelId channel = ids[random() % 100 == 0 ? 0 : 1 + random() % 2];
            if (random() % 1'000 == 0) {
                consume(batch);
                drop(channel, 1 + random() % 5);
            }
            TelemetrySample sample{};
            sample.channel = channel;
            sample.seq = ++published.last_seqs[channel];
            sample.type = ValueType::real;
            sample.value.real = static_cast<double>(random());  // does not compress, so that segments fill
            sample.time_utc_ns = 1'000'000'000 + static_cast<std::int64_t>(published.samples.size());
            published.samples.emplace_back(channel, sample.seq);
            batch.push_back(sample);
            if (batch.size() == 256) {
                consume(batch);
            }
        }
        consume(batch);
    }
    void consume(std::vector<TelemetrySample>& batch) {
        if (!batch.empty()) {
            history.consume(batch);
            durable->consume(batch);
            batch.clear();
        }
    }
    void drop(ChannelId channel, std::uint64_t count) {
        std::uint64_t& last = published.last_seqs[channel];
        const SampleGap gap{channel, last + 1, last + count, DropReason::queue_overflow};
        durable->gap(gap);
        published.dropped.push_back(gap);
        last += count;
    }
    [[nodiscard]] SampleSources sources() { return {history, text, log_history.get()}; }

    const std::int64_t epoch_ms;
    SystemClock clock;
    Log log{"off"};
    ChannelTable channels;
    std::vector<ChannelId> ids;
    History history;
    SampleText text;
    std::unique_ptr<DurableLog> durable;
    std::unique_ptr<LogHistory> log_history;
    Published published;
};

/// Reads everything starting at a position and checks it against what was published.
class Checker {
  public:
    Checker(SampleSources sources, const Published& published, const SampleReader::Start& start)
        : published_(published), position_(start.position), reader_(sources, {}, start, [] {}) {
        for (std::size_t i = 0; i < position_; ++i) {
            const auto& [channel, seq] = published.samples.at(i);
            last_seqs_[channel] = seq;
        }
    }

    Result read() {
        const Result result = reader_.read(page_);
        if (result == Result::page) {
            check();
        }
        return result;
    }
    /// `flush` lets the log report what it has lost, as the pump does.
    Result read_to_end(const std::function<void()>& flush = [] {}) {
        Result result = Result::page;
        REQUIRE(eventually([&] {
            flush();
            result = read();
            return result != Result::page && result != Result::waiting && result != Result::late;
        }));
        return result;
    }
    /// Checks that every sample was returned or is in a gap.
    void check_all() {
        CHECK(position_ == published_.samples.size());
        CHECK(returned_ + missing_ + left_out_ + first_ == published_.samples.size());
    }
    /// Allows the log to leave out samples of this channel.
    void leave_out(ChannelId channel) { unlogged_ = channel; }
    [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
    [[nodiscard]] std::uint64_t last_left_out() const noexcept { return last_left_out_; }
    /// Returns how many samples of other channels were at the places of those that the log omits.
    [[nodiscard]] std::uint64_t misplaced() const noexcept { return misplaced_; }
    void record_start(std::uint64_t position) { first_ = position; }
    [[nodiscard]] std::uint64_t missing() const noexcept { return missing_; }
    [[nodiscard]] std::uint64_t returned() const noexcept { return returned_; }

  private:
    void check() {
        std::size_t gap = 0;
        std::size_t hole = 0;
        for (std::size_t i = 0; i <= page_.samples.size(); ++i) {
            for (; gap < page_.gaps.size() && page_.gaps[gap].before_sample == i; ++gap) {
                check_gap(page_.gaps[gap].gap);
            }
            for (; hole < page_.missing.size() &&
                   (i == page_.samples.size() || page_.missing[hole].first < page_.positions[i]);
                 ++hole) {
                check_missing(page_.missing[hole]);
            }
            if (i < page_.samples.size()) {
                check_sample(page_.samples[i], page_.positions[i]);
            }
        }
        pass(page_.end_position);
        REQUIRE(position_ == page_.end_position);
    }
    void pass(std::uint64_t position) {
        for (; page_.is_from_log && unlogged_ && position_ < position; ++position_) {
            const auto& [channel, seq] = published_.samples.at(static_cast<std::size_t>(position_));
            last_seqs_[channel] = std::max(last_seqs_[channel], seq);
            ++left_out_;
            last_left_out_ = position_;
            misplaced_ += channel == *unlogged_ ? 0U : 1U;
        }
    }
    void check_gap(const store::LogGap& gap) {
        std::uint64_t& last = last_seqs_[gap.channel];
        check_unnamed(gap.channel, last + 1, gap.first_seq);
        last = std::max(last, gap.last_seq);
    }
    void check_missing(const SamplePage::Missing& missing) {
        pass(missing.first);
        REQUIRE(missing.first == position_);
        missing_ += missing.last - missing.first + 1;
        for (; position_ <= missing.last; ++position_) {
            const auto& [channel, seq] = published_.samples.at(static_cast<std::size_t>(position_));
            last_seqs_[channel] = std::max(last_seqs_[channel], seq);
        }
    }
    void check_sample(const TelemetrySample& sample, std::uint64_t position) {
        pass(position);
        REQUIRE(position == position_);
        REQUIRE(published_.samples.at(static_cast<std::size_t>(position)) == std::pair(sample.channel, sample.seq));
        std::uint64_t& last = last_seqs_[sample.channel];
        REQUIRE(sample.seq > last);
        check_unnamed(sample.channel, last + 1, sample.seq);
        last = sample.seq;
        ++position_;
        ++returned_;
    }
    /// The numbers that are in no gap were dropped before they were published.
    void check_unnamed(ChannelId channel, std::uint64_t first, std::uint64_t end) {
        for (; first < end; ++first) {
            REQUIRE(std::any_of(published_.dropped.begin(), published_.dropped.end(), [&](const SampleGap& gap) {
                return gap.channel == channel && gap.first_seq <= first && first <= gap.last_seq;
            }));
        }
    }

    const Published& published_;
    std::uint64_t first_ = 0;
    std::uint64_t position_;
    SampleReader reader_;
    SamplePage page_;
    std::map<ChannelId, std::uint64_t> last_seqs_;
    std::optional<ChannelId> unlogged_;
    std::uint64_t returned_ = 0;
    std::uint64_t missing_ = 0;
    std::uint64_t left_out_ = 0;
    std::uint64_t misplaced_ = 0;
    std::uint64_t last_left_out_ = 0;
};

constexpr std::uint64_t no_limit = 0;

/// Reads one channel and checks that its samples and gaps are all numbers from 1, once and in order.
class ChannelChecker {
  public:
    ChannelChecker(const SampleSources& sources, const std::string& topic)
        : read_(sources, {{topic}, sources.text.epoch_ms()}, [this](const ChannelPart& part) {
              check(part);
              return true;
          }) {}

    bool step() { return read_.step(); }
    [[nodiscard]] std::uint64_t last_seq() const noexcept { return last_seq_; }
    [[nodiscard]] std::uint64_t missing(store::GapReason reason) { return missing_[reason]; }
    [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }

  private:
    void check(const ChannelPart& part) {
        std::size_t gap = 0;
        for (std::size_t i = 0; i <= part.samples.size(); ++i) {
            for (; gap < part.gaps.size() && part.gaps[gap].before_sample == i; ++gap) {
                const store::LogGap& each = part.gaps[gap].gap;
                REQUIRE(each.first_seq == last_seq_ + 1);
                last_seq_ = each.last_seq;
                missing_[each.reason] += each.last_seq - each.first_seq + 1;
            }
            if (i < part.samples.size()) {
                REQUIRE(part.samples[i].seq == last_seq_ + 1);
                last_seq_ = part.samples[i].seq;
                ++samples_;
            }
        }
        REQUIRE(gap == part.gaps.size());
    }

    std::uint64_t last_seq_ = 0;
    std::uint64_t samples_ = 0;
    std::map<store::GapReason, std::uint64_t> missing_;
    ChannelRead read_;
};

std::uint64_t last_published(const Run& run, ChannelId channel) {
    std::uint64_t last = 0;
    for (const auto& [id, seq] : run.published.samples) {
        last = id == channel ? seq : last;
    }
    return last;
}

}  // namespace

TEST_CASE("readers get each sample once and in order from log and history, while both move on", "[gateway][durable]") {
    const unsigned seed = GENERATE(range(0U, rounds(6U)));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const ScratchDir scratch;
    const std::uint64_t bytes_max = random() % 2 == 0 ? no_limit : 300'000;
    const Logged logged = GENERATE(Logged::all, Logged::without_c);
    Run run(scratch.path("log"), 1'000, 64 + random() % 2'000, bytes_max, logged);
    std::vector<std::unique_ptr<Checker>> readers;
    for (int i = 0; i < 40; ++i) {
        run.publish(random, random() % (random() % 10 == 0 ? 60'000 : 2'000));
        if (random() % 4 == 0) {
            const std::uint64_t position = random() % (run.published.samples.size() + 1);
            readers.push_back(
                std::make_unique<Checker>(run.sources(), run.published, SampleReader::Start{run.epoch_ms, position}));
            readers.back()->record_start(position);
            if (logged == Logged::without_c) {
                readers.back()->leave_out(run.ids[2]);
            }
        }
        for (const auto& reader : readers) {
            for (std::uint64_t reads = random() % 20; reads > 0; --reads) {
                static_cast<void>(reader->read());
            }
        }
    }
    for (const auto& reader : readers) {
        CHECK(reader->read_to_end([&] { run.durable->flush(); }) == Result::end);
        reader->check_all();
        CHECK((reader->misplaced() == 0 || run.durable->status().lost > 0));
    }
}

TEST_CASE("nothing is missing between log and history", "[gateway][durable]") {
    std::mt19937 random(1);
    const ScratchDir scratch;
    Run run(scratch.path("log"), 1'000, 100, no_limit);
    for (int i = 0; i < 50; ++i) {
        run.publish(random, 500);
        Checker reader(run.sources(), run.published, {run.epoch_ms});
        CHECK(reader.read_to_end() == Result::end);
        reader.check_all();
        CHECK(reader.missing() == 0);
    }
}

TEST_CASE("samples of a device that is not logged are in the history alone, and not missing in the log",
          "[gateway][durable]") {
    std::mt19937 random(2);
    const ScratchDir scratch;
    Run run(scratch.path("log"), 1'000, 100, no_limit, Logged::without_c);
    std::uint64_t returned = 0;
    for (int i = 0; i < 50; ++i) {
        run.publish(random, 500);
        const std::uint64_t position = random() % (run.published.samples.size() + 1);
        Checker reader(run.sources(), run.published, {run.epoch_ms, position});
        reader.record_start(position);
        reader.leave_out(run.ids[2]);
        CHECK(reader.read_to_end() == Result::end);
        reader.check_all();
        CHECK(reader.missing() == 0);
        CHECK(reader.misplaced() == 0);
        CHECK(reader.last_left_out() < std::max<std::uint64_t>(run.history.oldest(), 1));
        CHECK((reader.left_out() > 0 || position + 1'000 > run.published.samples.size()));
        returned += reader.returned();
    }
    CHECK(returned > 10'000);
    CHECK(run.durable->status().lost == 0);
    CHECK(run.durable->ledger().taken == 25'000);
}

TEST_CASE("a channel that is not logged is read from the history, and what that no longer has is missing",
          "[gateway][durable]") {
    std::mt19937 random(3);
    const ScratchDir scratch;
    Run run(scratch.path("log"), 1'000, 100, no_limit, Logged::without_c);
    run.publish(random, 5'000);
    ChannelChecker reader(run.sources(), "other/c");
    while (reader.step()) {
    }
    CHECK(reader.last_seq() == last_published(run, run.ids[2]));
    CHECK(reader.samples() > 0);
    CHECK(reader.missing(store::GapReason::unknown) > 0);
    CHECK(reader.missing(store::GapReason::log_slow) == 0);
}

TEST_CASE("one channel is read once and in order from log and history, while both move on", "[gateway][durable]") {
    const unsigned seed = GENERATE(range(0U, rounds(6U)));
    CAPTURE(seed);
    std::mt19937 random(seed + 100);
    const ScratchDir scratch;
    const std::uint64_t bytes_max = random() % 2 == 0 ? no_limit : 300'000;  // segments are removed during a read
    Run run(scratch.path("log"), 1'000, 64 + random() % 2'000, bytes_max);
    std::vector<std::pair<std::unique_ptr<ChannelChecker>, std::uint64_t>> readers;
    for (int i = 0; i < 30; ++i) {
        run.publish(random, random() % (random() % 10 == 0 ? 60'000 : 2'000));
        if (random() % 3 == 0) {
            readers.emplace_back(std::make_unique<ChannelChecker>(run.sources(), "device/b"),
                                 last_published(run, run.ids[1]));
        }
        for (const auto& [reader, last_seq] : readers) {
            for (std::uint64_t steps = random() % 3; steps > 0; --steps) {
                static_cast<void>(reader->step());
            }
        }
    }
    for (const auto& [reader, last_seq] : readers) {
        while (reader->step()) {
        }
        CHECK(reader->last_seq() >= last_seq);
        CHECK(reader->missing(store::GapReason::unknown) == 0);
        if (bytes_max == no_limit) {
            CHECK(reader->missing(store::GapReason::retention) == 0);
        }
    }
}

TEST_CASE("a channel that is damaged or was removed in the log is named", "[gateway][durable]") {
    std::mt19937 random(4);
    const ScratchDir scratch;
    Run run(scratch.path("log"), 1'000, 100, 300'000);
    for (int i = 1; i <= 3; ++i) {
        run.publish(random, 30'000);
        REQUIRE(eventually([&] { return run.durable->written() >= static_cast<std::uint64_t>(i) * 30'000; }));
    }
    const auto segments = store::list_segments(store::real_file_system(), scratch.path("log"));
    const std::string path = scratch.path("log") + "/" + segments.at(segments.size() / 2).name;
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (std::uintmax_t at = std::filesystem::file_size(path) / 4; at < std::filesystem::file_size(path) / 2;
         at += 512) {
        file.seekp(static_cast<std::ptrdiff_t>(at));
        file << "damaged";
    }
    file.close();
    ChannelChecker reader(run.sources(), "device/b");
    while (reader.step()) {
    }
    CHECK(reader.last_seq() == last_published(run, run.ids[1]));
    CHECK(reader.missing(store::GapReason::retention) > 0);
    CHECK(reader.missing(store::GapReason::damaged) > 0);
    CHECK(reader.samples() > 1'000);
}

using Places = std::vector<std::shared_ptr<LogHistory::Place>>;

Places all_places(LogHistory& log) {
    Places places;
    for (std::size_t i = 0; i < LogHistory::places_max; ++i) {
        places.push_back(request_place(log, "a").get());
        CHECK(places.back() != nullptr);
    }
    return places;
}

TEST_CASE("a limited number of readers of single channels waits until a place is free", "[gateway][durable]") {
    const ScratchDir scratch;
    Run run(scratch.path("log"), 1'000, 100, no_limit);
    LogHistory& log = *run.log_history;
    Places places = all_places(log);
    std::vector<std::future<std::shared_ptr<LogHistory::Place>>> waiting;
    for (std::size_t i = 0; i < LogHistory::client_waiting_max; ++i) {
        waiting.push_back(request_place(log, "a"));
    }
    CHECK(request_place(log, "a").get() == nullptr);
    CHECK(log.counts().refused == 1);
    places.pop_back();
    CHECK(waiting[0].get() != nullptr);
    for (std::size_t i = 2; i < waiting.size(); ++i) {
        CHECK(waiting[i].get() == nullptr);  // after wait_max
    }
    CHECK(log.counts().refused >= 3);
}

TEST_CASE("the client with the most waiting readers makes way when too many wait", "[gateway][durable]") {
    const ScratchDir scratch;
    Run run(scratch.path("log"), 1'000, 100, no_limit);
    LogHistory& log = *run.log_history;
    Places places = all_places(log);
    for (const char* const client : {"b", "c", "d", "e", "f", "g", "h"}) {
        places.push_back(request_place(log, client).get());
        CHECK(places.back() != nullptr);
    }
    std::vector<std::future<std::shared_ptr<LogHistory::Place>>> waiting;
    for (const char* const client : {"b", "c", "d", "e"}) {
        for (std::size_t i = 0; i < LogHistory::client_waiting_max; ++i) {
            waiting.push_back(request_place(log, client));
        }
    }
    REQUIRE(waiting.size() == LogHistory::waiting_max);
    auto other = request_place(log, "i");
    const auto is_refused = [](auto& each) {
        return each.wait_for(std::chrono::seconds(0)) == std::future_status::ready && each.get() == nullptr;
    };
    CHECK(std::any_of(waiting.begin(), waiting.end(), is_refused));
    places.pop_back();
    CHECK(other.get() != nullptr);
}

TEST_CASE("a client with all readers makes way for another, and its longest reader for a new one of its own",
          "[gateway][durable]") {
    const ScratchDir scratch;
    Run run(scratch.path("log"), 1'000, 100, no_limit);
    LogHistory& log = *run.log_history;
    const Places places = all_places(log);
    CHECK(places[3]->take_step());
    const auto other = request_place(log, "b").get();
    REQUIRE(other != nullptr);
    CHECK_FALSE(places[3]->take_step());
    CHECK(request_place(log, "a").get() == nullptr);  // after wait_max
    for (std::size_t step = 0; step < LogHistory::steps_min; ++step) {
        CHECK(places[5]->take_step());
    }
    CHECK(request_place(log, "a").get() != nullptr);
    CHECK_FALSE(places[5]->take_step());
    CHECK(other->take_step());
}

TEST_CASE("a crowd of readers that make way does not keep another client from the next place", "[gateway][durable]") {
    const ScratchDir scratch;
    Run run(scratch.path("log"), 1'000, 100, no_limit);
    LogHistory& log = *run.log_history;
    Places ending = all_places(log);
    Places places;
    for (const auto& each : ending) {
        for (std::size_t step = 0; step < LogHistory::steps_min; ++step) {
            CHECK(each->take_step());
        }
        places.push_back(request_place(log, "a").get());
        REQUIRE(places.back() != nullptr);
    }
    auto more = request_place(log, "a");
    auto other = request_place(log, "b");
    ending.pop_back();
    CHECK(other.get() != nullptr);
}

TEST_CASE("the samples of earlier epochs are read from the log", "[gateway][durable]") {
    std::mt19937 random(2);
    const ScratchDir scratch;
    Run first(scratch.path("log"), 1'000, 100, no_limit);
    first.publish(random, 20'000);
    first.stop();
    Run second(scratch.path("log"), 2'000, 100, no_limit);
    second.publish(random, 5'000);
    Checker reader(second.sources(), first.published, {1'000});
    CHECK(reader.read_to_end() == Result::ended);
    reader.check_all();
    CHECK(reader.missing() == 0);
    Checker unknown(second.sources(), first.published, {1'500});
    CHECK(unknown.read_to_end() == Result::unknown_epoch);
}

TEST_CASE("samples that retention removed, or that are damaged, are named", "[gateway][durable]") {
    std::mt19937 random(3);
    const ScratchDir scratch;
    Run run(scratch.path("log"), 1'000, 100, 300'000);
    run.publish(random, 30'000);
    REQUIRE(eventually([&] { return run.durable->written() == 30'000; }));
    run.publish(random, 30'000);
    REQUIRE(eventually([&] { return run.durable->written() == 60'000; }));
    run.publish(random, 20'000);
    REQUIRE(eventually([&] { return run.durable->status().log.segments_removed > 0; }));
    Checker reader(run.sources(), run.published, {run.epoch_ms});
    CHECK(reader.read_to_end() == Result::end);
    reader.check_all();
    CHECK(reader.missing() > 0);
    CHECK(reader.returned() > 20'000);

    const auto segments = store::list_segments(store::real_file_system(), scratch.path("log"));
    const std::string path = scratch.path("log") + "/" + segments.at(segments.size() / 2).name;
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::ptrdiff_t>(std::filesystem::file_size(path) / 2));
    file << "damaged";
    file.close();
    Checker again(run.sources(), run.published, {run.epoch_ms});
    CHECK(again.read_to_end() == Result::end);
    again.check_all();
    CHECK(again.missing() > reader.missing());
}

}  // namespace telegate::test
