#include "exec/json_reader.hpp"

#include <string>
#include <utility>

namespace telegate::exec {

JsonReader::JsonReader(MetricRules rules, LineLimits limits)
    : rules_(std::move(rules)), assembler_(limits.line_bytes_max), sink_(limits.channels_max) {}

void JsonReader::open(SampleBatch& batch) {
    lines_refused_.channel = batch.add_channel("lines.refused", "1");
    fields_refused_.channel = batch.add_channel("fields.refused", "1");
    sink_.reserve("lines.refused");
    sink_.reserve("fields.refused");
}

std::size_t JsonReader::feed(std::string_view bytes, SampleBatch& batch) {
    std::size_t good = 0;
    while (const auto line = assembler_.next(bytes)) {
        good += parse_line(*line, batch);
    }
    if (assembler_.overlong() != overlong_seen_) {
        overlong_seen_ = assembler_.overlong();
        batch.refused("line longer than " + std::to_string(assembler_.bytes_max()) + " bytes");
    }
    return good;
}

std::size_t JsonReader::finish(SampleBatch& batch) {
    const auto line = assembler_.finish();
    return line ? parse_line(*line, batch) : 0;
}

std::size_t JsonReader::parse_line(std::string_view line, SampleBatch& batch) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) {
        return 0;
    }
    const ClockPair both = read_both(batch.clock());
    const metrics::Arrival now{both.utc_ns, both.mono_ns};
    if (intake_.add_line(line, {batch, sink_, rules_, now})) {
        return 1;
    }
    ++refused_;
    return 0;
}

void JsonReader::report_counts(SampleBatch& batch, bool all) {
    lines_refused_.report(batch, refused(), all);
    fields_refused_.report(batch, static_cast<std::uint64_t>(sink_.left_out()), all);
}

}  // namespace telegate::exec
