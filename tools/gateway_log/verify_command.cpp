#include "commands.hpp"
#include "gateway_tail/sample_text.hpp"
#include "gateway_tail/time_words.hpp"
#include "segment_files.hpp"
#include "verification.hpp"
#include "verification_report.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

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
    std::vector<Damage> unfinished;  // being written, or left by a crash

    void add(const SegmentFile& file) {
        if (file.reader == nullptr) {
            files.push_back({file.name, {0, file.bytes}});
            return;
        }
        for (const store::DamagedRange& range : find_damage(file)) {
            (range.is_torn ? unfinished : ranges).push_back({file.name, range});
        }
    }
};

Conclusion conclusion(const VerificationTotals& totals) {
    Conclusion found("log");
    found.add_unexplained(totals.unknown(), tail::counted(totals.unknown(), "sample") + " missing for no known reason");
    found.add_unexplained(totals.duplicates, tail::counted(totals.duplicates, "duplicate"));
    found.add_unexplained(totals.overlaps, tail::counted(totals.overlaps, "gap") + " with known numbers");
    found.add_unexplained(totals.inversions, tail::counted(totals.inversions, "sample") + " out of order");
    found.add_unexplained(totals.undefined,
                          tail::grouped(totals.undefined) + " samples or gaps of channels without a name");
    return found;
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
    Json json = {{"damaged_ranges", list(findings.ranges)},
                 {"damaged_files", list(findings.files)},
                 {"unfinished", list(findings.unfinished)}};
    add_counts(json, totals);
    json["undefined"] = totals.undefined;
    json["unnamed"] = totals.unnamed;
    json["complete"] = conclusion(totals).is_complete();
    return json;
}

void append_totals(std::string& out, const FileFindings& findings, const VerificationTotals& totals) {
    append_reasons(out, totals);
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
    if (totals.unnamed > 0) {
        out +=
            "samples omitted because the names of their channels are damaged: " + tail::grouped(totals.unnamed) + '\n';
    }
    out += conclusion(totals).text(totals) + '\n';
}

}  // namespace

int verify(const LogOptions& options, const Surroundings& surroundings) {
    store::LogReader reader = open_log(options.directory, surroundings);
    OutputBuffer out(write_to(surroundings.out));
    const char* separator = R"({"epochs":[)";
    Verification verification([&](const EpochLedger& epoch) {
        if (options.json) {
            out.text() += std::exchange(separator, ",\n") + to_text({{"epoch_ms", epoch.epoch_ms},
                                                                     {"stopped", epoch.is_ended},
                                                                     {"channels", channels_json(epoch)}});
        } else {
            append_epoch(out.text(), epoch,
                         epoch.is_ended  ? ", stopped cleanly"
                         : epoch.is_last ? ", running, or not stopped cleanly"
                                         : ", not stopped cleanly");
        }
        out.added();
    });
    store::LogBatch batch;
    while (reader.next(batch)) {
        verification.add(batch);
    }
    verification.finish();
    FileFindings findings;
    for_segment_files(surroundings.files, options.directory, [&](const SegmentFile& file) { findings.add(file); });
    const VerificationTotals& totals = verification.totals();
    if (options.json) {
        out.text() +=
            (totals.epochs == 0 ? separator : "") + ("],\n" + to_text(totals_json(findings, totals)).substr(1)) + '\n';
    } else {
        append_totals(out.text(), findings, totals);
    }
    out.flush();
    return conclusion(totals).is_complete() ? exit_code::ok : exit_code::not_ok;
}

}  // namespace telegate::log_tool
