#include "state/previous_runs_state.hpp"

#include "support/catch.hpp"

#include <string>
#include <tuple>
#include <variant>
#include <vector>

using namespace telegate;

namespace {

std::string epochs_fault(const std::string& text) {
    const auto result = read_past_epochs(text);
    REQUIRE(std::holds_alternative<std::string>(result));
    return std::get<std::string>(result);
}

}  // namespace

TEST_CASE("a state file is read as it was written", "[gateway][services]") {
    const std::vector<PastEpoch> epochs{{1, true, {{"a/b", 5}, {"c/d", 9'007'199'254'740'992}}, 0}, {2, false, {}}};
    const auto read = std::get<std::vector<PastEpoch>>(read_past_epochs(past_epochs_text(epochs)));
    REQUIRE(read.size() == 2);
    CHECK(read[0].epoch_ms == 1);
    CHECK(read[0].has_ended);
    CHECK(read[0].last_seqs == epochs[0].last_seqs);
    CHECK(read[0].published == 0);
    CHECK_FALSE(read[1].has_ended);
    CHECK_FALSE(read[1].published.has_value());
}

TEST_CASE("the ledger of an epoch is read as it was written", "[gateway][services]") {
    const EpochLedger ledger{77, {.sampled = 21, .published = 1, .filtered = 2, .queued = 3, .dropped = {4, 11}}};
    const std::vector<PastEpoch> epochs{{.epoch_ms = 1, .ledger = ledger}, {.epoch_ms = 2}};
    const auto read = std::get<std::vector<PastEpoch>>(read_past_epochs(past_epochs_text(epochs)));
    REQUIRE(read.size() == 2);
    const EpochLedger& found = read[0].ledger.value();
    CHECK(found.time_utc_ms == 77);
    CHECK((found.counts.sampled == 21 && found.counts.published == 1 && found.counts.filtered == 2));
    CHECK((found.counts.queued == 3 && found.counts.dropped == ledger.counts.dropped));
    CHECK_FALSE(read[1].ledger);
}

TEST_CASE("the last eight epochs are written, or fewer if they have too many channels", "[gateway][services]") {
    std::vector<PastEpoch> epochs;
    for (std::int64_t epoch = 1; epoch <= 10; ++epoch) {
        epochs.push_back({epoch, true, {{"a/b", 1}}});
    }
    CHECK(std::get<std::vector<PastEpoch>>(read_past_epochs(past_epochs_text(epochs))).size() == past_epochs_max);
    for (std::size_t i = 0; i < past_channels_max; ++i) {
        epochs[8].last_seqs.emplace("device/" + std::to_string(i), i);
    }
    const auto read = std::get<std::vector<PastEpoch>>(read_past_epochs(past_epochs_text(epochs)));
    CHECK(read.size() == 1);
    CHECK(read.back().epoch_ms == 10);
}

TEST_CASE("a fault of a state file is reported with its position", "[gateway][services]") {
    const auto [text, wanted] = GENERATE(table<std::string, std::string>({
        {"", "line 1: is not JSON"},
        {"{\n\n\"version\":1,]", "line 3: is not JSON"},
        {"[[[[[[1]]]]]]", "is nested too deeply: must be at most 4 levels"},
        {"[]", "is not an object with version 1 and epochs"},
        {R"({"version":2,"epochs":[]})", "is not an object with version 1 and epochs"},
        {R"({"version":1,"epochs":[1]})", "/epochs/0 is not an object with epoch, ended and channels"},
        {R"({"version":1,"epochs":[{"epoch":1,"ended":true,"channels":{"a":1}}]})",
         "/epochs/0/channels/a is not a topic with a whole number"},
        {R"({"version":1,"epochs":[{"epoch":1,"ended":true,"channels":{"a/b":-1}}]})",
         "/epochs/0/channels/a/b is not a topic with a whole number"},
        {R"({"version":1,"epochs":[{"epoch":1,"ended":true,"published":-1,"channels":{}}]})",
         "/epochs/0/published is not a whole number"},
        {R"({"version":1,"epochs":[{"epoch":1,"ended":true,"channels":{},"ledger":{}}]})",
         "/epochs/0/ledger is not an object with a time"},
        {R"({"version":1,"epochs":[{"epoch":1,"ended":true,"channels":{},"ledger":{"time":1,"sampled":-1}}]})",
         "/epochs/0/ledger/sampled is not a whole number"},
        {R"({"version":1,"epochs":[{"epoch":253402300800000,"ended":true,"channels":{}}]})",
         "/epochs/0 is not an object with epoch, ended and channels"},
        {R"({"version":1,"epochs":[{"epoch":2,"ended":true,"channels":{}},{"epoch":1,"ended":true,"channels":{}}]})",
         "/epochs/1/epoch is not later than the one before"},
    }));
    CHECK(epochs_fault(text) == wanted);
}
