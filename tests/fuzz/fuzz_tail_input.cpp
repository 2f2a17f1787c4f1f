// Needs: tools/gateway_tail/json_scan.cpp tools/gateway_tail/live_reader.cpp tools/gateway_tail/parse_any.cpp
// Needs: tools/gateway_tail/*_payload.cpp tools/gateway_tail/requests.cpp tools/gateway_tail/sample_text.cpp
// Needs: tools/gateway_tail/seq_line.cpp tools/gateway_tail/service_messages.cpp tools/gateway_tail/merger.cpp
// Needs: tools/gateway_tail/time_words.cpp gateway/src/encode/*_notices.cpp gateway/src/encode/notice_encoder.cpp
// Needs: gateway/src/encode/time_text.cpp
// Needs: gateway/src/base/json_excerpt.cpp gateway/src/base/json_object.cpp
// Needs: nlohmann_json::nlohmann_json

#include "gateway_tail/live_reader.hpp"
#include "gateway_tail/merger.hpp"
#include "gateway_tail/parse_any.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace telegate::tail;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

/// Checks that the output is in order and has no duplicates.
class Witness final : public MergerOutput {
  public:
    void write(const Sample& sample) override { record(sample.topic, sample.epoch, sample.seq, sample.seq); }
    void lose(const Gap& gap) override { record(gap.topic, gap.epoch, gap.first_seq, gap.last_seq); }
    void end_unknown(std::int64_t /*epoch*/) override {}

  private:
    void record(std::string_view topic, std::int64_t epoch, std::uint64_t first, std::uint64_t last) {
        require(first >= 1 && first <= last && last <= seq_max);
        std::uint64_t& before = last_[{std::string(topic), epoch}];
        require(first > before);
        before = last;
    }

    std::map<std::pair<std::string, std::int64_t>, std::uint64_t> last_;
};

void require_sane(const Sample& sample) {
    require(sample.seq >= 1 && sample.seq <= seq_max);
}

/// Passes a reply to the merger's request, after a sample that shows a gap; the reply has the expected id.
void answer(Merger& merger, Answer& answer, Time now) {
    Sample sample;
    sample.topic = "host/cpu.user";
    sample.epoch = answer.epoch;
    sample.seq = 100;
    merger.live(sample);
    for (int turn = 0; turn < 3; ++turn) {
        const auto request = merger.turn(now);
        if (!request) {
            return;
        }
        answer.id = request->id;
        merger.answer(answer, now);
    }
}

}  // namespace

/// The first byte selects the meaning of the others: a sample, a `$gap`, a `$beat`, or the reply of a service.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const void* const bytes = data + 1;
    const std::string_view input(static_cast<const char*>(bytes), size - 1);
    Witness witness;
    Merger merger({}, witness);
    const Time now = Time() + std::chrono::hours(1);
    merger.live_up(now);
    merger.services_up();
    if (data[0] < 3) {
        constexpr std::string_view topics[] = {"host/cpu.user", "host/cpu.user$gap", "host/cpu.user$beat"};
        LiveReader reader(merger);
        reader.read(topics[data[0]], input);
        reader.read(topics[data[0]], input);
    } else {
        Answer read;
        std::string what;
        if (parse_answer(input, read, what)) {
            for (const Sample& sample : read.samples) {
                require_sane(sample);
            }
            answer(merger, read, now);
        } else {
            require(!what.empty());
        }
    }
    merger.finish();
    return 0;
}
