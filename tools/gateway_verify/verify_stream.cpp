#include "verify_stream.hpp"

#include "gateway_log/verification_report.hpp"
#include "gateway_tail/time_words.hpp"
#include "stream_verification.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace telegate::verify_tool {
namespace {

using StreamJson = nlohmann::ordered_json;
using log_tool::VerificationTotals;

/// The last number of a channel.
struct LastSeq {
    std::int64_t epoch_ms = 0;
    std::string topic;
    std::uint64_t seq = 0;
};

std::vector<LastSeq> last_seqs(const std::string& directory, const log_tool::Surroundings& surroundings) {
    store::LogReader reader = log_tool::open_log(directory, surroundings);
    std::vector<LastSeq> found;
    log_tool::Verification verification([&](const log_tool::EpochLedger& epoch) {
        for (const auto& [topic, channel] : epoch.channels) {
            found.push_back({epoch.epoch_ms, topic, channel.last_seq()});
        }
    });
    store::LogBatch batch;
    while (reader.next(batch)) {
        verification.add(batch);
    }
    verification.finish();
    return found;
}

struct MessageCounts {
    std::uint64_t all = 0;
    std::uint64_t others = 0;  // not from an uplink
    std::uint64_t unreadable = 0;
    std::uint64_t first_unreadable = 0;  // 0: none
};

log_tool::Conclusion conclusion_of(const VerificationTotals& totals, std::uint64_t unreadable) {
    log_tool::Conclusion found("stream");
    found.add_unexplained(totals.unknown(), tail::counted(totals.unknown(), "sample") + " missing for no known reason");
    found.add_unexplained(unreadable, tail::counted(unreadable, "unreadable message"));
    return found;
}

StreamJson report_json(const StreamVerification& verification, const MessageCounts& messages) {
    StreamJson epochs = StreamJson::array();
    for (const auto& [epoch_ms, epoch] : verification.epochs()) {
        epochs.push_back({{"epoch_ms", epoch_ms}, {"channels", channels_json(epoch)}});
    }
    const VerificationTotals totals = verification.totals();
    StreamJson report = {{"epochs", std::move(epochs)},
                         {"messages", messages.all},
                         {"other_messages", messages.others},
                         {"unreadable_messages", messages.unreadable}};
    log_tool::add_counts(report, totals);
    report["complete"] = conclusion_of(totals, messages.unreadable).is_complete();
    return report;
}

void append_report(const StreamVerification& verification, const MessageCounts& messages, std::string& out) {
    for (const auto& [epoch_ms, epoch] : verification.epochs()) {
        append_epoch(out, epoch, "");
    }
    const VerificationTotals totals = verification.totals();
    append_reasons(out, totals);
    if (messages.others > 0) {
        out += tail::counted(messages.others, "message") + " not from an uplink\n";
    }
    if (messages.first_unreadable > 0) {
        out += "first unreadable message: " + std::to_string(messages.first_unreadable) + '\n';
    }
    if (totals.duplicates > 0 || totals.inversions > 0) {
        out += tail::counted(totals.duplicates, "duplicate") + ", " + tail::counted(totals.inversions, "sample") +
               " out of order\n";
    }
    out += conclusion_of(totals, messages.unreadable).text(totals) + '\n';
}

}  // namespace

int verify_stream(const VerifyOptions& options, const ReadStream& read, const log_tool::Surroundings& surroundings) {
    std::vector<LastSeq> expected;
    if (!options.expected_log.empty()) {
        expected = last_seqs(options.expected_log, surroundings);
    }
    StreamVerification verification(options.channels);
    MessageCounts messages;
    read([&](const StreamMessage& message) {
        ++messages.all;
        if (!message.is_from_uplink) {
            ++messages.others;
            return;
        }
        if (!verification.add(message) && messages.unreadable++ == 0) {
            messages.first_unreadable = message.number;
        }
    });
    for (const LastSeq& last : expected) {
        verification.expect(last.epoch_ms, last.topic, last.seq);
    }
    std::string out;
    if (options.json) {
        out = log_tool::to_text(report_json(verification, messages)) + '\n';
    } else {
        append_report(verification, messages, out);
    }
    log_tool::write_to(surroundings.out)(out);
    return conclusion_of(verification.totals(), messages.unreadable).is_complete() ? log_tool::exit_code::ok
                                                                                   : log_tool::exit_code::not_ok;
}

}  // namespace telegate::verify_tool
