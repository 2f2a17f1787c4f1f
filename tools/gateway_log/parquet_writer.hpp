#pragma once

#include "commands.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::log_tool {

/// Writes a Parquet file with a flat schema: PLAIN encoding, pages of page_rows, compressed with zstd or not at all.
/// It never seeks, so the output may be a pipe.
///
/// Threads: one.
/// Limits:  memory for one row group: row_group_rows, or about row_group_bytes of pages, whichever is less.
/// Failure: throws exceptions of `write`, and std::bad_alloc.
class ParquetWriter {
  public:
    static constexpr std::size_t page_rows = 65'536;
    static constexpr std::size_t row_group_rows = 16 * page_rows;
    static constexpr std::size_t row_group_bytes = 67'108'864;

    enum class Kind : std::uint8_t { int32, int64, utc_ns, real, text };
    struct Column {
        std::string name;
        Kind kind{};
        bool is_optional = false;
    };

    ParquetWriter(Write write, std::vector<Column> columns, bool is_compressed);
    ~ParquetWriter();
    ParquetWriter(const ParquetWriter&) = delete;
    ParquetWriter& operator=(const ParquetWriter&) = delete;

    // A row is one value for each column, in any order, and then end_row(). Columns that are not optional must have
    // one.
    void add(std::size_t column, std::int64_t value);
    void add(std::size_t column, double value);
    void add(std::size_t column, std::string_view value);
    void end_row();

    /// Writes the rest and the footer. Nothing may follow.
    void finish();

  private:
    struct Chunk;  // of one column in the current row group

    void end_page(std::size_t column);
    void end_row_group();
    void append_chunk(std::size_t column, std::string& out) const;
    void write(std::string_view bytes);
    [[nodiscard]] std::string footer() const;

    const Write write_;
    const std::vector<Column> columns_;
    const bool is_compressed_;
    std::vector<Chunk> chunks_;
    std::string row_groups_;  // their descriptions for the footer
    std::size_t row_group_count_ = 0;
    std::size_t page_rows_ = 0;
    std::size_t group_rows_ = 0;
    std::int64_t rows_ = 0;
    std::int64_t position_ = 0;
};

}  // namespace telegate::log_tool
