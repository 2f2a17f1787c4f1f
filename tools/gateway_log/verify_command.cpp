#include "commands.hpp"
#include "gateway_tail/sample_text.hpp"
#include "gateway_tail/time_words.hpp"
#include "segment_files.hpp"
#include "verification.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace telegate::log_tool {
namespace {

using Json = nlohmann::ordered_json;

/// A part of a file, or a whole file, that cannot be read.
struct Damage {
    std::string name;
    store::DamagedRange range;
};

/// Damage that a verification found.
struct FileFindings {
    std::vector<Damage> ranges;
    std::vector<Damage> files;
    std::vector<Damage> unfinished;  // at the end of the last segment

    void add(const SegmentFile& file, const std::vector<store::DamagedRange>& damaged) {
        if (file.reader == nullptr) {
            files.push_back({file.name, {0, file.bytes}});
            return;
        }
        for (const store::DamagedRange& range : damaged) {
            ranges.push_back({file.name, range});
        }
        const std::uint64_t end = file.reader->end_offset();
        if (file.state == SegmentState::open && file.bytes > end) {
            unfinished.push_back({file.name, {end, file.bytes - end}});
        }
    }
};

/// Calls `each(name, count)` for each reason with missing samples.
template <class Each>
void for_reasons(const std::array<std::uint64_t, reasons>& missing, const Each& each) {
    for (std::size_t i = 0; i < reasons; ++i) {
        if (missing[i] > 0) {
            each(std::string(to_string(static_cast<store::GapReason>(i))), missing[i]);
        }
    }
}

std::string to_text(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json epoch_json(const EpochLedger& epoch) {
    Json channels = Json::array();
    for (const auto& [topic, channel] : epoch.channels) {
        Json missing = Json::array();
        for (const ChannelLedger::Missing& range : channel.missing()) {
            missing.push_back(
                {{"first_seq", range.first_seq}, {"last_seq", range.last_seq}, {"reason", to_string(range.reason)}});
        }
        channels.push_back({{"topic", topic},
                            {"last_seq", channel.last_seq()},
                            {"samples", channel.samples()},
                            {"missing", std::move(missing)},
                            {"ranges_not_listed", channel.ranges_not_kept()},
                            {"duplicates", channel.duplicates()},
                            {"inversions", channel.inversions()}});
    }
    return {{"epoch_ms", epoch.epoch_ms}, {"stopped", epoch.is_ended}, {"channels", std::move(channels)}};
}

/// Returns the members after "epochs".
Json totals_json(const FileFindings& findings, const VerificationTotals& totals) {
    const auto list = [](const std::vector<Damage>& damages) {
        Json all = Json::array();
        for (const Damage& each : damages) {
            all.push_back({{"file", each.name}, {"offset", each.range.offset}, {"bytes", each.range.bytes}});
        }
        return all;
    };
    Json by_reason = Json::object();
    for_reasons(totals.missing_by_reason,
                [&](const std::string& reason, std::uint64_t count) { by_reason[reason] = count; });
    return {{"damaged_ranges", list(findings.ranges)},
            {"damaged_files", list(findings.files)},
            {"unfinished", list(findings.unfinished)},
            {"samples", totals.samples},
            {"gaps", totals.gaps},
            {"missing", totals.missing()},
            {"missing_by_reason", std::move(by_reason)},
            {"duplicates", totals.duplicates},
            {"inversions", totals.inversions},
            {"undefined", totals.undefined},
            {"complete", totals.is_explained()}};
}

void append_channel(std::string& out, const std::string& topic, const ChannelLedger& channel) {
    constexpr std::size_t shown_ranges_max = 20;
    const auto add_line = [&](const std::string& line) {
        tail::append_printable(out += "  ", topic);
        out += ": " + line + '\n';
    };
    for (std::size_t i = 0; i < std::min(channel.missing().size(), shown_ranges_max); ++i) {
        const ChannelLedger::Missing& range = channel.missing()[i];
        add_line("missing " + range_text(range.first_seq, range.last_seq) + " (" +
                 std::string(to_string(range.reason)) + ")");
    }
    const std::uint64_t ranges = channel.missing().size() + channel.ranges_not_kept();
    if (ranges > shown_ranges_max) {
        add_line("and " + tail::counted(ranges - shown_ranges_max, "more range") + "; --json lists them");
    }
    if (channel.duplicates() > 0) {
        add_line(tail::counted(channel.duplicates(), "duplicate"));
    }
    if (channel.inversions() > 0) {
        add_line(tail::grouped(channel.inversions()) + " out of order");
    }
}

void append_epoch(std::string& out, const EpochLedger& epoch) {
    std::uint64_t samples = 0;
    std::uint64_t missing = 0;
    for (const auto& [topic, channel] : epoch.channels) {
        samples += channel.samples();
        missing += channel.missing_samples();
    }
    out += "epoch " + std::to_string(epoch.epoch_ms) + " (" +
           time_text(epoch_start_ns(epoch.epoch_ms), short_decimals) + "): " + tail::counted(samples, "sample") +
           " of " + tail::counted(epoch.channels.size(), "channel") + ", " + tail::grouped(missing) + " missing, " +
           (epoch.is_ended  ? "stopped cleanly\n"
            : epoch.is_last ? "running, or not stopped cleanly\n"
                            : "not stopped cleanly\n");
    for (const auto& [topic, channel] : epoch.channels) {
        append_channel(out, topic, channel);
    }
}

/// Returns the sentence that ends the report.
std::string conclusion(const VerificationTotals& totals) {
    if (totals.is_explained()) {
        return "log complete: " + tail::counted(totals.samples, "sample") + " and " +
               tail::counted(totals.gaps, "explained gap") + " in " + tail::counted(totals.epochs, "epoch");
    }
    std::string text;
    const auto add = [&](std::uint64_t count, const std::string& what) {
        if (count > 0) {
            text.append(text.empty() ? "log incomplete: " : ", ").append(what);
        }
    };
    add(totals.unknown(), tail::counted(totals.unknown(), "sample") + " missing for no known reason");
    add(totals.duplicates, tail::counted(totals.duplicates, "duplicate"));
    add(totals.inversions, tail::counted(totals.inversions, "sample") + " out of order");
    add(totals.undefined, tail::grouped(totals.undefined) + " samples or gaps of channels without a name");
    return text;
}

void append_totals(std::string& out, const FileFindings& findings, const VerificationTotals& totals) {
    std::string by_reason;
    for_reasons(totals.missing_by_reason, [&](const std::string& reason, std::uint64_t count) {
        by_reason += (by_reason.empty() ? "missing samples by reason: " : ", ") + reason + ' ' + tail::grouped(count);
    });
    out += by_reason + (by_reason.empty() ? "" : "\n");
    const auto add = [&](const char* what, const std::vector<Damage>& list) {
        for (const Damage& each : list) {
            tail::append_printable(out += what, each.name);
            out += ": " + tail::counted(each.range.bytes, "byte") + " from offset " +
                   std::to_string(each.range.offset) + '\n';
        }
    };
    add("damaged part of ", findings.ranges);
    add("damaged file ", findings.files);
    add("incomplete record, being written or left by a crash, in ", findings.unfinished);
    out += conclusion(totals) + '\n';
}

}  // namespace

int verify(const LogOptions& options, const Surroundings& surroundings) {
    OutputBuffer out(write_to(surroundings.out));
    const char* separator = R"({"epochs":[)";
    Verification verification([&](const EpochLedger& epoch) {
        if (options.json) {
            out.text() += std::exchange(separator, ",\n") + to_text(epoch_json(epoch));
        } else {
            append_epoch(out.text(), epoch);
        }
        out.added();
    });
    store::LogReader reader(surroundings.files, options.directory);
    store::LogBatch batch;
    while (reader.next(batch)) {
        verification.add(batch);
    }
    verification.finish();
    FileFindings findings;
    for_segment_files(surroundings.files, options.directory,
                      [&](const SegmentFile& file) { findings.add(file, find_damage(surroundings.files, file)); });
    const VerificationTotals& totals = verification.totals();
    if (options.json) {
        out.text() +=
            (totals.epochs == 0 ? separator : "") + ("],\n" + to_text(totals_json(findings, totals)).substr(1)) + '\n';
    } else {
        append_totals(out.text(), findings, totals);
    }
    out.flush();
    return totals.is_explained() ? exit_code::ok : exit_code::not_ok;
}

}  // namespace telegate::log_tool
