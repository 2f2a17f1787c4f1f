#include "rest/channel_answer.hpp"

#include "encode/time_text.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

/// Encodes samples of a run whose channel table is gone.
struct EarlierText {
    ChannelTable channels;
    SampleText text;

    EarlierText(std::int64_t epoch_ms, const Tags& tags) : text(channels, epoch_ms, tags) {}
};

template <class Number>
void append_number(std::string& out, Number number) {
    std::array<char, 32> digits;
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

std::int64_t to_ms(std::int64_t ns) noexcept {
    constexpr std::int64_t ns_per_ms = 1'000'000;
    return ns / ns_per_ms - (ns % ns_per_ms < 0 ? 1 : 0);
}

/// Appends `,"name":[...]` with one value per interval.
template <class Get>
void append_values(std::string& out, std::string_view name, const store::IntervalTable::Intervals& intervals,
                   const Get& get) {
    out.append(",\"").append(name).append("\":[");
    for (const auto& [start_ns, interval] : intervals) {
        out += out.back() == '[' ? "" : ",";
        append_number(out, get(start_ns, interval));
    }
    out += ']';
}

/// Like append_values(), but null for intervals without numbers.
void append_numbers(std::string& out, std::string_view name, const store::IntervalTable::Intervals& intervals,
                    double store::Interval::*number) {
    out.append(",\"").append(name).append("\":[");
    for (const auto& [start_ns, interval] : intervals) {
        out += out.back() == '[' ? "" : ",";
        if (interval.numbers > 0 && std::isfinite(interval.*number)) {
            append_number(out, interval.*number);
        } else {
            out += "null";
        }
    }
    out += ']';
}

}  // namespace

bool SampleListAnswer::take(const ChannelPart& part) {
    unit_ = part.unit;
    std::size_t gap = 0;
    for (std::size_t i = 0; i <= part.samples.size(); ++i) {
        for (; gap < part.gaps.size() && part.gaps[gap].before_sample <= i; ++gap) {
            if (!add(part.epoch_ms, part.gaps[gap].gap)) {
                return false;
            }
        }
        if (i < part.samples.size() && !add(part.epoch_ms, part.samples[i])) {
            return false;
        }
    }
    return true;
}

bool SampleListAnswer::add(std::int64_t epoch_ms, const TelemetrySample& sample) {
    if (samples_.size() == wanted_.limit) {
        has_more_ = true;
        if (!wanted_.is_newest) {
            return false;
        }
        samples_.pop_front();
        const Sample& first = samples_.empty() ? Sample{epoch_ms, sample} : samples_.front();
        while (!gaps_.empty() &&
               (gaps_.front().epoch_ms < first.epoch_ms ||
                (gaps_.front().epoch_ms == first.epoch_ms && gaps_.front().gap.first_seq < first.sample.seq))) {
            gaps_.pop_front();
        }
    }
    samples_.push_back({epoch_ms, sample});
    note_end(epoch_ms, sample.seq);
    return true;
}

bool SampleListAnswer::add(std::int64_t epoch_ms, const store::LogGap& gap) {
    if (gaps_.size() == wanted_.limit) {
        has_more_ = true;
        if (!wanted_.is_newest) {
            return false;
        }
        gaps_.pop_front();
    }
    gaps_.push_back({epoch_ms, gap});
    note_end(epoch_ms, gap.last_seq);
    return true;
}

void SampleListAnswer::note_end(std::int64_t epoch_ms, std::uint64_t seq) noexcept {
    end_epoch_ms_ = epoch_ms;
    end_seq_ = seq;
}

bool SampleListAnswer::is_complete(std::uint64_t last_seq) const noexcept {
    if (!gaps_.empty()) {
        return false;
    }
    if (wanted_.is_newest) {
        return samples_.size() == wanted_.limit;
    }
    const std::uint64_t since_seq = wanted_.since_seq.value_or(0);
    return samples_.empty() ? last_seq > 0 && last_seq <= since_seq : samples_.front().sample.seq == since_seq + 1;
}

