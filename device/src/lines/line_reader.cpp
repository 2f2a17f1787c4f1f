#include "lines/line_reader.hpp"

#include <type_traits>
#include <variant>

namespace telegate {
namespace {

metrics::SeriesName series_of(const LineField& field) noexcept {
    return {field.name, field.name, field.name.size() <= metrics::MetricName::bytes_max};
}

}  // namespace

LineReader::LineReader(const LineFormat& format, LineLimits limits)
    : parser_(make_line_parser(format)), assembler_(limits.line_bytes_max, parser_.get()), sink_(limits.channels_max) {}

void LineReader::open(SampleBatch& batch) {
    lines_refused_.channel = batch.add_channel("lines.refused", "1");
    sink_.reserve("lines.refused");
    sink_.reserve("fields.refused");
}

std::optional<std::vector<std::string>> LineReader::later_channels() const {
    auto names = parser_->field_names();
    if (names) {
        names->emplace_back("fields.refused");
    }
    return names;
}

std::size_t LineReader::feed(std::string_view bytes, SampleBatch& batch) {
    const std::uint64_t before = good_;
    while (const auto line = assembler_.next(bytes)) {
        parse_line(*line, batch);
    }
    see_overlong(batch);
    return static_cast<std::size_t>(good_ - before);
}

std::size_t LineReader::finish(SampleBatch& batch) {
    const std::uint64_t before = good_;
    if (const auto line = assembler_.finish()) {
        parse_line(*line, batch);
    }
    see_overlong(batch);
    return static_cast<std::size_t>(good_ - before);
}

void LineReader::parse_line(std::string_view line, SampleBatch& batch) {
    const LineResult result = parser_->parse(line, fields_);
    switch (result.status) {
        case LineResult::Status::ignored: ++ignored_; return;
        case LineResult::Status::refused:
            ++refused_;
            why_ = result.why;
            batch.refused(why_, line);
            return;
        case LineResult::Status::ok: break;
    }
    ++good_;
    for (const LineField& field : fields_) {
        if (sink_.is_new(series_of(field))) {
            for (const LineField& each : fields_) {
                sink_.announce(series_of(each));
            }
        }
        add_sample(field, batch);
    }
}

void LineReader::add_sample(const LineField& field, SampleBatch& batch) {
    const metrics::Metric* const metric = sink_.find_or_add(batch, series_of(field), field.unit);
    if (metric == nullptr) {
        why_ = "no channel for field \"";
        why_ += field.name.substr(0, name_bytes_shown);
        why_ += "\": the limit of " + std::to_string(sink_.size()) + " names is reached";
        return batch.refused(why_);
    }
    std::visit(
        [&](const auto& value) {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::monostate>) {
                batch.add_absent(metric->channel);
            } else if constexpr (std::is_same_v<Value, RoundedNumber>) {
                batch.add(metric->channel, value.real, Quality::uncertain);
            } else {
                batch.add(metric->channel, value);
            }
        },
        field.value);
}

void LineReader::see_overlong(SampleBatch& batch) {
    if (assembler_.overlong() != overlong_seen_) {
        overlong_seen_ = assembler_.overlong();
        why_ = "longer than " + std::to_string(assembler_.bytes_max()) + " bytes";
        batch.refused("line is " + why_);
    }
}

void LineReader::report_counts(SampleBatch& batch, bool all) {
    lines_refused_.report(batch, refused(), all);
    if (sink_.left_out() > 0) {
        if (fields_refused_.reported < 0) {
            fields_refused_.channel = batch.add_channel("fields.refused", "1");
        }
        fields_refused_.report(batch, static_cast<std::uint64_t>(sink_.left_out()), all);
    }
}

}  // namespace telegate
