#include "verification_report.hpp"

#include "gateway_tail/sample_text.hpp"
#include "gateway_tail/time_words.hpp"
#include "time_range.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <utility>

namespace telegate::log_tool {
namespace {

using ReportJson = nlohmann::ordered_json;

/// Calls `each(name, samples)` for each reason with missing samples.
template <class Each>
void for_reasons(const LedgerCounts& counts, const Each& each) {
    for (std::size_t i = 0; i < reasons; ++i) {
        if (counts.missing_by_reason[i] > 0) {
            each(std::string(to_string(static_cast<store::GapReason>(i))), counts.missing_by_reason[i]);
        }
    }
}

void append_channel(std::string& out, const std::string& topic, const ChannelLedger& channel) {
    constexpr std::size_t shown_ranges_max = 20;
    const auto add_line = [&](const std::string& line) {
        tail::append_printable(out += "  ", topic);
        out += ": " + line + '\n';
    };
    std::size_t shown = 0;
    for (const auto& [first_seq, range] : channel.missing()) {
        if (++shown > shown_ranges_max) {
            break;
        }
        add_line("missing " + tail::range_text(first_seq, range.last_seq) + " (" +
                 std::string(to_string(range.reason)) + ")");
    }
    const std::uint64_t ranges = channel.missing().size() + channel.ranges_not_kept();
    if (ranges > shown_ranges_max) {
        add_line("and " + tail::counted(ranges - shown_ranges_max, "more range") + "; --json lists them");
    }
    const LedgerCounts& counts = channel.counts();
    if (counts.duplicates > 0) {
        add_line(tail::counted(counts.duplicates, "duplicate"));
    }
    if (counts.overlaps > 0) {
        add_line(tail::counted(counts.overlaps, "gap") + " with known numbers");
    }
    if (counts.inversions > 0) {
        add_line(tail::grouped(counts.inversions) + " out of order");
    }
}

}  // namespace

std::string to_text(const ReportJson& json) {
    return json.dump(-1, ' ', false, ReportJson::error_handler_t::replace);
}

ReportJson channels_json(const EpochLedger& epoch) {
    ReportJson channels = ReportJson::array();
    for (const auto& [topic, channel] : epoch.channels) {
        ReportJson missing = ReportJson::array();
        for (const auto& [first_seq, range] : channel.missing()) {
            missing.push_back(
                {{"first_seq", first_seq}, {"last_seq", range.last_seq}, {"reason", to_string(range.reason)}});
        }
        channels.push_back({{"topic", topic},
                            {"last_seq", channel.last_seq()},
                            {"samples", channel.counts().samples},
                            {"missing", std::move(missing)},
                            {"ranges_not_listed", channel.ranges_not_kept()},
                            {"duplicates", channel.counts().duplicates},
                            {"overlaps", channel.counts().overlaps},
                            {"inversions", channel.counts().inversions}});
    }
    return channels;
}

void add_counts(ReportJson& report, const LedgerCounts& counts) {
    ReportJson by_reason = ReportJson::object();
    for_reasons(counts, [&](const std::string& reason, std::uint64_t count) { by_reason[reason] = count; });
    report.update({{"samples", counts.samples},
                   {"gaps", counts.gaps},
                   {"missing", counts.missing()},
                   {"missing_by_reason", std::move(by_reason)},
                   {"duplicates", counts.duplicates},
                   {"overlaps", counts.overlaps},
                   {"inversions", counts.inversions}});
}

void append_epoch(std::string& out, const EpochLedger& epoch, std::string_view end) {
    const LedgerCounts counts = epoch.counts();
    out += "epoch " + std::to_string(epoch.epoch_ms) + " (" +
           time_text(epoch_start_ns(epoch.epoch_ms), short_decimals) + "): " + tail::counted(counts.samples, "sample") +
           " of " + tail::counted(epoch.channels.size(), "channel") + ", " + tail::grouped(counts.missing()) +
           " missing";
    out.append(end).append("\n");
    for (const auto& [topic, channel] : epoch.channels) {
        append_channel(out, topic, channel);
    }
}

void append_reasons(std::string& out, const LedgerCounts& counts) {
    std::string by_reason;
    for_reasons(counts, [&](const std::string& reason, std::uint64_t count) {
        by_reason += (by_reason.empty() ? "missing samples by reason: " : ", ") + reason + ' ' + tail::grouped(count);
    });
    out += by_reason + (by_reason.empty() ? "" : "\n");
}

void Conclusion::add_unexplained(std::uint64_t count, const std::string& text) {
    if (count > 0) {
        unexplained_.append(unexplained_.empty() ? what_ + " incomplete: " : ", ").append(text);
    }
}

std::string Conclusion::text(const VerificationTotals& totals) const {
    return is_complete()
               ? what_ + " complete: " + tail::counted(totals.samples, "sample") + " and " +
                     tail::counted(totals.gaps, "explained gap") + " in " + tail::counted(totals.epochs, "epoch")
               : unexplained_;
}

}  // namespace telegate::log_tool
