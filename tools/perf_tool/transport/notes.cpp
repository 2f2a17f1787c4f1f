#include "../statistics.hpp"
#include "standing.hpp"
#include "tables.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

/// What a publisher's cost with more subscribers is compared with.
constexpr std::size_t few_receivers = 8;

[[nodiscard]] bool is_of_one_topic(const Cell& cell, std::size_t receivers) {
    return cell.work.topics == 1 && cell.work.receivers == receivers;
}

/// "1.12x (1.05x to 1.20x)", run by run; empty when there is nothing to compare.
[[nodiscard]] std::string comparison(const Series* many, const Series* few) {
    if (many == nullptr || few == nullptr || many->publisher_cpu_ns.empty() || few->publisher_cpu_ns.empty()) {
        return {};
    }
    const std::size_t runs = std::min(many->publisher_cpu_ns.size(), few->publisher_cpu_ns.size());
    std::vector<double> values;
    for (std::size_t run = 0; run < runs; ++run) {
        values.push_back(many->publisher_cpu_ns[run] / few->publisher_cpu_ns[run]);
    }
    const Spread spread = spread_of(std::move(values));
    return times(spread.median) + " (" + times(spread.min) + " to " + times(spread.max) + ")";
}

/// What each of Telegate's series costs its publisher with more subscribers than few.
void add_findings(std::vector<std::string>& findings, const Group& group, const Cell& few, const Cell& many) {
    const std::vector<Standing> before = standings_in(few, false);
    const std::vector<Standing> after = standings_in(many, false);
    for (std::size_t index = 0; index < std::min(before.size(), after.size()); ++index) {
        const std::string ratio = comparison(after[index].telegate, before[index].telegate);
        if (!ratio.empty()) {
            const std::string& variant = after[index].telegate->variant;
            std::string finding(group.name);
            finding += variant.empty() ? "" : ", " + variant;
            finding += ": with " + std::to_string(many.work.receivers) + " subscribers, the publisher's CPU time for " +
                       "each message delivered is " + ratio + " of that with " + std::to_string(few.work.receivers) +
                       '.';
            findings.push_back(std::move(finding));
        }
    }
}

/// Which variants of which engines have had shorter runs somewhere; empty for none.
[[nodiscard]] std::string shortened_in(const Matrix& matrix) {
    std::set<std::string> names;
    for (const Cell& cell : matrix.cells) {
        for (const Series& series : cell.series) {
            if (series.is_cut) {
                names.insert(series.engine + " (" + series.variant + ")");
            }
        }
    }
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

}  // namespace

std::vector<std::string> findings_in(const Matrix& matrix) {
    std::vector<std::string> findings;
    for (const Group& group : groups_of(matrix)) {
        const auto few =
            std::ranges::find_if(group.cells, [](const Cell* cell) { return is_of_one_topic(*cell, few_receivers); });
        for (const Cell* const many : group.cells) {
            if (few != group.cells.end() && many->work.receivers > few_receivers && many->work.topics == 1) {
                add_findings(findings, group, **few, *many);
            }
        }
    }
    return findings;
}

std::vector<std::string> notes_on(const Matrix& matrix) {
    std::vector<std::string> notes = findings_in(matrix);
    const bool is_time = matrix.lower_is_better;
    notes.push_back("Values are " + matrix.unit + (is_time ? "; less" : "; more") +
                    " is better. Medians, least and greatest are those of the runs.");
    notes.emplace_back(is_time ? "ratio: libzmq over Telegate, run by run, the median; above 1, Telegate is ahead."
                               : "ratio: Telegate over libzmq, run by run, the median; above 1, Telegate is ahead.");
    if (is_sealed(matrix)) {
        notes.emplace_back("GB/s: the payload alone, in 10^9 bytes, of the median.");
    } else if (is_time) {
        notes.emplace_back("raw: the plain connection, the floor; times: Telegate over it, run by run, the median.");
    } else {
        notes.emplace_back(
            "raw: the plain connection, the ceiling; share: how much of it Telegate reaches, run by run, the median.");
    }
    notes.push_back(std::string("CPU ns: of all threads, system calls included, for each ") +
                    (is_time ? "round trip" : "message") + "; the median of the runs.");
    if (is_fan_out(matrix)) {
        notes.emplace_back(
            "publisher: of the sending thread and its io threads: all but the threads that receive. Those of libzmq "
            "that read for the subscribers count as well.");
    }
    if (const std::string names = shortened_in(matrix); !names.empty()) {
        notes.push_back("Shorter runs, of fewer messages, since no more may pile up in memory: " + names + '.');
    }
    return notes;
}

}  // namespace telegate::perf