/// Returns `"samples":[...]` with samples in the wire format.
std::string SampleListAnswer::samples_text(const std::string& topic) const {
    std::string out = "\"samples\":[";
    std::unique_ptr<EarlierText> earlier;
    std::optional<ChannelId> channel;
    for (const Sample& each : samples_) {
        out += out.back() == '[' ? "" : ",";
        if (each.epoch_ms == text_.epoch_ms()) {
            text_.append(out, each.sample);
            continue;
        }
        if (earlier == nullptr || earlier->text.epoch_ms() != each.epoch_ms) {
            earlier = std::make_unique<EarlierText>(each.epoch_ms, tags_);
            const std::size_t slash = topic.find('/');
            channel = earlier->channels.add({}, topic.substr(0, slash), topic.substr(slash + 1), unit_);
        }
        TelemetrySample sample = each.sample;
        sample.channel = channel.value();
        earlier->text.append(out, sample);
    }
    return out + ']';
}

std::string SampleListAnswer::body(const std::string& topic) {
    Json gap = nullptr;
    if (wanted_.since_seq && !samples_.empty() && samples_.front().sample.seq > *wanted_.since_seq + 1 &&
        samples_.front().epoch_ms == wanted_.epoch_ms.value_or(text_.epoch_ms())) {
        gap = {{"first_seq", *wanted_.since_seq + 1}, {"last_seq", samples_.front().sample.seq - 1}};
    }
    Json gaps = Json::array();
    for (const Gap& each : gaps_) {
        gaps.push_back({{"epoch", each.epoch_ms},
                        {"first_seq", each.gap.first_seq},
                        {"last_seq", each.gap.last_seq},
                        {"reason", to_string(each.gap.reason)}});
    }
    const bool has_more = has_more_ && !wanted_.is_newest;
    const Json head{{"topic", topic},
                    {"unit", unit_},
                    {"epoch", text_.epoch_ms()},
                    {"gap", std::move(gap)},
                    {"gaps", std::move(gaps)},
                    {"more", has_more},
                    {"next", has_more ? Json{{"epoch", end_epoch_ms_}, {"since_seq", end_seq_}} : Json(nullptr)}};
    std::string body = head.dump(-1, ' ', false, Json::error_handler_t::replace);
    body.back() = ',';
    return body + samples_text(topic) + "}\n";
}

bool IntervalAnswer::take(const ChannelPart& part) {
    unit_ = part.unit;
    return table_.add(part.samples, part.gaps);
}

std::string IntervalAnswer::body(const std::string& topic) {
    using store::Interval;
    const Json head{{"topic", topic},
                    {"unit", unit_},
                    {"since", to_iso8601(wanted_.since_ns)},
                    {"until", to_iso8601(wanted_.until_ns)},
                    {"interval_ms", wanted_.interval.count()}};
    std::string body = head.dump(-1, ' ', false, Json::error_handler_t::replace);
    body.pop_back();
    const auto& intervals = table_.intervals();
    append_values(body, "time_ms", intervals, [](std::int64_t start_ns, const Interval&) { return to_ms(start_ns); });
    const std::array numbers{std::tuple{"min", wanted_.columns.min, &Interval::min},
                             std::tuple{"max", wanted_.columns.max, &Interval::max},
                             std::tuple{"mean", wanted_.columns.mean, &Interval::mean}};
    for (const auto& [name, is_wanted, number] : numbers) {
        if (is_wanted) {
            append_numbers(body, name, intervals, number);
        }
    }
    if (wanted_.columns.count) {
        append_values(body, "count", intervals, [](std::int64_t, const Interval& each) { return each.count; });
    }
    if (wanted_.columns.first_time) {
        append_values(body, "first_time_ms", intervals,
                      [](std::int64_t, const Interval& each) { return to_ms(each.first_ns); });
    }
    if (wanted_.columns.last_time) {
        append_values(body, "last_time_ms", intervals,
                      [](std::int64_t, const Interval& each) { return to_ms(each.last_ns); });
    }
    append_values(body, "missing", intervals, [](std::int64_t, const Interval& each) { return each.missing; });
    append_values(body, "not_good", intervals, [](std::int64_t, const Interval& each) { return each.not_good; });
    return body + "}\n";
}

}  // namespace telegate
