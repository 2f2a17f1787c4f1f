#include "commands.hpp"
#include "gateway_tail/sample_text.hpp"
#include "segment_files.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace telegate::log_tool {
namespace {

/// Widths of the columns. Numbers are right-aligned.
struct Column {
    std::string_view title;
    std::size_t width;
    bool is_number;
};
constexpr std::array<Column, 9> list_columns = {{{"SEGMENT", 24, false},
                                                 {"FIRST", 12, true},
                                                 {"END", 12, true},
                                                 {"EPOCH", 14, true},
                                                 {"OLDEST SAMPLE", 24, false},
                                                 {"NEWEST SAMPLE", 24, false},
                                                 {"SAMPLES", 10, true},
                                                 {"BYTES", 10, true},
                                                 {"STATE", 0, false}}};

using Cells = std::array<std::string, list_columns.size()>;

void append_row(std::string& out, const Cells& cells) {
    for (std::size_t i = 0; i < list_columns.size(); ++i) {
        const std::size_t padding = list_columns[i].width - std::min(list_columns[i].width, cells[i].size());
        out += i == 0 ? "" : "  ";
        out.append(list_columns[i].is_number ? padding : 0, ' ').append(cells[i]);
        out.append(list_columns[i].is_number ? 0 : padding, ' ');
    }
    out += '\n';
}

Cells cells_of(const SegmentFile& file) {
    Cells cells;
    cells.fill("-");
    cells[0].clear();
    tail::append_printable(cells[0], file.name);
    cells[7] = std::to_string(file.bytes);
    cells[8] = to_string(file.state);
    if (file.reader == nullptr) {
        return cells;
    }
    const store::SegmentFooter& index = file.reader->index();
    cells[1] = std::to_string(file.reader->head().first_position);
    cells[2] = std::to_string(index.end_position);
    cells[3] = std::to_string(file.reader->head().epoch_ms);
    cells[6] = std::to_string(index.samples());
    if (index.samples() > 0) {
        const auto [oldest_ns, newest_ns] = index.utc_range_ns();
        cells[4] = time_text(oldest_ns, short_decimals);
        cells[5] = time_text(newest_ns, short_decimals);
    }
    return cells;
}

std::string json_of(const SegmentFile& file) {
    nlohmann::ordered_json json = {{"name", file.name}, {"bytes", file.bytes}, {"state", to_string(file.state)}};
    if (file.reader != nullptr) {
        const store::SegmentFooter& index = file.reader->index();
        json["first_position"] = file.reader->head().first_position;
        json["end_position"] = index.end_position;
        json["epoch_ms"] = file.reader->head().epoch_ms;
        json["samples"] = index.samples();
        if (index.samples() > 0) {
            json["oldest_sample"] = time_text(index.utc_range_ns().first, all_decimals);
            json["newest_sample"] = time_text(index.utc_range_ns().second, all_decimals);
        }
    }
    return json.dump() + '\n';
}

}  // namespace

int list(const LogOptions& options, const Surroundings& surroundings) {
    check_directory(options.directory, surroundings);
    OutputBuffer out(write_to(surroundings.out));
    if (!options.json) {
        Cells titles;
        for (std::size_t i = 0; i < list_columns.size(); ++i) {
            titles[i] = list_columns[i].title;
        }
        append_row(out.text(), titles);
    }
    for_segment_files(surroundings.files, options.directory, [&](SegmentFile& file) {
        if (options.json) {
            out.text() += json_of(file);
        } else {
            append_row(out.text(), cells_of(file));
        }
        out.added();
    });
    out.flush();
    return exit_code::ok;
}

}  // namespace telegate::log_tool
